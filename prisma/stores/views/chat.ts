// One chat as both sides see it: what came and what went, in the one numbering that holds for both.
import type { MessageState } from '../../../workflows/domain/message.js';
import { inOrder, readable, type Scope } from '../scope.js';
import { isTakenOver } from '../takeover.js';

export interface ChatMessage {
  /** The customer's own id of the message; for ours the id of the outbox row. */
  id: string;
  sequence: number;
  from: 'customer' | 'assistant' | 'human';
  /** Undefined: erased. */
  text: string | undefined;
  state: MessageState | 'sent';
  at: Date;
  /** The customer's message that this one answers. */
  answers?: {
    id: string;
    text: string | undefined;
    /** Another message of the customer stands between: without a quote nobody could tell what is answered. */
    isAside: boolean;
  };
}

/** By the keyed HMAC of its address. Undefined: nobody has written in it yet. */
export async function findChat(
  scope: Scope,
  chat: { channel: string; accountKey: string; address: string },
): Promise<string | undefined> {
  const row = await scope.tx.chat.findFirst({
    where: {
      addressHmac: scope.content.hmacAddress(chat.address),
      account: { channel: chat.channel, accountKey: chat.accountKey },
    },
    select: { id: true },
  });
  return row?.id;
}

interface Row {
  rowId: string;
  source: 'inbox' | 'outbox';
  id: string;
  sequence: number;
  from: ChatMessage['from'];
  state: ChatMessage['state'];
  at: Date;
  cipher: Uint8Array | null;
  keyId: string | null;
  answeredRowId: string | null;
  answeredId: string | null;
  answeredCipher: Uint8Array | null;
  answeredKeyId: string | null;
  isAside: boolean | null;
}

/**
 * Messages after a sequence, in order, at most `limit`: the oldest of them, or the newest where `newest` is set. With
 * `changedSince`, also earlier ones that have changed since then.
 */
export async function messagesOfChat(
  scope: Scope,
  range: { chatId: string; after: number; limit: number; newest?: boolean; changedSince?: Date | undefined },
): Promise<ChatMessage[]> {
  const since = range.changedSince?.toISOString() ?? 'infinity';
  const direction = range.newest ? -1 : 1;
  const rows = await scope.tx.$queryRaw<Row[]>`
    select * from (
      select i.id as "rowId", 'inbox' as source, i.external_id as id, i.sequence, 'customer' as "from", i.state,
        i.received_at as at, i.content_cipher as cipher, i.key_id as "keyId", null::uuid as "answeredRowId",
        null as "answeredId", null::bytea as "answeredCipher", null::uuid as "answeredKeyId", null::boolean as "isAside"
      from inbox i
      where i.chat_id = ${range.chatId}::uuid
        and (i.sequence > ${range.after}::int or greatest(i.received_at, i.settled_at) >= ${since}::timestamptz)
      union all
      select o.id, 'outbox', o.id::text, o.sequence, o.author, o.state, o.settled_at, o.content_cipher, o.key_id,
        a.id, a.external_id, a.content_cipher, a.key_id,
        exists (select 1 from inbox b where b.chat_id = o.chat_id and b.sequence > a.sequence and b.sequence < o.sequence)
      from outbox o left join inbox a on a.id = o.answers_message_id
      where o.chat_id = ${range.chatId}::uuid and o.state = 'sent'
        and (o.sequence > ${range.after}::int or o.settled_at >= ${since}::timestamptz)
    ) m order by m.sequence * ${direction}::int limit ${range.limit}::int`;
  const messages = await inOrder(rows, (row) => messageOf(scope, row));
  return messages.sort((one, other) => one.sequence - other.sequence);
}

async function messageOf(scope: Scope, row: Row): Promise<ChatMessage> {
  const { id, sequence, from, state, at } = row;
  const text = await readable(scope, {
    table: row.source,
    column: 'content_cipher',
    rowId: row.rowId,
    keyId: row.keyId,
    cipher: row.cipher,
  });
  const message: ChatMessage = { id, sequence, from, text, state, at };
  if (row.answeredId === null || row.answeredRowId === null) return message;
  const answered = await readable(scope, {
    table: 'inbox',
    column: 'content_cipher',
    rowId: row.answeredRowId,
    keyId: row.answeredKeyId,
    cipher: row.answeredCipher,
  });
  return { ...message, answers: { id: row.answeredId, text: answered, isAside: row.isAside ?? false } };
}

/** `writing`: a message is open and nothing was said to it yet. `working`: it was acknowledged, the last word is to come. */
export type ChatProgress = 'idle' | 'writing' | 'working';

export async function progressOf(scope: Scope, chatId: string): Promise<ChatProgress> {
  const [row] = await scope.tx.$queryRaw<{ open: number; unspoken: number }[]>`
    select count(*)::int as open, (count(*) filter (where not exists (
      select 1 from outbox o where o.turn_id = i.turn_id and o.state = 'sent')))::int as unspoken
    from inbox i where i.chat_id = ${chatId}::uuid and i.state = 'accepted'`;
  if (!row || row.open === 0) return 'idle';
  // Nobody is writing as far as we know: a person answers when they do.
  if (await isTakenOver(scope, chatId)) return 'idle';
  return row.unspoken > 0 ? 'writing' : 'working';
}
