// An owner's yes or no, from whatever surface of the gateway. The row decides, in one transaction; the run is woken after
// the commit, and by the sweep where that fails.
import type { Logger } from '../config/logger.js';
import type { TenantConfiguration } from '../config/configuration.js';
import type { ContentCipher } from '../prisma/content.js';
import type { Database } from '../prisma/database.js';
import { decide } from '../prisma/stores/approvals.js';
import {
  refProblem,
  type ApprovalDecision,
  type ApprovalState,
  type ApprovalSurface,
} from '../workflows/domain/approval.js';
import type { Conversations } from './conversations.js';
import { isWellFormed } from './message-text.js';

export interface DecisionRequest {
  tenantId: string;
  key: { ref: string } | { approvalId: string };
  decision: ApprovalDecision;
  reason?: string | undefined;
  approver: { surface: ApprovalSurface; id: string };
}

export type DecisionResult =
  | { outcome: 'decided'; approvalId: string; state: ApprovalState }
  | { outcome: 'already_decided'; approvalId: string; state: ApprovalState }
  | { outcome: 'expired'; approvalId: string }
  | { outcome: 'unknown' }
  | { outcome: 'refused'; why: 'surface' | 'ref' | 'reason'; message: string };

export interface Decisions {
  decideApproval(request: DecisionRequest): Promise<DecisionResult>;
}

/** A customer reads the reason in a chat: longer ones belong elsewhere. */
export const MAX_REASON_LENGTH = 500;

export function createDecisions(deps: {
  database: Database;
  content: ContentCipher;
  conversations: Conversations;
  surfaces: TenantConfiguration['policy']['surfaces'];
  logger: Logger;
}): Decisions {
  const { database, content, conversations, surfaces, logger } = deps;
  return {
    async decideApproval({ reason, ...request }) {
      const given = reason?.trim();
      const problem = requestProblem(request.key, given);
      if (problem) return { outcome: 'refused', ...problem };
      if (!surfaces.includes(request.approver.surface)) {
        const message = `Policy doesn’t let approvals be decided here (${request.approver.surface}).`;
        return { outcome: 'refused', why: 'surface', message };
      }
      const { tenantId } = request;
      const result = await database.inTenant(tenantId, (tx) =>
        decide(tx, content, { ...request, ...(given ? { reason: given } : {}) }),
      );
      const { outcome, approvalId, turnId, state } = result;
      logger.event('approval.decided', {
        tenantId,
        approvalId,
        turnId,
        outcome,
        decision: request.decision,
        surface: request.approver.surface,
      });
      if (outcome === 'unknown' || !approvalId || !turnId) return { outcome: 'unknown' };
      if (outcome === 'expired') return { outcome, approvalId };
      // Not waited for: the owner's answer must not depend on Temporal.
      if (outcome === 'decided') void conversations.wakeRun({ turnId, approvalId });
      return { outcome, approvalId, state: state ?? 'approved' };
    },
  };
}

function requestProblem(
  key: DecisionRequest['key'],
  reason: string | undefined,
): { why: 'ref' | 'reason'; message: string } | undefined {
  const ref = 'ref' in key ? refProblem(key.ref) : undefined;
  if (ref) return { why: 'ref', message: `The REF: ${ref}.` };
  if (reason === undefined) return undefined;
  if (reason.length > MAX_REASON_LENGTH) {
    return {
      why: 'reason',
      message: `The reason has ${reason.length} characters; ${MAX_REASON_LENGTH} are the most.`,
    };
  }
  if (reason.includes('\0') || !isWellFormed(reason)) {
    return { why: 'reason', message: 'The reason holds a character that can’t be stored.' };
  }
  return undefined;
}

/** What became of the request, in one sentence for whoever decided. */
export function inWords(result: DecisionResult, ref: string): string {
  switch (result.outcome) {
    case 'decided':
      return result.state === 'approved'
        ? `${ref} is approved.`
        : `${ref} is rejected. Nothing will be done.`;
    case 'already_decided':
      return `${ref} was decided before: it is ${WORD_OF_STATE[result.state]}. Your answer changed nothing.`;
    case 'expired':
      return `${ref} has expired. Nothing will be done, and the customer is told.`;
    case 'unknown':
      return `There is no request ${ref}.`;
    case 'refused':
      return result.message;
  }
}

const WORD_OF_STATE: Record<ApprovalState, string> = {
  open: 'open',
  approved: 'approved',
  rejected: 'rejected',
  expired: 'expired',
  used: 'approved and carried out',
};
