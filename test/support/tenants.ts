// Tenants for tests of the database, and messages for them.

import { randomBytes, randomUUID } from 'node:crypto';
import { createContentCipher, type ContentCipher } from '../../prisma/content.js';
import type { Database } from '../../prisma/database.js';
import { accept, type AcceptedRow, type AcceptOutcome, type AcceptRequest } from '../../prisma/accept.js';
import { createKeyring, type DataKey, type Keyring, type WrappedKey } from '../../prisma/keys.js';
import type { Arrival, Speaker } from '../../workflows/domain/incoming.js';

export interface TestTenant {
  tenantId: string;
  accountId: string;
  slug: string;
  channel: 'web';
  accountKey: string;
}

/** A business with one web chat account. */
export async function addTenant(database: Database): Promise<TestTenant> {
  const tenantId = randomUUID();
  const accountId = randomUUID();
  const slug = `desk-${tenantId.slice(0, 8)}`;
  await database.inTenant(tenantId, async (tx) => {
    await tx.tenant.create({ data: { id: tenantId, slug, name: 'A desk' } });
    await tx.channelAccount.create({ data: { id: accountId, tenantId, channel: 'web', accountKey: slug } });
  });
  return { tenantId, accountId, slug, channel: 'web', accountKey: slug };
}

export function testKeyring(): Keyring {
  return createKeyring({ masterKeys: [{ version: 1, key: randomBytes(32) }] });
}

export function testContent(): ContentCipher {
  return createContentCipher({ keyring: testKeyring() });
}

export interface TextMessage {
  externalId: string;
  text: string;
  /** Who writes, and the name of the chat. */
  address: string;
  arrival?: Arrival;
  speaker?: Speaker;
  sentAt?: Date;
}

/** What a gateway believes: the sender's key, and the id of their chat where it knows that. */
export type OwnKey = { dataKey: DataKey; wrappedKey: WrappedKey; chatId?: string | undefined };

/** Where a message comes in. */
export interface Desk {
  prisma: Parameters<typeof accept>[0];
  content: ContentCipher;
  account: Pick<TestTenant, 'channel' | 'accountKey'>;
}

/** A request as a gateway makes it that believes `key` to be the sender's. */
export function textRequest(
  { content, account }: Pick<Desk, 'content' | 'account'>,
  { externalId, text, address, arrival = 'turn', speaker = 'customer', sentAt }: TextMessage,
  key: OwnKey = content.keyring.createDataKey(),
): AcceptRequest {
  const messageId = randomUUID();
  const seal = (table: string, column: string, rowId: string, plain: string) =>
    content.sealText(key.dataKey, { table, column, rowId, text: plain });
  const sealedAddress = (table: string, id: string = randomUUID()) => {
    const cipher = seal(table, 'address_cipher', id, address);
    return { id, kind: 'web', hmac: content.hmacAddress(address), cipher };
  };
  return {
    channel: account.channel,
    accountKey: account.accountKey,
    contactId: randomUUID(),
    aliases: [sealedAddress('contact_aliases')],
    chat: { ...sealedAddress('chats', key.chatId), chatKind: 'direct' },
    key: key.wrappedKey,
    messages: [
      {
        messageId,
        externalId,
        kind: 'text',
        arrival,
        speaker,
        content: seal('inbox', 'content_cipher', messageId, text),
        contentHmac: content.hmacContent(text),
        sentAt,
      },
    ],
  };
}

/** A message's own outcome, or why there is none. */
export type TextOutcome =
  | Exclude<AcceptOutcome, { outcome: 'done' }>
  | (Extract<AcceptedRow, { messageId: string }> & { tenantId: string; keyId?: string | undefined });

/** One call of `accept`, as a gateway that believes `key` to be the sender's would make it. */
export async function acceptText(desk: Desk, message: TextMessage, key?: OwnKey): Promise<TextOutcome> {
  const result = await accept(desk.prisma, textRequest(desk, message, key));
  if (result.outcome !== 'done') return result;
  const [row] = result.rows;
  if (!row || row.outcome === 'echo') throw new Error('a text of a customer came back as an echo');
  return { ...row, tenantId: result.tenantId, keyId: result.keyId };
}

/** As the gateway does it: calls again with the key that it is handed. */
export async function acceptTextWithRetry(
  desk: Desk,
  message: TextMessage,
): Promise<Exclude<TextOutcome, { outcome: 'again' }>> {
  let key: OwnKey | undefined;
  for (;;) {
    const result = await acceptText(desk, message, key);
    if (result.outcome !== 'again') return result;
    const live = result.key && { dataKey: desk.content.keyring.unwrap(result.key), wrappedKey: result.key };
    key = { ...(live ?? desk.content.keyring.createDataKey()), chatId: result.chatId };
  }
}
