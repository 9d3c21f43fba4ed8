// Which request a command means: by its code, by the notice that is quoted or reacted to, or, for a lone yes, the only one
// that is open. Never the latest of several.
import { lastOutgoingText } from '../../prisma/stores/owner-chats.js';
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
 * The one that a lone word means, or what to say instead. A word that may as well answer something else counts only where
 * the last thing that we said in this chat names the request.
 */
export async function loneRequest(
  scope: Scope,
  tenant: Words,
  at: { message: OwnerMessage; approver: Approver; isFirm: boolean },
): Promise<{ key: ApprovalKey } | { text: string; isOpen: boolean }> {
  const open = await openRequests(scope, at.approver);
  const [only, ...others] = open;
  if (!only) return { text: say(tenant, 'ownerNothingOpen'), isOpen: false };
  const which = { text: say(tenant, 'ownerWhich', { list: listed(tenant, open).list }), isOpen: true };
  if (others.length > 0) return which;
  if (!at.isFirm) {
    const said = await lastOutgoingText(scope, at.message.chat.chatId);
    if (said?.includes(only.ref) !== true) return which;
  }
  return { key: { approvalId: only.approvalId } };
}
