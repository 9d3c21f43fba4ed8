// Policy as configuration has it after validation: which call needs whose yes. `policy.ts` decides by it.
import type { ApprovalSurface, OnExpiry } from '../workflows/domain/approval.js';
import type { Actor, Channel, ChatKind, Effect, Gate, Risk } from '../workflows/domain/tool.js';
import type { Weekday } from './calendar.js';

/**
 * The first rule that matches decides (`decideByPolicy`). No rule matches: an effect needs approval, anything unknown is
 * denied. An effect that untrusted content may have suggested needs an owner's yes whatever a rule allows, and so does what
 * would need the requester's in a group: anybody could give it there.
 */
export interface Policy {
  rules: PolicyRule[];
  /** Where an owner may decide an approval. */
  surfaces: ApprovalSurface[];
  /** How long an approval waits, unless its rule says otherwise. */
  approvalMinutes: number;
  /** How long the requester's own yes is waited for, unless the rule says otherwise. */
  confirmMinutes: number;
}

export interface PolicyRule {
  /** Unique; kept with every verdict. */
  name: string;
  /** An absent condition matches everything; within a list any value matches, unless it says otherwise. */
  when: PolicyConditions;
  then: Gate;
  /** Only with `approve`: ids of owners, their groups, surfaces such as `cli`. Absent: any owner, on any surface. */
  approvers?: string[] | undefined;
  /** Only with `approve`: how many of them have to say yes. Absent: one. */
  needed?: number | undefined;
  /** Only with `approve` and `confirm`, as the rest. */
  expiresAfterMinutes?: number | undefined;
  /** Absent: after half of the time with `approve`, never with `confirm`. */
  remindAfterMinutes?: number | undefined;
  /** What silence means for the customer. Absent: `refuse`. */
  onExpiry?: OnExpiry | undefined;
}

export interface PolicyConditions {
  effects?: Effect[] | undefined;
  risks?: Risk[] | undefined;
  actors?: Actor[] | undefined;
  /** The role that the turn was decided for. */
  roles?: string[] | undefined;
  channels?: Channel[] | undefined;
  chatKinds?: ChatKind[] | undefined;
  tools?: string[] | undefined;
  tainted?: boolean | undefined;
  /** All of them. */
  arguments?: ArgumentCondition[] | undefined;
  times?: TimeCondition[] | undefined;
}

/**
 * About one argument; everything that is given has to hold. Numbers are compared as numbers, also where they come as text
 * ("12.50"); what is there and is no number counts as larger than any, so that no wording gets below a limit.
 */
export interface ArgumentCondition {
  /** The argument's name; of a member of an object `order.total`. */
  path: string;
  above?: number | undefined;
  below?: number | undefined;
  equals?: string | number | boolean | undefined;
  present?: boolean | undefined;
}

/** Wall-clock time at the business. `to` not after `from`: it ends on the next day, and belongs to the day it begins. */
export interface TimeCondition {
  /** Absent: every day. */
  weekdays?: Weekday[] | undefined;
  /** `HH:MM`, with `to`. Absent: all day. */
  from?: string | undefined;
  to?: string | undefined;
}
