import { z } from 'zod';
import { APPROVAL_SURFACES, ON_EXPIRY } from '../../workflows/domain/approval.js';
import { ACTORS, CHANNELS, CHAT_KINDS, EFFECTS, GATES, RISKS } from '../../workflows/domain/tool.js';
import { WEEKDAYS } from '../calendar.js';
import { checkedBy, key, textOfForm, toolName } from './values.js';

const approvalMinutes = z.int().min(1).max(10_080);

const argument = z
  .strictObject({
    path: textOfForm(/^\w+(\.\w+){0,7}$/, 'the name of an argument, or a path such as order.total'),
    above: z.number().optional(),
    below: z.number().optional(),
    equals: z.union([z.string().max(300), z.number(), z.boolean()]).optional(),
    present: z.boolean().optional(),
  })
  .check(
    checkedBy(({ path, ...comparisons }) =>
      Object.values(comparisons).every((value) => value === undefined)
        ? {
            wrong: `nothing is asked about the argument "${path}"`,
            right: 'above, below, equals or present',
          }
        : undefined,
    ),
  );

const beginning = textOfForm(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time as "18:00", in quotes');
const end = textOfForm(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'a time as "18:00", in quotes, or "24:00"');

const time = z
  .strictObject({
    weekdays: z.array(z.enum(WEEKDAYS)).min(1).optional(),
    from: beginning.optional(),
    to: end.optional(),
  })
  .check(
    checkedBy(({ weekdays, from, to }) => {
      if ((from === undefined) !== (to === undefined)) {
        return { wrong: 'has only one end', right: 'both from and to, or neither' };
      }
      return weekdays === undefined && from === undefined
        ? { wrong: 'says no time', right: 'weekdays, from and to, or all three' }
        : undefined;
    }),
  );

const conditions = z
  .strictObject({
    effects: z.array(z.enum(EFFECTS)).min(1).optional(),
    risks: z.array(z.enum(RISKS)).min(1).optional(),
    actors: z.array(z.enum(ACTORS)).min(1).optional(),
    roles: z.array(key).min(1).optional(),
    channels: z.array(z.enum(CHANNELS)).min(1).optional(),
    chatKinds: z.array(z.enum(CHAT_KINDS)).min(1).optional(),
    tools: z.array(toolName).min(1).optional(),
    tainted: z.boolean().optional(),
    arguments: z.array(argument).min(1).max(20).optional(),
    times: z.array(time).min(1).max(50).optional(),
  })
  .default({});

const rule = z
  .strictObject({
    name: key,
    when: conditions,
    then: z.enum(GATES),
    approvers: z.array(key).min(1).max(50).optional(),
    needed: z.int().min(1).max(5).optional(),
    expiresAfterMinutes: approvalMinutes.optional(),
    remindAfterMinutes: approvalMinutes.optional(),
    onExpiry: z.enum(ON_EXPIRY).optional(),
  })
  .check(checkedBy(misplaced));

/** What only some outcomes can have. */
function misplaced(value: {
  then: string;
  approvers?: unknown;
  needed?: unknown;
  expiresAfterMinutes?: unknown;
  remindAfterMinutes?: unknown;
  onExpiry?: unknown;
}): { wrong: string; right: string } | undefined {
  const { then, approvers, needed, expiresAfterMinutes, remindAfterMinutes, onExpiry } = value;
  const given = (members: Record<string, unknown>): string[] =>
    Object.entries(members).flatMap(([name, member]) => (member === undefined ? [] : [name]));
  const ofOwners = given({ approvers, needed });
  if (then !== 'approve' && ofOwners.length > 0) {
    return { wrong: `a rule that says "${then}" asks no owner`, right: `no ${ofOwners.join(' and no ')}` };
  }
  const ofWaiting = given({ expiresAfterMinutes, remindAfterMinutes, onExpiry });
  if (then !== 'approve' && then !== 'confirm' && ofWaiting.length > 0) {
    return {
      wrong: `a rule that says "${then}" has nothing to expire`,
      right: `no ${ofWaiting.join(' and no ')}`,
    };
  }
  return undefined;
}

export const policy = z.strictObject({
  rules: z.array(rule).min(1).max(200),
  surfaces: z.array(z.enum(APPROVAL_SURFACES)),
  approvalMinutes,
  confirmMinutes: approvalMinutes,
});
