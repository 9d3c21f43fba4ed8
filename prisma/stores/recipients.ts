// To whom a message goes on a channel with addresses, and which message it quotes there.
import type { Outgoing } from './deliveries.js';
import { readable, type Scope } from './scope.js';

export interface Recipient {
  address: string;
  kind: 'phone' | 'user' | 'group';
  customerWroteAt: Date | null;
}

/**
 * Who the chat is with, where they are reached now: at the chat's address as long as it is theirs, else at the newest address
 * that they have on the channel. A number that they have left belongs to somebody else by now, or soon will.
 * Undefined: nobody can read the address any more, or none is left.
 */
export async function recipientOf(scope: Scope, chatId: string): Promise<Recipient | undefined> {
  const chat = await scope.tx.chat.findUniqueOrThrow({
    where: { id: chatId },
    include: { account: { select: { channel: true } } },
  });
  const address = await readable(scope, {
    table: 'chats',
    column: 'address_cipher',
    rowId: chat.id,
    keyId: chat.keyId,
    cipher: chat.addressCipher,
  });
  if (address === undefined) return undefined;
  const live = { channel: chat.account.channel, contactId: chat.contactId, retiredAt: null };
  // Chats from before kinds were written down are of numbers.
  const own = { address, kind: chat.addressKind ?? 'phone' };
  const isTheirs = await scope.tx.contactAlias.count({
    where: { ...live, kind: own.kind, addressHmac: scope.content.hmacAddress(address) },
  });
  const isGroup = chat.kind === 'group';
  const reached = isTheirs > 0 ? own : await newestAddress(scope, { ...live, isGroup });
  if (!reached) return undefined;
  const kind = isGroup ? 'group' : reached.kind === 'phone' ? 'phone' : 'user';
  return { address: reached.address, kind, customerWroteAt: chat.customerWroteAt };
}

async function newestAddress(
  scope: Scope,
  { isGroup, ...live }: { channel: string; contactId: string; retiredAt: null; isGroup: boolean },
): Promise<{ address: string; kind: string } | undefined> {
  const aliases = await scope.tx.contactAlias.findMany({
    where: { ...live, kind: { in: isGroup ? ['group'] : ['phone', 'bsuid'] } },
    // Of those that came together, the number.
    orderBy: [{ createdAt: 'desc' }, { kind: 'desc' }],
  });
  for (const { id, kind, keyId, addressCipher: cipher } of aliases) {
    const place = { table: 'contact_aliases', column: 'address_cipher', rowId: id };
    const address = await readable(scope, { ...place, keyId, cipher });
    if (address !== undefined) return { address, kind };
  }
  return undefined;
}

/**
 * The platform's id of the message that is answered, where the customer has written more since: then a quote tells which one
 * is meant, and else it would only be noise.
 */
export async function quoteFor(scope: Scope, { outboxId }: Outgoing): Promise<string | undefined> {
  const [row] = await scope.tx.$queryRaw<{ externalId: string }[]>`
    select i.external_id as "externalId" from outbox o join inbox i on i.id = o.answers_message_id and i.chat_id = o.chat_id
    where o.id = ${outboxId}::uuid and i.revoked_at is null and exists (
      select 1 from inbox n where n.chat_id = i.chat_id and n.sequence > i.sequence and n.arrival = i.arrival and n.turn_id is distinct from i.turn_id)`;
  return row?.externalId;
}

/** The newest message of a turn, by the platform's id, and the number that it came to. Undefined: it came another way. */
export async function newestOnWhatsApp(
  scope: Scope,
  turnId: string,
): Promise<{ externalId: string; accountKey: string } | undefined> {
  const [row] = await scope.tx.$queryRaw<{ externalId: string; accountKey: string }[]>`
    select i.external_id as "externalId", a.account_key as "accountKey"
    from inbox i join channel_accounts a on a.id = i.account_id
    where i.turn_id = ${turnId}::uuid and i.channel = 'whatsapp-cloud' order by i.sequence desc limit 1`;
  return row;
}
