// An effect of which nobody knows whether it happened needs a person, at once (spec G4): every owner hears of it in their own
// chat, with the REF by which they say what they found out. The run delivers the messages; where it is gone, the sweep does.
import { planMessage } from '../../prisma/stores/outbox.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { accountOfChat, type TurnRow } from '../../prisma/stores/turns.js';
import { unknownSteps } from '../../prisma/stores/views/unknown-steps.js';
import { chatsOfOwners } from '../desk/owner-chats.js';
import type { Tenant } from '../tenants.js';
import { unknownText } from './render-request.js';

/** More than one step of a turn is seldom unknown. */
const AT_MOST = 10;

/**
 * Writes to every owner about the unknown effects of a turn, in the transaction that leaves them unknown. Answers outbox ids;
 * asked again they are the same. None: no owner has a chat, and the console shows it.
 */
export async function planUnknownNotices(
  scope: Scope,
  tenant: Pick<Tenant, 'configuration'>,
  { turnId, chatId, contactId, isTainted }: Pick<TurnRow, 'turnId' | 'chatId' | 'contactId' | 'isTainted'>,
): Promise<string[]> {
  const steps = await unknownSteps(scope, { turnId, limit: AT_MOST });
  if (steps.length === 0) return [];
  const chats = await chatsOfOwners(scope, tenant, await accountOfChat(scope, chatId));
  const planned: string[] = [];
  for (const step of steps) {
    for (const { chatId: ownersChatId, ordinal } of chats) {
      const { outboxId } = await planMessage(scope, {
        chatId: ownersChatId,
        // It is about the customer, so it is sealed under their key.
        contactId,
        turnId: null,
        origin: { kind: 'unknown_notice', id: step.stepId, ordinal },
        kind: 'acknowledgement',
        text: unknownText(tenant, step),
        details: { isVerbatim: true, purpose: 'ownerNotice' },
        isTainted,
      });
      planned.push(outboxId);
    }
  }
  return planned;
}
