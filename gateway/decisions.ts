// An owner's yes, no or change, from whatever surface of the gateway. The row decides, in one transaction; the run is woken
// after the commit, and by the sweep where that fails.
import {
  editApproval,
  type Change,
  type EditFinding,
  type EditOutcome,
  type EditProblem,
} from '../activities/approvals/edit.js';
import type { TenantConfiguration } from '../config/configuration.js';
import type { Logger } from '../config/logger.js';
import type { ContentCipher } from '../prisma/content.js';
import type { Database } from '../prisma/database.js';
import { auditRefusal, WRONG_CODES_WITHIN_MINUTES } from '../prisma/stores/approval-refusals.js';
import { decide, type ApprovalKey, type DecisionOutcome } from '../prisma/stores/approvals.js';
import {
  refProblem,
  type ApprovalDecision,
  type ApprovalState,
  type ApprovalSurface,
} from '../workflows/domain/approval.js';
import type { Conversations } from './conversations.js';
import { isWellFormed } from './message-text.js';

interface Request {
  tenantId: string;
  key: ApprovalKey;
  approver: { surface: ApprovalSurface; id: string };
}

export interface DecisionRequest extends Request {
  decision: ApprovalDecision;
  reason?: string | undefined;
}

export interface EditRequest extends Request {
  change: Change;
}

export type Refused =
  | { outcome: 'already_decided'; approvalId: string; state: ApprovalState }
  | { outcome: 'expired' | 'not_asked'; approvalId: string }
  /** This approver has said yes before; so many others still have to. */
  | { outcome: 'already_said'; approvalId: string; missing: number }
  /** Replaced by an edit: `newRef` asks now. */
  | { outcome: 'edited_before'; approvalId: string; newRef: string }
  | { outcome: 'unknown' | 'too_many_codes' }
  | RefusedOutright;

interface RefusedOutright {
  outcome: 'refused';
  why: 'surface' | 'ref' | 'reason';
  message: string;
}

/** As the audit names them. */
const OUTCOME_OF_REFUSAL: Record<RefusedOutright['why'], string> = {
  surface: 'surface_not_allowed',
  ref: 'malformed_code',
  reason: 'malformed_reason',
};

export type DecisionResult =
  | { outcome: 'decided'; approvalId: string; state: ApprovalState }
  /** A yes, and so many others have to say theirs before anything is done. */
  | { outcome: 'counted'; approvalId: string; missing: number }
  | Refused;

export type EditResult =
  | { outcome: 'edited'; approvalId: string; newApprovalId: string; newRef: string }
  /** The change can't be made. `names`: the arguments that can be changed; `findings`: all that the schema objects to. */
  | {
      outcome: 'not_changed';
      approvalId: string;
      problem: EditProblem;
      name?: string;
      names: string[];
      findings: EditFinding[];
    }
  | Refused;

export interface Decisions {
  decideApproval(request: DecisionRequest): Promise<DecisionResult>;
  /** Changes what is asked. Nobody's yes goes over: the changed request, with a REF of its own, needs one as any other. */
  editApproval(request: EditRequest): Promise<EditResult>;
}

/** A customer reads the reason in a chat: longer ones belong elsewhere. */
export const MAX_REASON_LENGTH = 500;

export function createDecisions(deps: {
  database: Database;
  content: ContentCipher;
  conversations: Pick<Conversations, 'wakeRun'>;
  /** Read each time: it may be loaded anew. */
  configuration: () => TenantConfiguration;
  logger: Logger;
}): Decisions {
  const { database, content, conversations, configuration, logger } = deps;

  /** What can be told without looking at any row. */
  function refusalOf({ key, approver }: Request, reason?: string): RefusedOutright | undefined {
    const problem = requestProblem(key, reason);
    if (problem) return { outcome: 'refused', ...problem };
    if (configuration().policy.surfaces.includes(approver.surface)) return undefined;
    const message = `Policy doesn’t let approvals be decided here (${approver.surface}).`;
    return { outcome: 'refused', why: 'surface', message };
  }

  /** The same, and audited. */
  async function refuseOutright(
    request: Request,
    decision: ApprovalDecision | 'edit',
    reason?: string,
  ): Promise<RefusedOutright | undefined> {
    const refusal = refusalOf(request, reason);
    if (!refusal) return undefined;
    const { tenantId, key, approver } = request;
    // What is no code is nothing to keep: it may be anything that was typed.
    const meant = refusal.why === 'ref' ? {} : key;
    const outcome = OUTCOME_OF_REFUSAL[refusal.why];
    await database.inTenant(tenantId, (tx) =>
      auditRefusal({ tx, tenantId, content }, { stream: 'tenant', approver, decision, outcome, ...meant }),
    );
    log(request, decision, { outcome });
    return refusal;
  }

  function log(request: Request, decision: string, result: { outcome: string; approvalId?: string }): void {
    const { tenantId, approver } = request;
    const { outcome, approvalId } = result;
    const facts = { tenantId, approvalId, outcome, decision, surface: approver.surface };
    logger.event('approval.decided', facts);
  }

  return {
    async decideApproval({ reason, ...request }) {
      const given = reason?.trim();
      const refusal = await refuseOutright(request, request.decision, given);
      if (refusal) return refusal;
      const result = await database.inTenant(request.tenantId, (tx) =>
        decide(tx, content, { ...request, ...(given ? { reason: given } : {}) }),
      );
      log(request, request.decision, result);
      const { approvalId, turnId } = result;
      // Not waited for: the owner's answer must not depend on Temporal.
      if (result.outcome === 'decided' && approvalId && turnId) {
        void conversations.wakeRun({ turnId, approvalId });
      }
      return decisionResult(result);
    },

    async editApproval(request) {
      const refusal = await refuseOutright(request, 'edit');
      if (refusal) return refusal;
      const { tenantId, key, approver, change } = request;
      const result = await database.inTenant(tenantId, (tx) =>
        editApproval(
          { tx, tenantId, content },
          { configuration: configuration() },
          { key, approver, change },
        ),
      );
      log(request, 'edit', result);
      if (result.outcome === 'changed') {
        const { turnId, approvalId } = result;
        void conversations.wakeRun({ turnId, approvalId });
      }
      return editResult(result);
    },
  };
}

function decisionResult(result: DecisionOutcome): DecisionResult {
  const { approvalId, state, missing = 0, newRef = '' } = result;
  if (approvalId === undefined) {
    return { outcome: result.outcome === 'too_many_codes' ? 'too_many_codes' : 'unknown' };
  }
  switch (result.outcome) {
    case 'decided':
    case 'already_decided':
      return { outcome: result.outcome, approvalId, state: state ?? 'approved' };
    case 'counted':
    case 'already_said':
      return { outcome: result.outcome, approvalId, missing };
    case 'expired':
    case 'not_asked':
      return { outcome: result.outcome, approvalId };
    case 'edited':
      return { outcome: 'edited_before', approvalId, newRef };
    case 'unknown':
    case 'too_many_codes':
      return { outcome: result.outcome };
  }
}

function editResult(result: EditOutcome): EditResult {
  if (result.outcome === 'changed') {
    const { approvalId, newApprovalId, newRef } = result;
    return { outcome: 'edited', approvalId, newApprovalId, newRef };
  }
  if (result.outcome === 'not_changed') {
    const { approvalId, problem, name, names, findings = [] } = result;
    const named = name === undefined ? {} : { name };
    return { outcome: 'not_changed', approvalId, problem, names, findings, ...named };
  }
  const refused = decisionResult(result);
  if (refused.outcome === 'decided' || refused.outcome === 'counted') {
    throw new Error('an edit that was refused is no decision');
  }
  return refused;
}

function requestProblem(
  key: ApprovalKey,
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
        : `${ref} is rejected. It will not be carried out.`;
    case 'counted':
      return `${ref} has your yes. Before anything is done, ${moreYeses(result.missing)}.`;
    case 'already_decided':
      return `${ref} was decided before: it is ${WORD_OF_STATE[result.state]}. Your answer changed nothing.`;
    case 'already_said':
      return `${ref} has your yes already, and ${moreYeses(result.missing)}.`;
    case 'expired':
      return `${ref} has expired. It will not be carried out, and the customer hears so.`;
    case 'edited_before':
      return `${ref} was changed, and asks again as ${result.newRef}. Your answer changed nothing.`;
    case 'not_asked':
      return `${ref} is asked of other people. Your answer changed nothing.`;
    case 'unknown':
      return `There is no request ${ref}.`;
    case 'too_many_codes':
      return `So many REFs were wrong that none is looked up for ${WRONG_CODES_WITHIN_MINUTES} minutes.`;
    case 'refused':
      return result.message;
  }
}

function moreYeses(missing: number): string {
  return missing === 1 ? 'one more person has to say theirs' : `${missing} more people have to say theirs`;
}

const WORD_OF_STATE: Record<ApprovalState, string> = {
  open: 'open',
  approved: 'approved',
  rejected: 'rejected',
  expired: 'expired',
  used: 'approved and carried out',
  edited: 'changed',
};

/** What became of a change, in one sentence for whoever made it. */
export function editInWords(result: EditResult, ref: string): string {
  switch (result.outcome) {
    case 'edited':
      return `${ref} is changed. It asks again as ${result.newRef} and needs a yes of its own.`;
    case 'not_changed':
      return `${ref} stays as it is: ${problemInWords(result)}.`;
    default:
      return inWords(result, ref);
  }
}

function problemInWords({ problem, name = '', names }: EditResult & { outcome: 'not_changed' }): string {
  switch (problem) {
    case 'unknown_name':
      return `it has no argument “${name}”, only ${names.join(', ')}`;
    case 'doubled':
      return `“${name}” is given twice`;
    case 'unreadable':
    case 'invalid':
      return name === '' ? 'the arguments don’t fit the tool' : `“${name}” doesn’t fit what the tool takes`;
    case 'missing':
      return `the tool needs “${name}”`;
    case 'same':
      return 'nothing would change';
    case 'not_allowed':
      return 'policy doesn’t allow it so';
    case 'already_asked':
      return 'the same is under way for this customer';
    case 'gone':
      return 'it is past changing';
  }
}
