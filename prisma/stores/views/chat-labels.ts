// Who a chat is with, as far as anybody can read it: for owners who are logged in, and for nobody else.
import { isJsonObject } from '../../json.js';
import { readableTogether, type Scope } from '../scope.js';

export interface ChatLabel {
  chatId: string;
  channel: string;
  kind: 'direct' | 'group';
  /** As it came; undefined: erased. */
  address: string | undefined;
  /** `phone`, or an id of the platform's own. */
  addressKind: string | undefined;
  /** What the customer calls themselves on the channel. Says nothing about who they are. */
  name: string | undefined;
}

interface LabelRow {
  chatId: string;
  channel: string;
  kind: string;
  addressKind: string | null;
  addressCipher: Uint8Array | null;
  keyId: string | null;
  messageId: string | null;
  detailsCipher: Uint8Array | null;
  detailsKeyId: string | null;
}

/** Labels by chat id: two round trips, however many there are. */
export async function chatLabels(scope: Scope, chatIds: readonly string[]): Promise<Map<string, ChatLabel>> {
  const ids = [...new Set(chatIds)];
  if (ids.length === 0) return new Map();
  // Only platforms with names of their own tell them with a message; of a group it is the sender's, not the chat's.
  const rows = await scope.tx.$queryRaw<LabelRow[]>`
    select c.id as "chatId", a.channel, c.kind, c.address_kind as "addressKind", c.address_cipher as "addressCipher",
      c.key_id as "keyId", n.id as "messageId", n.details_cipher as "detailsCipher", n.key_id as "detailsKeyId"
    from chats c join channel_accounts a on a.id = c.account_id
    left join lateral (select i.id, i.details_cipher, i.key_id from inbox i
      where a.channel <> 'web' and c.kind = 'direct' and i.chat_id = c.id and i.speaker not in ('business', 'platform')
        and i.details_cipher is not null
      order by i.sequence desc limit 1) n on true
    where c.id = any (${ids}::uuid[])`;
  const texts = await readableTogether(
    scope,
    rows.flatMap((row) => [
      {
        table: 'chats',
        column: 'address_cipher',
        rowId: row.chatId,
        keyId: row.keyId,
        cipher: row.addressCipher,
      },
      {
        table: 'inbox',
        column: 'details_cipher',
        rowId: row.messageId ?? '',
        keyId: row.detailsKeyId,
        cipher: row.detailsCipher,
      },
    ]),
  );
  return new Map(
    rows.map((row, index) => [
      row.chatId,
      {
        chatId: row.chatId,
        channel: row.channel,
        kind: row.kind === 'group' ? 'group' : 'direct',
        address: texts[2 * index],
        addressKind: row.addressKind ?? undefined,
        name: profileNameIn(texts[2 * index + 1]),
      },
    ]),
  );
}

function profileNameIn(details: string | undefined): string | undefined {
  if (details === undefined) return undefined;
  const value: unknown = JSON.parse(details);
  const name = isJsonObject(value) ? value['profileName'] : undefined;
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : undefined;
}
