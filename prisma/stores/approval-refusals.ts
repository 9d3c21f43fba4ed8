// Decisions that changed nothing are remembered too: who tried what, and how it ended. A code that is nobody's is counted,
// because whoever sends many of them is trying them out.
import type { ApprovalDecision, Approver } from '../../workflows/domain/approval.js';
import { appendAudit } from '../functions.js';
import type { Scope } from './scope.js';

/** A person mistypes once or twice; five wrong codes are no slip of the finger. */
const WRONG_CODES = 5;
export const WRONG_CODES_WITHIN_MINUTES = 10;

export interface Refusal {
  /** The audit stream: the chat that the request is about, or the one in which it was said; `tenant` where there is none. */
  stream: string;
  approvalId?: string | undefined;
  ref?: string | undefined;
  approver: Approver;
  decision: ApprovalDecision | 'edit' | 'show' | 'desk' | 'happened' | 'notHappened';
  /** Why: a word for a program. */
  outcome: string;
}

/** Audits a decision that was refused. */
export async function auditRefusal(scope: Scope, refusal: Refusal): Promise<void> {
  const { stream, approvalId, ref, approver, decision, outcome } = refusal;
  await appendAudit(scope.tx, {
    stream,
    event: 'approval_refused',
    subjectId: approvalId,
    actor: approver.id,
    facts: { surface: approver.surface, decision, outcome, ...(ref !== undefined && { ref }) },
  });
}

/** Audits and counts a code under which nothing is known. The code itself isn't kept: it may be one of tomorrow's. */
export async function noteWrongCode(
  scope: Scope,
  { stream, approver, decision }: Pick<Refusal, 'stream' | 'approver' | 'decision'>,
): Promise<void> {
  await appendAudit(scope.tx, {
    stream,
    event: 'approval_code_refused',
    actor: approver.id,
    facts: { surface: approver.surface, decision },
  });
}

/** Whether so many wrong codes came from this approver lately that no further one is looked up. */
export async function isGuessing(scope: Scope, approver: Approver): Promise<boolean> {
  const since = new Date(Date.now() - WRONG_CODES_WITHIN_MINUTES * 60_000);
  const wrong = await scope.tx.audit.count({
    where: { actor: approver.id, event: 'approval_code_refused', happenedAt: { gt: since } },
  });
  return wrong >= WRONG_CODES;
}
