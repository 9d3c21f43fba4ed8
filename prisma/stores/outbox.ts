// The outbox: what goes to customers. A row is planned once per origin, delivered at most once, and settles the messages
// it answers in the transaction that makes it sent.
import { randomUUID } from 'node:crypto';
import { messageStateAfter, type OutboxState, type SayKind } from '../../workflows/domain/message.js';
import { notify, openOptional, type Scope } from './scope.js';

export type OutboxKind = SayKind | 'handOff';

export interface PlannedMessage {
  chatId: string;
  contactId: string;
  turnId: string;
  /** Where it comes from. The same origin again finds the row that is there. */
  origin: { kind: string; id: string; ordinal?: number };
  kind: OutboxKind;
  text: string;
  isTainted?: boolean;
  /** `discarded`: kept for the record and never sent. Absent: to be sent. */
  state?: 'planned' | 'discarded';
  /** The customer's message that this one answers. */
  answersMessageId?: string | undefined;
}

/** Writes a message to be delivered; asked again for the same origin it returns the first one, unchanged. */
export async function planMessage(scope: Scope, message: PlannedMessage): Promise<{ outboxId: string }> {
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

/** Whether the run of this turn has written anything for its customer. */
export async function hasSpoken(scope: Scope, turnId: string): Promise<boolean> {
  return (await scope.tx.outbox.count({ where: { turnId } })) > 0;
}

/**
 * Delivers on a channel where the commit is the delivery (web chat and API): one transaction gives the message its place
 * in the chat, makes it sent, and settles what it answers. Repeating it changes nothing.
 */
export async function sendByCommit(
  scope: Scope,
  outboxId: string,
): Promise<{ state: OutboxState; turnId: string | null }> {
  const [row] = await scope.tx.$queryRaw<
    {
      chatId: string;
      turnId: string | null;
      kind: OutboxKind;
      state: OutboxState;
      paused: boolean;
      outcome: string | null;
    }[]
  >`select o.chat_id as "chatId", o.turn_id as "turnId", o.kind, o.state, c.paused_at is not null as paused, t.outcome
    from outbox o join chats c on c.id = o.chat_id left join turns t on t.id = o.turn_id where o.id = ${outboxId}::uuid for update of o, c`;
  // A signal may name anything; what isn't there can't be sent, and must not hold the chat up.
  if (!row) return { state: 'failed', turnId: null };
  const { turnId } = row;
  if (row.state !== 'planned') return { state: row.state, turnId };
  const now = new Date();
  // A turn has one last word. Only a question of ours (to confirm) may be followed by what came of it.
  if (row.outcome !== null && row.outcome !== 'question') {
    await scope.tx.outbox.update({
      where: { id: outboxId },
      data: { state: 'discarded', code: 'answered_already', settledAt: now },
    });
    return { state: 'discarded', turnId };
  }
  if (row.paused) {
    // A person has taken the chat over since this was written: two voices would be worse than none.
    await scope.tx.outbox.update({
      where: { id: outboxId },
      data: { state: 'discarded', code: 'paused', settledAt: now },
    });
    if (turnId !== null) await closeTurn(scope, { turnId, kind: 'handOff', reason: 'human' });
    return { state: 'discarded', turnId };
  }
  const { lastSequence } = await scope.tx.chat.update({
    where: { id: row.chatId },
    data: { lastSequence: { increment: 1 } },
    select: { lastSequence: true },
  });
  await scope.tx.outbox.update({
    where: { id: outboxId },
    data: {
      state: 'sent',
      sequence: lastSequence,
      attempts: { increment: 1 },
      sendingAt: now,
      settledAt: now,
    },
  });
  if (turnId !== null) await closeTurn(scope, { turnId, kind: row.kind });
  await notify(scope, { chatId: row.chatId, what: 'outbox' });
  return { state: 'sent', turnId };
}

/** The turn's last word has gone out: its first message gets the outcome, those merged into it say so. */
async function closeTurn(
  scope: Scope,
  { turnId, kind, reason }: { turnId: string; kind: OutboxKind; reason?: string },
): Promise<void> {
  const state = kind === 'handOff' ? 'handed_off' : messageStateAfter(kind);
  if (state === undefined) return;
  const settledAt = new Date();
  const closed = await scope.tx.turn.updateMany({
    where: { id: turnId, state: { not: 'closed' } },
    data: { state: 'closed', outcome: kind, closedAt: settledAt },
  });
  if (closed.count === 0) return;
  const waiting = await scope.tx.inbox.findMany({
    where: { turnId, state: 'accepted' },
    orderBy: { sequence: 'desc' },
    select: { id: true },
  });
  const [last, ...merged] = waiting.map((row) => row.id);
  if (last === undefined) return;
  const turn = await scope.tx.turn.findUniqueOrThrow({ where: { id: turnId }, select: { gate: true } });
  await scope.tx.inbox.update({
    where: { id: last },
    data: { state, reason: reason ?? turn.gate, settledAt },
  });
  if (merged.length > 0) {
    await scope.tx.inbox.updateMany({
      where: { id: { in: merged } },
      data: { state: 'merged', reason: 'answered with a later message', settledAt },
    });
  }
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
