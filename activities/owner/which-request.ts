// Which request a command means: by its code, by the notice that is quoted or reacted to, or, for a lone yes, the only one
// that is open. Never the latest of several.
import { lastOutgoing } from '../../prisma/stores/owner-chats.js';
import type { ApprovalKey } from '../../prisma/stores/approvals.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { listApprovals, type ApprovalView } from '../../prisma/stores/views/approvals.js';
import { isAsked, type Approver } from '../../workflows/domain/approval.js';
import { requestLine } from '../approvals/render-request.js';
import { say } from '../sentences.js';
import type { OwnerMessage, Words } from './owner-message.js';

/** More than anybody can keep apart in a chat. */
const LIST_AT_MOST = 20;

/** Requests that wait for this owner, the nearest deadline first. */
export async function openRequests(scope: Scope, approver: Approver): Promise<ApprovalView[]> {
  const views = await listApprovals(scope, { filter: { state: 'open' }, limit: 200, now: new Date() });
  return views.filter((view) => isAsked(view, approver) && !view.yeses.includes(approver.id));
}

/** The lines of a list, and how many more there are. */
export function listed(tenant: Words, views: readonly ApprovalView[]): { list: string; more?: string } {
  const lines = views.slice(0, LIST_AT_MOST).map((view) => requestLine(tenant, view));
  const more = views.length - lines.length;
  return { list: lines.join('\n'), ...(more > 0 && { more: String(more) }) };
}

/**
 * The one that a lone word means, or what to say instead. It counts where it follows the request itself: a mere "ok" only
 * there, a plain yes or no also after an answer of ours to a command, and neither after anything else that we have said,
 * because then it may be meant for that. Nor where it was written before that was said: a phone that was offline delivers
 * late, and its yes was meant for something else.
 */
export async function loneRequest(
  scope: Scope,
  tenant: Words,
  at: { message: OwnerMessage; approver: Approver; isFirm: boolean },
): Promise<{ key: ApprovalKey } | { text: string; isOpen: boolean }> {
  const { message, approver, isFirm } = at;
  const open = await openRequests(scope, approver);
  const [only] = open;
  if (!only) return { text: say(tenant, 'ownerNothingOpen'), isOpen: false };
  const which = { text: say(tenant, 'ownerWhich', { list: listed(tenant, open).list }), isOpen: true };
  // What it quotes is no request: it is meant for that.
  if (open.length > 1 || message.quotedExternalId !== undefined) return which;
  const last = await lastOutgoing(scope, message.chat.chatId);
  const { writtenAt } = message;
  if (isBefore(writtenAt, only.askedAt) || (last && isBefore(writtenAt, last.sentAt))) return which;
  const isOfRequest = last?.originId === only.approvalId;
  const isAnswer = last === undefined || last.originKind === 'gate';
  return isOfRequest || (isFirm && isAnswer) ? { key: { approvalId: only.approvalId } } : which;
}

/** Platforms give whole seconds. */
function isBefore(writtenAt: Date, saidAt: Date): boolean {
  return Math.floor(writtenAt.getTime() / 1_000) < Math.floor(saidAt.getTime() / 1_000);
}
