// What signals left behind, as a pure reducer. A malformed signal is noted as nothing: a throw in a handler would block
// the run.
import { type ApprovalDecision, refProblem } from '../domain/approval.js';
import type { DecideApproval } from './contract.js';

export interface ApprovalBells {
  /** Approvals that somebody decided through a surface of ours. */
  rung: Set<string>;
  /** Decisions typed into the Temporal UI or CLI, in their order. */
  typed: { ref: string; decision: ApprovalDecision }[];
}

export function startApprovals(): ApprovalBells {
  return { rung: new Set(), typed: [] };
}

export function noteDecision(bells: ApprovalBells, signal: DecideApproval): void {
  if (typeof signal !== 'object' || signal === null) return;
  if ('approvalId' in signal && typeof signal.approvalId === 'string') {
    bells.rung.add(signal.approvalId);
    return;
  }
  if (!('ref' in signal) || refProblem(signal.ref) !== undefined) return;
  if (signal.decision !== 'approve' && signal.decision !== 'reject') return;
  bells.typed.push({ ref: signal.ref, decision: signal.decision });
}
