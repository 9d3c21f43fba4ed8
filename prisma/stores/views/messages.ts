// The closed account of messages (spec G1): what nobody has answered yet and for how long, and what became of all others.
import { MESSAGE_STATES, type MessageState } from '../../../workflows/domain/message.js';
import { readableTogether, type Scope } from '../scope.js';
import { chatLabels, type ChatLabel } from './chat-labels.js';

export interface MessageLine {
  messageId: string;
  /** The sender's own id of it. */
  id: string;
  chatId: string;
  chat: string | undefined;
  with: ChatLabel | undefined;
  /** Who wrote it: `customer`, `owner:<id>`, `operator:<id>`, `business`, `platform`. */
  speaker: string;
  kind: string;
  sequence: number;
  text: string | undefined;
  state: MessageState;
  reason: string | undefined;
  receivedAt: Date;
  settledAt: Date | undefined;
  /** Where its turn stands; absent while nobody has taken it up. */
  turn?: { state: string; route: string | undefined };
  /** Where its run stands, where it has one. */
  run?: { runId: string; state: string };
}

export type MessageFilter = MessageState | 'open' | 'settled' | 'all';

/** Open ones the oldest first, others the newest first. `before`: goes on behind this message. Three round trips. */
export async function listMessages(
  scope: Scope,
  { state, before, limit }: { state: MessageFilter; before?: string | undefined; limit: number },
): Promise<MessageLine[]> {
  const isOpen = state === 'open' || state === 'accepted';
  const rows = await scope.tx.inbox.findMany({
    where: whereOf(state),
    orderBy: [{ receivedAt: isOpen ? 'asc' : 'desc' }, { id: 'asc' }],
    take: limit,
    ...(before !== undefined && { cursor: { id: before }, skip: 1 }),
    include: {
      turn: { select: { state: true, route: true, run: { select: { turnId: true, state: true } } } },
    },
  });
  const labels = await chatLabels(
    scope,
    rows.map((row) => row.chatId),
  );
  const texts = await readableTogether(
    scope,
    rows.map((row) => ({
      table: 'inbox',
      column: 'content_cipher',
      rowId: row.id,
      keyId: row.keyId,
      cipher: row.contentCipher,
    })),
  );
  return rows.map((row, index): MessageLine => ({
    messageId: row.id,
    id: row.externalId,
    chatId: row.chatId,
    chat: labels.get(row.chatId)?.address,
    with: labels.get(row.chatId),
    speaker: row.speaker,
    kind: row.kind,
    sequence: row.sequence,
    text: texts[index],
    state: stateOf(row.state),
    reason: row.reason ?? undefined,
    receivedAt: row.receivedAt,
    settledAt: row.settledAt ?? undefined,
    ...(row.turn && { turn: { state: row.turn.state, route: row.turn.route ?? undefined } }),
    ...(row.turn?.run && { run: { runId: row.turn.run.turnId, state: row.turn.run.state } }),
  }));
}

function whereOf(state: MessageFilter): { state?: string | { not: string } } {
  switch (state) {
    case 'all':
      return {};
    case 'settled':
      return { state: { not: 'accepted' } };
    case 'open':
      return { state: 'accepted' };
    default:
      return { state };
  }
}

function stateOf(state: string): MessageState {
  const known = MESSAGE_STATES.find((one) => one === state);
  if (!known) throw new Error('a message is in a state that the migration does not allow');
  return known;
}

export interface Counts {
  /** Approvals that wait for an owner. */
  approvals: number;
  /** Messages without an outcome. */
  messages: number;
  /** Steps that may or may not have happened. */
  unknown: number;
  /** Messages of ours that may or may not have arrived. */
  sends: number;
  /** Chats that a person has. */
  taken: number;
  /** Switches that are off: effects are stopped. */
  switchedOff: number;
}

/** The numbers beside the names of the console's pages: one round trip. */
export async function countWaiting(scope: Scope): Promise<Counts> {
  const [row] = await scope.tx.$queryRaw<Counts[]>`
    select
      (select count(*) from approvals where gate = 'approve' and state = 'open' and expires_at > now())::int as approvals,
      (select count(*) from inbox where state = 'accepted')::int as messages,
      (select count(*) from steps where state = 'unknown')::int as unknown,
      (select count(*) from outbox where state = 'unknown')::int as sends,
      (select count(*) from chats where paused_at is not null and (paused_until is null or paused_until > now()))::int as taken,
      (select count(*) from switches where scope_id is null and value = 'off')::int as "switchedOff"`;
  return row ?? { approvals: 0, messages: 0, unknown: 0, sends: 0, taken: 0, switchedOff: 0 };
}
