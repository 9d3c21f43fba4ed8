// What signals left behind, as a pure reducer. A malformed signal is noted as nothing: a throw in a handler would block
// the run.
import { type ApprovalDecision, refProblem } from '../domain/approval.js';
import type { DecideApproval } from './contract.js';

export interface RunBells {
  /** Approvals that somebody decided through a surface of ours. */
  rung: Set<string>;
  /** Decisions typed into the Temporal UI or CLI, in their order. */
  typed: { ref: string; decision: ApprovalDecision }[];
  /** The chat was given back since the step was last tried. */
  isReleased: boolean;
  /** Notices to owners that are being delivered. */
  underDelivery: number;
}

export function startBells(): RunBells {
  return { rung: new Set(), typed: [], isReleased: false, underDelivery: 0 };
}

export function noteDecision(bells: RunBells, signal: DecideApproval): void {
  if (typeof signal !== 'object' || signal === null) return;
  if ('approvalId' in signal && typeof signal.approvalId === 'string') {
    bells.rung.add(signal.approvalId);
    return;
  }
  if (!('ref' in signal) || refProblem(signal.ref) !== undefined) return;
  if (signal.decision !== 'approve' && signal.decision !== 'reject') return;
  bells.typed.push({ ref: signal.ref, decision: signal.decision });
}

export function noteRelease(bells: RunBells): void {
  bells.isReleased = true;
}

/** What the run waits for on behalf of its step. */
export interface Awaited {
  approvalId: string;
  ref: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  /** Absent: nobody is reminded, or all are already. */
  remindAt?: number;
}

/** What comes first by itself: the reminder, or the end of the waiting. */
export function nextDeadline({ remindAt, expiresAt }: Awaited): { at: number; isReminder: boolean } {
  return remindAt !== undefined && remindAt < expiresAt
    ? { at: remindAt, isReminder: true }
    : { at: expiresAt, isReminder: false };
}
