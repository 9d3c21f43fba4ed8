// The outbox: what goes to customers, owners and operators. A row is planned once per origin, here; deliveries.ts and sends.ts
// deliver it at most once, and settle the messages it answers in the transaction that makes it sent.
import { randomUUID } from 'node:crypto';
import { detailsProblem, type OutboxKind, type OutgoingDetails } from '../../workflows/domain/message.js';
import { isJsonObject } from '../json.js';
import { openOptional, type Scope } from './scope.js';

export type { OutboxKind } from '../../workflows/domain/message.js';

export interface PlannedMessage {
  chatId: string;
  /** Whom the content is about: it is sealed under their key, also in somebody else's chat. */
  contactId: string;
  /** A turn of this chat, which the message may close. Null: notices, and words passed on, answer no turn of the chat. */
  turnId: string | null;
  /** Where it comes from. The same origin again finds the row that is there. */
  origin: { kind: string; id: string; ordinal?: number };
  kind: OutboxKind;
  text: string;
  /** Buttons, lists, templates, media. Absent: only the text. */
  details?: OutgoingDetails | undefined;
  isTainted?: boolean;
  /** `discarded`: kept for the record and never sent. Absent: to be sent. */
  state?: 'planned' | 'discarded';
  /** The customer's message that this one answers. */
  answersMessageId?: string | undefined;
}

/** Writes a message to be delivered; asked again for the same origin it returns the first one, unchanged. */
export async function planMessage(scope: Scope, message: PlannedMessage): Promise<{ outboxId: string }> {
  const problem = message.details && detailsProblem(message.details);
  if (problem !== undefined) throw new TypeError(problem);
  const known = await findByOrigin(scope, message.origin);
  if (known) return known;
  const outboxId = randomUUID();
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, message.contactId);
  await scope.tx.outbox.create({
    data: {
      id: outboxId,
      tenantId: scope.tenantId,
      chatId: message.chatId,
      turnId: message.turnId,
      originKind: message.origin.kind,
      originId: message.origin.id,
      ordinal: message.origin.ordinal ?? 0,
      kind: message.kind,
      contentCipher: scope.content.sealText(key, {
        table: 'outbox',
        column: 'content_cipher',
        rowId: outboxId,
        text: message.text,
      }),
      detailsCipher: message.details
        ? scope.content.sealText(key, {
            table: 'outbox',
            column: 'details_cipher',
            rowId: outboxId,
            text: JSON.stringify(message.details),
          })
        : null,
      keyId: key.id,
      contentHmac: scope.content.hmacContent(message.text),
      state: message.state ?? 'planned',
      settledAt: message.state === 'discarded' ? new Date() : null,
      tainted: message.isTainted ?? false,
      answersMessageId: message.answersMessageId ?? null,
    },
  });
  return { outboxId };
}

export async function findByOrigin(
  scope: Scope,
  origin: { kind: string; id: string; ordinal?: number },
): Promise<{ outboxId: string; kind: OutboxKind } | undefined> {
  const row = await scope.tx.outbox.findFirst({
    where: { originKind: origin.kind, originId: origin.id, ordinal: origin.ordinal ?? 0 },
    select: { id: true, kind: true },
  });
  return row ? { outboxId: row.id, kind: row.kind as OutboxKind } : undefined;
}

/** What was written as a turn's last word, whether or not it was sent. */
export async function lastWordOf(scope: Scope, turnId: string): Promise<{ outboxId: string } | undefined> {
  const row = await scope.tx.outbox.findFirst({
    where: { turnId, originKind: { in: ['answer', 'plan', 'summary'] } },
    select: { id: true },
  });
  return row ? { outboxId: row.id } : undefined;
}

/** Whether the run of this turn has written anything for its customer; what it wrote to others doesn't count. */
export async function hasSpoken(scope: Scope, turnId: string): Promise<boolean> {
  const said = await scope.tx.$queryRaw<unknown[]>`
    select 1 from outbox o join turns t on t.id = o.turn_id and t.chat_id = o.chat_id where o.turn_id = ${turnId}::uuid limit 1`;
  return said.length > 0;
}

/** The text of an outbox row. */
export async function outboxText(scope: Scope, outboxId: string): Promise<string | undefined> {
  const row = await scope.tx.outbox.findUniqueOrThrow({ where: { id: outboxId } });
  return openOptional(scope, {
    table: 'outbox',
    column: 'content_cipher',
    rowId: row.id,
    keyId: row.keyId,
    cipher: row.contentCipher,
  });
}

/** What was planned, readable again: the text and what goes with it. Undefined: there is no such row. */
export async function outgoingById(
  scope: Scope,
  outboxId: string,
): Promise<
  { chatId: string; kind: OutboxKind; text: string | undefined; details: OutgoingDetails } | undefined
> {
  const row = await scope.tx.outbox.findUnique({ where: { id: outboxId } });
  if (!row) return undefined;
  return { chatId: row.chatId, kind: row.kind as OutboxKind, ...(await openOutgoing(scope, row)) };
}

/** Opens the content of an outbox row. Throws where its key was destroyed. */
export async function openOutgoing(
  scope: Scope,
  row: {
    id: string;
    keyId: string | null;
    contentCipher: Uint8Array | null;
    detailsCipher: Uint8Array | null;
  },
): Promise<{ text: string | undefined; details: OutgoingDetails }> {
  const place = { table: 'outbox', rowId: row.id, keyId: row.keyId };
  const text = await openOptional(scope, { ...place, column: 'content_cipher', cipher: row.contentCipher });
  const details = await openOptional(scope, {
    ...place,
    column: 'details_cipher',
    cipher: row.detailsCipher,
  });
  return { text, details: details === undefined ? {} : parseDetails(details) };
}

/** The column holds what `planMessage` wrote, in this project's own form. */
function parseDetails(json: string): OutgoingDetails {
  const value: unknown = JSON.parse(json);
  if (!isJsonObject(value)) throw new TypeError('stored details are no JSON object');
  return value;
}
