// Where an owner is written to: on WhatsApp where they have a number, and in the web chat in which they last wrote.
import type { Owner } from '../../config/configuration.js';
import { chatOfPhone, webChatOfOwner } from '../../prisma/stores/owner-chats.js';
import type { Scope } from '../../prisma/stores/scope.js';
import type { Tenant } from '../tenants.js';

export interface OwnerChat {
  chatId: string;
  /** Names owner and channel, the same each time. */
  ordinal: number;
  ownerId: string;
  surface: 'whatsapp' | 'web';
}

/**
 * The chats of all owners. `accountKey`: of the account that the matter came by; an owner is written to from the same number
 * where it is one of WhatsApp's, else from the first.
 */
export async function chatsOfOwners(
  scope: Scope,
  { configuration }: Pick<Tenant, 'configuration'>,
  { accountKey }: { accountKey: string },
): Promise<OwnerChat[]> {
  const { channels, owners } = configuration;
  const account = channels.whatsapp.find((own) => own.accountKey === accountKey) ?? channels.whatsapp[0];
  const chats: OwnerChat[] = [];
  for (const [index, owner] of owners.entries()) {
    const phone = account && (await phoneChatOf(scope, account.accountKey, owner));
    const ownerId = owner.id;
    if (phone !== undefined) {
      chats.push({ chatId: phone, ordinal: 2 * index, ownerId, surface: 'whatsapp' });
    }
    const web = await webChatOfOwner(scope, ownerId);
    if (web !== undefined) chats.push({ chatId: web, ordinal: 2 * index + 1, ownerId, surface: 'web' });
  }
  return chats;
}

async function phoneChatOf(
  scope: Scope,
  accountKey: string,
  { addresses }: Owner,
): Promise<string | undefined> {
  const [number] = addresses.whatsapp;
  if (number === undefined) return undefined;
  // As the platform writes it.
  return chatOfPhone(scope, { channel: 'whatsapp-cloud', accountKey, address: number.replace(/^\+/, '') });
}
