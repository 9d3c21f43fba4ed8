// Questions to people behind the desk, as owners see them: who was asked, until when, and what came of it.
import type { Scope } from '../scope.js';
import { chatLabels, type ChatLabel } from './chat-labels.js';

export interface OperatorQuestion {
  requestId: string;
  ref: string;
  operatorId: string;
  kind: 'media' | 'conversation';
  /** `overdue`: its time is over, and nobody has closed it yet. */
  state: 'open' | 'answered' | 'expired' | 'undeliverable' | 'cancelled' | 'overdue';
  askedAt: Date;
  remindedAt: Date | undefined;
  expiresAt: Date;
  closedAt: Date | undefined;
  chatId: string;
  chat: ChatLabel | undefined;
  /** The run that asked. */
  runId: string | undefined;
}

export type QuestionFilter = { only: 'open' } | { chatId: string } | { turnId: string } | { ref: string };

/** Open ones with the nearest end first, others the newest first. */
export async function listQuestions(
  scope: Scope,
  { filter, limit }: { filter: QuestionFilter; limit: number },
): Promise<OperatorQuestion[]> {
  const now = new Date();
  const isOpen = 'only' in filter;
  const rows = await scope.tx.operatorRequest.findMany({
    where: isOpen ? { state: 'open', expiresAt: { gt: now } } : filter,
    orderBy: isOpen ? [{ expiresAt: 'asc' }, { id: 'asc' }] : [{ askedAt: 'desc' }, { id: 'asc' }],
    take: limit,
  });
  const labels = await chatLabels(
    scope,
    rows.map((row) => row.chatId),
  );
  return rows.map((row) => ({
    requestId: row.id,
    ref: row.ref,
    operatorId: row.operatorId,
    kind: row.kind === 'media' ? 'media' : 'conversation',
    state: stateOf(row, now),
    askedAt: row.askedAt,
    remindedAt: row.remindedAt ?? undefined,
    expiresAt: row.expiresAt,
    closedAt: row.closedAt ?? undefined,
    chatId: row.chatId,
    chat: labels.get(row.chatId),
    runId: row.turnId ?? undefined,
  }));
}

const CLOSED = ['answered', 'expired', 'undeliverable', 'cancelled'] as const;

function stateOf(row: { state: string; expiresAt: Date }, now: Date): OperatorQuestion['state'] {
  const closed = CLOSED.find((state) => state === row.state);
  if (closed) return closed;
  return row.expiresAt > now ? 'open' : 'overdue';
}
