import { z } from 'zod';
import { APPROVAL_SURFACES } from '../../workflows/domain/approval.js';
import { ACTORS, CHAT_KINDS, EFFECTS, GATES, RISKS } from '../../workflows/domain/tool.js';
import { checkedBy, key, toolName } from './values.js';

const approvalMinutes = z.int().min(1).max(10_080);

const rule = z
  .strictObject({
    name: key,
    when: z
      .strictObject({
        effects: z.array(z.enum(EFFECTS)).min(1).optional(),
        risks: z.array(z.enum(RISKS)).min(1).optional(),
        actors: z.array(z.enum(ACTORS)).min(1).optional(),
        tools: z.array(toolName).min(1).optional(),
        chatKinds: z.array(z.enum(CHAT_KINDS)).min(1).optional(),
        tainted: z.boolean().optional(),
      })
      .default({}),
    then: z.enum(GATES),
    expiresAfterMinutes: approvalMinutes.optional(),
  })
  .check(
    checkedBy((value) =>
      value.expiresAfterMinutes !== undefined && value.then !== 'approve' && value.then !== 'confirm'
        ? { wrong: `a rule that says "${value.then}" has nothing to expire`, right: 'no expiresAfterMinutes' }
        : undefined,
    ),
  );

export const policy = z.strictObject({
  rules: z.array(rule).min(1).max(200),
  surfaces: z.array(z.enum(APPROVAL_SURFACES)),
  approvalMinutes,
  confirmMinutes: approvalMinutes,
});
