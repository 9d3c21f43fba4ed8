// Messages to owners about a request: written in the transaction that changes it, into each owner's own chat, under the key of
// the person it is about. The run delivers them.
import { planMessage } from '../../prisma/stores/outbox.js';
import { NOTICE_ORIGINS, type NoticeAbout } from '../../prisma/stores/owner-chats.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { listApprovals, type ApprovalView } from '../../prisma/stores/views/approvals.js';
import { isAsked } from '../../workflows/domain/approval.js';
import { chatsOfOwners, type OwnerChat } from '../desk/owner-chats.js';
import { say } from '../sentences.js';
import type { Tenant } from '../tenants.js';
import { requestText, whoOf } from './render-request.js';

type Words = Pick<Tenant, 'configuration'>;

/**
 * Writes to every owner who is asked and hasn't said yes, wherever they have a chat of their own and policy lets them decide
 * there; that a request ran out, and a person has to get back to the customer, to every owner with a chat. Answers the outbox
 * ids; asked again they are the same. None: nobody can be written to.
 */
export async function planNotices(
  scope: Scope,
  tenant: Words,
  { approvalId, about }: { approvalId: string; about: NoticeAbout },
): Promise<string[]> {
  const [view] = await listApprovals(scope, { filter: { approvalId }, limit: 1, now: new Date() });
  if (view?.gate !== 'approve') return [];
  const text = textOf(tenant, view, about);
  const buttons = [
    { id: buttonPayload('approve', approvalId), title: say(tenant, 'ownerButtonApprove') },
    { id: buttonPayload('reject', approvalId), title: say(tenant, 'ownerButtonReject') },
  ];
  const planned: string[] = [];
  for (const { chatId, ordinal } of await recipientsOf(scope, tenant, { view, about })) {
    const { outboxId } = await planMessage(scope, {
      chatId,
      contactId: view.contactId,
      // No turn of this chat is answered.
      turnId: null,
      origin: { kind: NOTICE_ORIGINS[about], id: approvalId, ordinal },
      kind: 'acknowledgement',
      text,
      details: {
        isVerbatim: true,
        ...(about === 'expired' ? { purpose: 'ownerNotice' } : { buttons, purpose: 'approvalRequest' }),
      },
      isTainted: view.isTainted,
    });
    planned.push(outboxId);
  }
  return planned;
}

/** What a button of a notice sends back: bound to the one request it stands under. */
export function buttonPayload(decision: 'approve' | 'reject', approvalId: string): string {
  return `${decision}:${approvalId}`;
}

function textOf(tenant: Words, view: ApprovalView, about: NoticeAbout): string {
  switch (about) {
    case 'request':
      return requestText(tenant, view);
    case 'reminder':
      return say(tenant, 'ownerReminder', {
        request: requestText(tenant, view, say(tenant, 'ownerReminder', { request: '' }).length),
      });
    case 'expired':
      return say(tenant, 'ownerExpiredNotice', { ref: view.ref, who: whoOf(view) });
  }
}

/** Owners who are asked and haven't said yes, where policy lets them decide; all of them where nobody can decide any more. */
async function recipientsOf(
  scope: Scope,
  tenant: Words,
  { view, about }: { view: ApprovalView; about: NoticeAbout },
): Promise<OwnerChat[]> {
  const { surfaces } = tenant.configuration.policy;
  const { account } = await scope.tx.chat.findUniqueOrThrow({
    where: { id: view.chatId },
    select: { account: { select: { accountKey: true } } },
  });
  const chats = await chatsOfOwners(scope, tenant, account);
  if (about === 'expired') return chats.filter(({ chatId }) => chatId !== view.chatId);
  return chats.filter(
    ({ ownerId: id, surface }) =>
      surfaces.includes(surface) && isAsked(view, { surface, id }) && !view.yeses.includes(id),
  );
}
