// The conditions of a policy rule against one call. Each finding says what was wanted and what was there; `found` may hold
// an argument, so a finding is for a terminal, and only its condition and whether it holds are kept or logged.
import { DateTime } from 'luxon';
import type { Actor, ChatKind, Json, JsonObject, ToolDefinition } from '../workflows/domain/tool.js';
import { WEEKDAYS } from './calendar.js';
import type { ArgumentCondition, PolicyConditions, TimeCondition } from './configuration.js';

/** One call, with all that a rule may ask about. */
export interface PolicyQuestion {
  tool: ToolDefinition;
  /** As they were proposed: what the runtime fills is not among them. */
  arguments: JsonObject;
  actor: Actor;
  roleId: string;
  channel: string;
  chatKind: ChatKind;
  /** Untrusted content was among what the model read (spec G9). */
  isTainted: boolean;
  at: Date;
}

export interface Finding {
  /** The condition's name, such as `effects`, `times` or `arguments.amount.above`. */
  condition: string;
  holds: boolean;
  wanted: string;
  found: string;
}

/** A finding for each condition that the rule states, in one order; none where it matches everything. */
export function findingsOf(when: PolicyConditions, question: PolicyQuestion, timeZone: string): Finding[] {
  const { tool, actor, roleId, channel, chatKind, isTainted, at } = question;
  const local = DateTime.fromJSDate(at, { zone: timeZone });
  return [
    ...oneOf('effects', when.effects, tool.effect),
    ...oneOf('risks', when.risks, tool.risk),
    ...oneOf('actors', when.actors, actor),
    ...oneOf('roles', when.roles, roleId),
    ...oneOf('channels', when.channels, channel),
    ...oneOf('chatKinds', when.chatKinds, chatKind),
    ...oneOf('tools', when.tools, tool.name),
    ...oneOf('tainted', when.tainted === undefined ? undefined : [String(when.tainted)], String(isTainted)),
    ...(when.arguments ?? []).flatMap((condition) => ofArgument(condition, question.arguments)),
    ...(when.times === undefined ? [] : [ofTime(when.times, local)]),
  ];
}

function oneOf(condition: string, wanted: readonly string[] | undefined, found: string): Finding[] {
  if (wanted === undefined) return [];
  return [{ condition, holds: wanted.includes(found), wanted: wanted.join(' or '), found }];
}

function ofArgument(
  { path, above, below, equals, present }: ArgumentCondition,
  values: JsonObject,
): Finding[] {
  const value = valueAt(values, path);
  const found = value === undefined ? 'absent' : JSON.stringify(value);
  const finding = (comparison: string, wanted: Json, holds: boolean): Finding => ({
    condition: `arguments.${path}.${comparison}`,
    holds,
    wanted: `${comparison} ${JSON.stringify(wanted)}`,
    found,
  });
  return [
    ...(above === undefined ? [] : [finding('above', above, value !== undefined && sizeOf(value) > above)]),
    ...(below === undefined ? [] : [finding('below', below, value !== undefined && sizeOf(value) < below)]),
    ...(equals === undefined ? [] : [finding('equals', equals, isEqual(value, equals))]),
    ...(present === undefined ? [] : [finding('present', present, (value !== undefined) === present)]),
  ];
}

/** Own members only: a path leads through what was given, never through a prototype. */
function valueAt(values: JsonObject, path: string): Json | undefined {
  let here: Json | undefined = values;
  for (const name of path.split('.')) {
    if (typeof here !== 'object' || here === null || Array.isArray(here)) return undefined;
    here = Object.hasOwn(here, name) ? here[name] : undefined;
  }
  return here;
}

const PLAIN_NUMBER = /^[+-]?\d{1,15}(\.\d{1,15})?$/;

function numberOf(value: Json): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && PLAIN_NUMBER.test(value) ? Number(value) : undefined;
}

/** "1.000,50", "ten" and lists have no size that could be compared: they count as larger than any limit. */
function sizeOf(value: Json): number {
  return numberOf(value) ?? Number.POSITIVE_INFINITY;
}

function isEqual(value: Json | undefined, wanted: string | number | boolean): boolean {
  if (value === undefined) return false;
  const [one, other] = [numberOf(value), numberOf(wanted)];
  return value === wanted || (one !== undefined && one === other);
}

function ofTime(wanted: readonly TimeCondition[], local: DateTime): Finding {
  return {
    condition: 'times',
    holds: wanted.some((time) => isWithin(time, local)),
    wanted: wanted.map(timeInWords).join(' or '),
    found: local.toFormat('cccc HH:mm', { locale: 'en' }).toLowerCase(),
  };
}

function isWithin({ weekdays, from, to }: TimeCondition, local: DateTime): boolean {
  const isOn = (day: DateTime): boolean => {
    const weekday = WEEKDAYS[day.weekday - 1];
    return weekday !== undefined && (weekdays?.includes(weekday) ?? true);
  };
  if (from === undefined || to === undefined) return isOn(local);
  const now = local.toFormat('HH:mm');
  if (from < to) return isOn(local) && from <= now && now < to;
  return (isOn(local) && from <= now) || (isOn(local.minus({ days: 1 })) && now < to);
}

function timeInWords({ weekdays, from, to }: TimeCondition): string {
  return [weekdays?.join('/'), from === undefined ? undefined : `${from}–${to}`]
    .filter((part) => part !== undefined)
    .join(' ');
}
