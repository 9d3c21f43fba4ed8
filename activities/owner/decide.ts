// A yes, a no or a change of an owner, and the answer in words. The row decides; here it is only asked.
import { lockForEdit } from '../../prisma/stores/approval-edits.js';
import { auditRefusal, WRONG_CODES_WITHIN_MINUTES } from '../../prisma/stores/approval-refusals.js';
import {
  decide,
  type ApprovalKey,
  type DecisionOutcome,
  type DecisionRefusal,
} from '../../prisma/stores/approvals.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { approvalByRef, listApprovals, type ApprovalView } from '../../prisma/stores/views/approvals.js';
import { editApproval, type EditOutcome } from '../approvals/edit.js';
import type { Pair } from '../approvals/read-changes.js';
import { editExample } from '../approvals/render-request.js';
import { say } from '../sentences.js';
import { approverOf, reply, type OwnerMessage, type OwnerReply, type Words } from './owner-message.js';

/** A customer reads the reason in a chat: longer ones belong elsewhere. */
const MAX_REASON_LENGTH = 500;

export interface Meant {
  key: ApprovalKey;
  message: OwnerMessage;
}

export async function decideRequest(
  scope: Scope,
  tenant: Words,
  { key, message }: Meant,
  said: { decision: 'approve' | 'reject'; reason?: string | undefined },
): Promise<OwnerReply> {
  if (said.reason !== undefined && said.reason.length > MAX_REASON_LENGTH) {
    await auditRefusal(scope, {
      stream: message.chat.chatId,
      ...key,
      approver: approverOf(message),
      decision: said.decision,
      outcome: 'malformed_reason',
    });
    return reply(say(tenant, 'ownerReasonTooLong', { most: String(MAX_REASON_LENGTH) }));
  }
  const outcome = await decide(scope.tx, scope.content, {
    tenantId: scope.tenantId,
    key,
    ...said,
    approver: approverOf(message),
    saidIn: message.chat.chatId,
  });
  const text = decisionInWords(tenant, outcome, key);
  const { approvalId, turnId } = outcome;
  if (outcome.outcome !== 'decided' || approvalId === undefined || turnId === undefined) return reply(text);
  return reply(text, { kind: 'decided', runId: turnId, approvalId });
}

function decisionInWords(tenant: Words, result: DecisionOutcome, key: ApprovalKey): string {
  const { ref = refOf(key), missing = 0 } = result;
  switch (result.outcome) {
    case 'decided':
      return say(tenant, result.state === 'approved' ? 'ownerApproved' : 'ownerRejected', { ref });
    case 'counted':
      return say(tenant, 'ownerCounted', { ref, missing: String(missing) });
    default:
      return refusalInWords(tenant, { ...result, outcome: result.outcome }, key);
  }
}

function refusalInWords(
  tenant: Words,
  result: DecisionOutcome & { outcome: DecisionRefusal },
  key: ApprovalKey,
): string {
  const { ref = refOf(key), missing = 0, newRef = '' } = result;
  switch (result.outcome) {
    case 'already_said':
      return say(tenant, 'ownerAlreadySaid', { ref, missing: String(missing) });
    case 'already_decided':
      return say(tenant, result.state === 'rejected' ? 'ownerWasRejected' : 'ownerWasApproved', { ref });
    case 'expired':
      return say(tenant, 'ownerExpired', { ref });
    case 'edited':
      return say(tenant, 'ownerReplaced', { ref, newRef });
    case 'not_asked':
      return say(tenant, 'ownerNotAsked', { ref });
    case 'unknown':
      return say(tenant, 'ownerUnknownRef', { ref });
    case 'too_many_codes':
      return tooManyCodes(tenant);
  }
}

export function tooManyCodes(tenant: Words): string {
  return say(tenant, 'ownerTooManyCodes', { minutes: String(WRONG_CODES_WITHIN_MINUTES) });
}

/** A button names a row, not a code; of a row that isn't there nothing can be said. */
function refOf(key: ApprovalKey): string {
  return 'ref' in key ? key.ref : '—';
}

/** `pairs` absent: what should be changed couldn't be read. */
export async function changeRequest(
  scope: Scope,
  tenant: Words,
  { key, message }: Meant,
  pairs: readonly Pair[] | undefined,
): Promise<OwnerReply> {
  if (!pairs) return explainEdit(scope, tenant, { key, message });
  const result = await editApproval(scope, tenant, {
    key,
    approver: approverOf(message),
    change: { kind: 'pairs', pairs },
    saidIn: message.chat.chatId,
  });
  switch (result.outcome) {
    case 'changed': {
      const { ref, newRef, turnId: runId, approvalId } = result;
      return reply(say(tenant, 'ownerEdited', { ref, newRef }), { kind: 'decided', runId, approvalId });
    }
    case 'not_changed':
      return reply(problemInWords(tenant, result));
    default:
      return reply(refusalInWords(tenant, result, key));
  }
}

/** How a change is typed: told of what could be changed by this owner now, and of nothing else. */
async function explainEdit(scope: Scope, tenant: Words, { key, message }: Meant): Promise<OwnerReply> {
  const approver = approverOf(message);
  const locked = await lockForEdit(scope, { key, approver, saidIn: message.chat.chatId });
  if ('outcome' in locked) return reply(refusalInWords(tenant, locked, key));
  const { approvalId, ref, chatId, terms } = locked.editable;
  const refusal = { stream: chatId, approvalId, ref, approver, decision: 'edit' } as const;
  await auditRefusal(scope, { ...refusal, outcome: 'unreadable' });
  const example = editExample(tenant, { ref, tool: terms.tool });
  return reply(
    example === undefined ? say(tenant, 'ownerEditGone', { ref }) : say(tenant, 'ownerEditHow', { example }),
  );
}

function problemInWords(tenant: Words, result: EditOutcome & { outcome: 'not_changed' }): string {
  const { problem, ref, name = '', names } = result;
  switch (problem) {
    case 'unknown_name':
      return say(tenant, 'ownerEditUnknownName', { name, names: names.join(', ') });
    case 'doubled':
      return say(tenant, 'ownerEditDoubled', { name });
    case 'unreadable':
    case 'invalid':
      return say(tenant, 'ownerEditInvalid', { name });
    case 'missing':
      return say(tenant, 'ownerEditMissing', { name });
    case 'same':
      return say(tenant, 'ownerEditSame', { ref });
    case 'not_allowed':
      return say(tenant, 'ownerEditNotAllowed', { ref });
    case 'already_asked':
      return say(tenant, 'ownerEditAlreadyAsked');
    case 'gone':
      return say(tenant, 'ownerEditGone', { ref });
  }
}

/** What owners are asked, by whatever names it. */
export async function viewOf(scope: Scope, key: ApprovalKey): Promise<ApprovalView | undefined> {
  const now = new Date();
  if ('ref' in key) return approvalByRef(scope, key.ref, now);
  const [view] = await listApprovals(scope, { filter: key, limit: 1, now });
  return view?.gate === 'approve' ? view : undefined;
}
