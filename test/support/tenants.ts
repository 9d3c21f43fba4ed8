// Tenants for tests of the database, and messages for them.

import { randomBytes, randomUUID } from 'node:crypto';
import { createContentCipher, type ContentCipher } from '../../prisma/content.js';
import type { Database } from '../../prisma/database.js';
import { accept, type AcceptOutcome } from '../../prisma/functions.js';
import { createKeyring, type DataKey, type Keyring, type WrappedKey } from '../../prisma/keys.js';

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
  arrival?: string;
  sentAt?: Date;
}

export type OwnKey = { dataKey: DataKey; wrappedKey: WrappedKey };

/** Where a message comes in. */
export interface Desk {
  prisma: Parameters<typeof accept>[0];
  content: ContentCipher;
  account: Pick<TestTenant, 'channel' | 'accountKey'>;
}

/** One call of `accept`, as a gateway that believes `key` to be the sender's would make it. */
export function acceptText(
  { prisma, content, account }: Desk,
  { externalId, text, address, arrival = 'turn', sentAt }: TextMessage,
  key: OwnKey = content.keyring.createDataKey(),
): Promise<AcceptOutcome> {
  const [messageId, contactId, aliasId, chatId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const seal = (table: string, column: string, rowId: string, plain: string) =>
    content.sealText(key.dataKey, { table, column, rowId, text: plain });
  return accept(prisma, {
    channel: account.channel,
    accountKey: account.accountKey,
    addressKind: 'web',
    chatHmac: content.hmacAddress(address),
    contactHmac: content.hmacAddress(address),
    chatKind: 'direct',
    messageId,
    externalId,
    kind: 'text',
    arrival,
    contentCipher: seal('inbox', 'content_cipher', messageId, text),
    contentHmac: content.hmacContent(text),
    sentAt,
    contactId,
    ...key.wrappedKey,
    keyWrapped: key.wrappedKey.wrapped,
    aliasId,
    aliasCipher: seal('contact_aliases', 'address_cipher', aliasId, address),
    chatId,
    chatCipher: seal('chats', 'address_cipher', chatId, address),
  });
}

/** As the gateway does it: calls again with the key that it is handed. */
export async function acceptTextWithRetry(
  desk: Desk,
  message: TextMessage,
): Promise<Exclude<AcceptOutcome, { outcome: 'wrong_key' }>> {
  let key: OwnKey | undefined;
  for (;;) {
    const result = await acceptText(desk, message, key);
    if (result.outcome !== 'wrong_key') return result;
    key = result.key && { dataKey: desk.content.keyring.unwrap(result.key), wrappedKey: result.key };
  }
}
