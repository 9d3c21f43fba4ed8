// The desk in a few numbers, and which chats a person has.
import type { Scope } from '../scope.js';
import { takeoverAt, type Takeover } from '../takeover.js';
import { chatLabels, type ChatLabel } from './chat-labels.js';

export interface DeskCounts {
  /** Requests that wait for an owner. */
  approvals: number;
  /** Messages that have no terminal state yet. */
  messages: number;
  /** Chats that a person has taken over. */
  taken: number;
  /** Questions that operators haven't answered. */
  questions: number;
}

export async function deskCounts({ tx }: Scope): Promise<DeskCounts> {
  const [row] = await tx.$queryRaw<DeskCounts[]>`
    select
      (select count(*)::int from approvals where state = 'open' and gate = 'approve' and expires_at > now()) as approvals,
      (select count(*)::int from inbox where state = 'accepted') as messages,
      (select count(*)::int from chats where paused_at is not null and (paused_until is null or paused_until > now())) as taken,
      (select count(*)::int from operator_requests where state = 'open' and expires_at > now()) as questions`;
  return row ?? { approvals: 0, messages: 0, taken: 0, questions: 0 };
}

/** Chats that this speaker has now. */
export async function chatsTakenBy({ tx }: Scope, by: string): Promise<string[]> {
  const rows = await tx.chat.findMany({
    where: {
      pausedBy: by,
      pausedAt: { not: null },
      OR: [{ pausedUntil: null }, { pausedUntil: { gt: new Date() } }],
    },
    select: { id: true },
  });
  return rows.map(({ id }) => id);
}

export interface TakenChat extends Takeover {
  chatId: string;
  with: ChatLabel | undefined;
}

/** Every chat that a person has now, the longest first. */
export async function takenChats(scope: Scope, { limit }: { limit: number }): Promise<TakenChat[]> {
  const now = new Date();
  const rows = await scope.tx.chat.findMany({
    where: { pausedAt: { not: null }, OR: [{ pausedUntil: null }, { pausedUntil: { gt: now } }] },
    orderBy: [{ pausedAt: 'asc' }, { id: 'asc' }],
    take: limit,
    select: { id: true, pausedAt: true, pausedUntil: true, pausedBy: true },
  });
  const labels = await chatLabels(
    scope,
    rows.map(({ id }) => id),
  );
  return rows.flatMap(({ id, ...row }) => {
    const takeover = takeoverAt(row, now);
    return takeover ? [{ ...takeover, chatId: id, with: labels.get(id) }] : [];
  });
}
