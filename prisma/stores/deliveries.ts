// What a delivery does to the rows: it makes a message sent, gives it its place in the chat and settles what it answers, all
// in one transaction. On the web chat and the API that is all there is to it; a channel with a call of its own has the
// protocol of sends.ts around it.
import { messageStateAfter, type OutboxKind, type OutboxState } from '../../workflows/domain/message.js';
import { appendAudit } from '../functions.js';
import { notify, type Scope } from './scope.js';

/** An outbox row, locked together with its chat: whoever holds it decides what is said next in this chat. */
export interface Outgoing {
  outboxId: string;
  chatId: string;
  /** The turn of this chat that it belongs to. */
  turnId: string | null;
  turnOutcome: string | null;
  hasRun: boolean;
  kind: OutboxKind;
  state: OutboxState;
  code: string | null;
  originKind: string;
  originId: string;
  ordinal: number;
  sequence: number | null;
  attempts: number;
  fence: string | null;
  sendingAt: Date | null;
  channel: string;
  accountKey: string;
  /** A person has the chat now. */
  isTaken: boolean;
}

/** The origin of a part is the message that it is a part of. */
export const PART = 'part';

/** The origin of a session's fixed first message; `origin.id` is the session's. */
export const FIRST_MESSAGE = 'first_message';

/** `isHeld`: kept for when a person gives the chat back. */
export interface Settled {
  state: OutboxState;
  isHeld?: true;
}

/** Undefined: there is no such row. */
export async function lockOutgoing(scope: Scope, outboxId: string): Promise<Outgoing | undefined> {
  // Locked first, read afterwards: a statement that had to wait for its locks sees those rows as they are now, and everything
  // else (the lease, the turn) as it was before it waited. The chat first, as by whoever has it and discards words.
  await scope.tx.$queryRaw`
    with chat as materialized (select c.id from chats c join outbox o on o.chat_id = c.id where o.id = ${outboxId}::uuid
      for update of c)
    select 1 from outbox o join chat on chat.id = o.chat_id where o.id = ${outboxId}::uuid for update of o`;
  const [row] = await scope.tx.$queryRaw<Outgoing[]>`
    select o.id as "outboxId", o.chat_id as "chatId", t.id as "turnId", t.outcome as "turnOutcome",
      exists (select 1 from tool_runs r where r.turn_id = t.id) as "hasRun", o.kind, o.state, o.code, o.origin_kind as "originKind",
      o.origin_id as "originId", o.ordinal, o.sequence, o.attempts, o.fence, o.sending_at as "sendingAt", a.channel,
      a.account_key as "accountKey",
      (c.paused_at is not null and (c.paused_until is null or c.paused_until > now())) as "isTaken"
    from outbox o join chats c on c.id = o.chat_id join channel_accounts a on a.id = c.account_id
      left join turns t on t.id = o.turn_id and t.chat_id = o.chat_id
    where o.id = ${outboxId}::uuid`;
  return row;
}

/**
 * Delivers on a channel where the commit is the delivery (web chat and API): one transaction gives the message its place
 * in the chat, makes it sent, and settles what it answers. Repeating it changes nothing.
 */
export async function sendByCommit(scope: Scope, row: Outgoing): Promise<Settled> {
  const stopped = await stopOutgoing(scope, row);
  if (stopped) return stopped;
  await markSent(scope, row, {});
  return { state: 'sent' };
}

/** Outcomes after which more may be said in a turn: a question of ours, and words that never arrived. */
const GOES_ON: (string | null)[] = [null, 'question', 'undelivered'];

/** Whatever forbids a planned message to be said now; undefined where nothing does. */
export async function stopOutgoing(scope: Scope, row: Outgoing): Promise<Settled | undefined> {
  if (row.state !== 'planned') return { state: row.state };
  // A turn has one last word. Only a question of ours (to confirm) may be followed by what came of it.
  if (!GOES_ON.includes(row.turnOutcome)) return discard(scope, row, 'answered_already');
  if (!row.isTaken) return undefined;
  // A person has taken the chat over since this was written: two voices would be worse than none. What a run has done, and
  // what others have asked us to pass on, is told when the chat comes back.
  // A greeting after their conversation would be out of place.
  if (row.originKind !== FIRST_MESSAGE && (row.hasRun || row.turnId === null))
    return { state: 'planned', isHeld: true };
  const discarded = await discard(scope, row, 'paused');
  await closeTurn(scope, row, { state: 'handed_off', outcome: 'handOff', reason: 'human' });
  return discarded;
}

/** Also what was to follow it as parts of the same message: half a sentence later, without its beginning, is worse than none. */
async function discard(scope: Scope, row: Outgoing, code: string): Promise<Settled> {
  await scope.tx.outbox.update({
    where: { id: row.outboxId },
    data: { state: 'discarded', code, settledAt: new Date() },
  });
  await discardParts(scope, row, code);
  return { state: 'discarded' };
}

/** The parts of the same message that nobody has tried to send. */
export async function discardParts(scope: Scope, row: Outgoing, code: string): Promise<void> {
  await scope.tx.outbox.updateMany({
    where: { ...partsOf(row), state: 'planned' },
    data: { state: 'discarded', code, settledAt: new Date() },
  });
}

export function partsOf({ originKind, originId, outboxId }: Outgoing): {
  originKind: string;
  originId: string;
} {
  return { originKind: PART, originId: originKind === PART ? originId : outboxId };
}

/**
 * The message is out: it gets its place in the chat, and the turn its outcome. `isLast: false`: more parts of the same
 * message follow, and only the last of them closes the turn.
 */
export async function markSent(
  scope: Scope,
  row: Outgoing,
  { externalId, isLast = true }: { externalId?: string | undefined; isLast?: boolean },
): Promise<void> {
  const now = new Date();
  const sequence = row.sequence ?? (await nextSequence(scope, row.chatId));
  await scope.tx.outbox.update({
    where: { id: row.outboxId },
    data: {
      state: 'sent',
      code: null,
      sequence,
      settledAt: now,
      // A channel with a call has counted its attempt before the call.
      ...(row.state === 'planned' && { attempts: { increment: 1 }, sendingAt: now }),
      ...(externalId !== undefined && { externalId }),
    },
  });
  const state = row.kind === 'handOff' ? 'handed_off' : messageStateAfter(row.kind);
  if (state !== undefined && isLast) await closeTurn(scope, row, { state, outcome: row.kind });
  await notify(scope, { chatId: row.chatId, what: 'outbox' });
}

async function nextSequence(scope: Scope, chatId: string): Promise<number> {
  const { lastSequence } = await scope.tx.chat.update({
    where: { id: chatId },
    data: { lastSequence: { increment: 1 } },
    select: { lastSequence: true },
  });
  return lastSequence;
}

/**
 * The message will not arrive. What it should have answered has no answer, and is handed off: to whoever looks at what
 * could not be delivered (decision 0011). Audited, because somebody has to hear of it.
 */
export async function markFailed(scope: Scope, row: Outgoing, code: string): Promise<void> {
  await scope.tx.outbox.update({
    where: { id: row.outboxId },
    data: { state: 'failed', code, settledAt: new Date() },
  });
  // An acknowledgement answers nothing: the turn goes on.
  const answers = row.kind === 'handOff' || messageStateAfter(row.kind) !== undefined;
  const reason = `not delivered (${code})`;
  if (answers) {
    await closeTurn(scope, row, { state: 'handed_off', outcome: 'undelivered', reason });
    if (row.state === 'sent') await withdrawAnswer(scope, row, reason);
  }
  await notify(scope, { chatId: row.chatId, what: 'outbox' });
  await auditDelivery(scope, row, 'message_undelivered', { code, kind: row.kind });
}

/** It counted as answered, and the platform has now said that it never arrived. Other words that did arrive still count. */
async function withdrawAnswer(scope: Scope, row: Outgoing, reason: string): Promise<void> {
  const { turnId } = row;
  if (turnId === null) return;
  const [other] = await scope.tx.$queryRaw<unknown[]>`
    select 1 from outbox o where o.turn_id = ${turnId}::uuid and o.chat_id = ${row.chatId}::uuid and o.state = 'sent'
      and o.kind <> 'acknowledgement' and o.id <> ${row.outboxId}::uuid
      and not (o.origin_kind = 'part' and o.origin_id in (${row.outboxId}::uuid, ${row.originId}::uuid))
      and not (${row.originKind} = 'part' and o.id = ${row.originId}::uuid) limit 1`;
  if (other) return;
  await scope.tx.inbox.updateMany({
    where: { turnId, state: { in: ['answered', 'refused'] } },
    data: { state: 'handed_off', reason },
  });
  await scope.tx.turn.update({ where: { id: turnId }, data: { outcome: 'undelivered' } });
}

/** Nobody knows whether it arrived. The messages it answers stay open until a status or a person says. */
export async function markUnknown(scope: Scope, row: Outgoing, code: string): Promise<void> {
  await scope.tx.outbox.update({ where: { id: row.outboxId }, data: { state: 'unknown', code } });
  // No longer merely decided: else the sweep would ring for it again and again.
  if (row.turnId !== null) {
    await scope.tx.turn.updateMany({
      where: { id: row.turnId, state: { in: ['claimed', 'decided'] } },
      data: { state: 'running' },
    });
  }
  await notify(scope, { chatId: row.chatId, what: 'outbox' });
  await auditDelivery(scope, row, 'message_unknown', { code, kind: row.kind });
}

/** Call it last in the transaction: it locks the head of the chat's stream. */
export function auditDelivery(
  scope: Scope,
  row: Outgoing,
  event: string,
  facts: Record<string, string | number>,
  actor = 'assistant',
): Promise<number> {
  return appendAudit(scope.tx, { stream: row.chatId, event, subjectId: row.outboxId, actor, facts });
}

/** The turn's last word is settled: its first message gets the outcome, those merged into it say so. */
async function closeTurn(
  scope: Scope,
  { turnId }: Outgoing,
  { state, outcome, reason }: { state: string; outcome: string; reason?: string },
): Promise<void> {
  if (turnId === null) return;
  const settledAt = new Date();
  const closed = await scope.tx.turn.updateMany({
    where: { id: turnId, state: { not: 'closed' } },
    data: { state: 'closed', outcome, closedAt: settledAt },
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
