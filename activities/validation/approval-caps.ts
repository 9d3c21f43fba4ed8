// How much one chat may ask of the owners. Whoever asks without end would tire them into a yes, so what is beyond the cap is
// refused before anybody is asked.
import type { Limits } from '../../config/configuration.js';
import type { Scope } from '../../prisma/stores/scope.js';

export type ApprovalCap = 'open_approvals_per_chat' | 'approvals_per_chat_and_hour';

const HOUR_MS = 3_600_000;

/** The cap that one more request of this chat would break; nothing where it may be made. The caller holds the chat's lock. */
export async function approvalCapOf(
  scope: Scope,
  { chatId, limits, now = new Date() }: { chatId: string; limits: Limits; now?: Date },
): Promise<ApprovalCap | undefined> {
  const open = await scope.tx.approval.count({
    where: { chatId, gate: 'approve', state: 'open', expiresAt: { gt: now } },
  });
  if (open >= limits.openApprovalsPerChat) return 'open_approvals_per_chat';
  const lately = await scope.tx.approval.count({
    // What an owner has edited asks again by their own doing.
    where: { chatId, gate: 'approve', replacesId: null, askedAt: { gt: new Date(now.getTime() - HOUR_MS) } },
  });
  return lately >= limits.approvalsPerChatAndHour ? 'approvals_per_chat_and_hour' : undefined;
}
