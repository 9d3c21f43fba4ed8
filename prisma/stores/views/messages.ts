// The closed account of messages (spec G1), from its open side: what nobody has answered yet, and for how long.
import { MESSAGE_STATES, type MessageState } from '../../../workflows/domain/message.js';
import { inOrder, readable, type Scope } from '../scope.js';
import { addressesOf } from './addresses.js';

export interface MessageLine {
  messageId: string;
  /** The sender's own id of it. */
  id: string;
  chat: string | undefined;
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

/** Open ones the oldest first, others the newest first. */
export async function listMessages(
  scope: Scope,
  { state, limit }: { state: MessageState | 'open' | 'all'; limit: number },
): Promise<MessageLine[]> {
  const isOpen = state === 'open' || state === 'accepted';
  const rows = await scope.tx.inbox.findMany({
    where: state === 'all' ? {} : { state: isOpen ? 'accepted' : state },
    orderBy: [{ receivedAt: isOpen ? 'asc' : 'desc' }, { id: 'asc' }],
    take: limit,
    include: {
      turn: { select: { state: true, route: true, run: { select: { turnId: true, state: true } } } },
    },
  });
  const addresses = await addressesOf(
    scope,
    rows.map((row) => row.chatId),
  );
  return inOrder(rows, async (row): Promise<MessageLine> => ({
    messageId: row.id,
    id: row.externalId,
    chat: addresses.get(row.chatId),
    sequence: row.sequence,
    text: await readable(scope, {
      table: 'inbox',
      column: 'content_cipher',
      rowId: row.id,
      keyId: row.keyId,
      cipher: row.contentCipher,
    }),
    state: stateOf(row.state),
    reason: row.reason ?? undefined,
    receivedAt: row.receivedAt,
    settledAt: row.settledAt ?? undefined,
    ...(row.turn && { turn: { state: row.turn.state, route: row.turn.route ?? undefined } }),
    ...(row.turn?.run && { run: { runId: row.turn.run.turnId, state: row.turn.run.state } }),
  }));
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
  /** Steps or sends that may or may not have happened. */
  unknown: number;
}

/** The numbers beside the names of the console's pages: one round trip. */
export async function countWaiting(scope: Scope): Promise<Counts> {
  const [row] = await scope.tx.$queryRaw<Counts[]>`
    select
      (select count(*) from approvals where gate = 'approve' and state = 'open' and expires_at > now())::int as approvals,
      (select count(*) from inbox where state = 'accepted')::int as messages,
      ((select count(*) from steps where state = 'unknown') + (select count(*) from outbox where state = 'unknown'))::int
        as unknown`;
  return row ?? { approvals: 0, messages: 0, unknown: 0 };
}
