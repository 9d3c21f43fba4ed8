// What can be listed without opening any content: ids, codes, states and times. For the command line, which runs on screens
// that others see, and which works without the master key.
import type { ApprovalState } from '../../../workflows/domain/approval.js';
import type { MessageState } from '../../../workflows/domain/message.js';
import type { Prisma } from '../../generated/client.js';
import type { Tx } from '../../database.js';

export interface ApprovalLine {
  approvalId: string;
  ref: string;
  tool: string;
  rule: string;
  state: string;
  chatId: string;
  turnId: string;
  stepId: string;
  argumentsHash: string;
  askedAt: Date;
  expiresAt: Date;
  /** Ids of the owners who are asked; empty: every owner. */
  approvers: string[];
  /** How many of them have to say yes. */
  needed: number;
  /** `refuse` or `handOff`: what silence means for the customer. */
  onExpiry: string;
  /** The newest last. */
  decisions: { decision: string; surface: string; approver: string; decidedAt: Date }[];
}

const approvalSelect = {
  id: true,
  ref: true,
  tool: true,
  rule: true,
  state: true,
  chatId: true,
  turnId: true,
  stepId: true,
  argumentsHash: true,
  askedAt: true,
  expiresAt: true,
  approvers: true,
  needed: true,
  onExpiry: true,
  decisions: {
    select: { decision: true, surface: true, approver: true, decidedAt: true },
    orderBy: { decidedAt: 'asc' },
  },
} satisfies Prisma.ApprovalSelect;

/** `open`: to be decided, in time; the nearest deadline first. Others the newest first. What customers confirm is not here. */
export async function approvalLines(
  tx: Tx,
  { state, limit, now }: { state: ApprovalState | 'all'; limit: number; now: Date },
): Promise<ApprovalLine[]> {
  const isOpen = state === 'open';
  const rows = await tx.approval.findMany({
    where: {
      gate: 'approve',
      ...(state !== 'all' && { state }),
      ...(isOpen && { expiresAt: { gt: now } }),
    },
    orderBy: isOpen ? [{ expiresAt: 'asc' }, { id: 'asc' }] : [{ askedAt: 'desc' }, { id: 'asc' }],
    take: limit,
    select: approvalSelect,
  });
  return rows.map(({ id, ...row }) => ({ approvalId: id, ...row }));
}

/** The newest with this REF. */
export async function approvalLine(tx: Tx, ref: string): Promise<ApprovalLine | undefined> {
  const row = await tx.approval.findFirst({
    where: { ref, gate: 'approve' },
    orderBy: { askedAt: 'desc' },
    select: approvalSelect,
  });
  if (!row) return undefined;
  const { id, ...line } = row;
  return { approvalId: id, ...line };
}

export interface PlainMessage {
  messageId: string;
  chatId: string;
  sequence: number;
  channel: string;
  kind: string;
  speaker: string;
  state: string;
  reason: string | null;
  receivedAt: Date;
  settledAt: Date | null;
  /** Where its turn and its run stand; null: nobody has taken it up, or it has no run. */
  turnState: string | null;
  runState: string | null;
  runId: string | null;
}

/** Open ones the oldest first, others the newest first. */
export async function plainMessages(
  tx: Tx,
  { state, limit }: { state: MessageState | 'open' | 'all'; limit: number },
): Promise<PlainMessage[]> {
  const isOpen = state === 'open' || state === 'accepted';
  const rows = await tx.inbox.findMany({
    where: state === 'all' ? {} : { state: isOpen ? 'accepted' : state },
    orderBy: [{ receivedAt: isOpen ? 'asc' : 'desc' }, { id: 'asc' }],
    take: limit,
    select: {
      id: true,
      chatId: true,
      sequence: true,
      channel: true,
      kind: true,
      speaker: true,
      state: true,
      reason: true,
      receivedAt: true,
      settledAt: true,
      turn: { select: { state: true, run: { select: { turnId: true, state: true } } } },
    },
  });
  return rows.map(({ id, turn, ...row }) => ({
    messageId: id,
    ...row,
    turnState: turn?.state ?? null,
    runState: turn?.run?.state ?? null,
    runId: turn?.run?.turnId ?? null,
  }));
}

/** How many messages are in which state, and how old the oldest open one is. */
export async function messageCounts(tx: Tx): Promise<{ state: string; count: number; oldest: Date }[]> {
  const groups = await tx.inbox.groupBy({
    by: ['state'],
    _count: { _all: true },
    _min: { receivedAt: true },
    orderBy: { state: 'asc' },
  });
  return groups.flatMap(({ state, _count, _min }) =>
    _min.receivedAt ? [{ state, count: _count._all, oldest: _min.receivedAt }] : [],
  );
}

/** A message of ours that is on its way, or may or may not have arrived. */
export interface OpenSend {
  outboxId: string;
  chatId: string;
  kind: string;
  state: string;
  code: string | null;
  plannedAt: Date;
}

/** The oldest first. */
export async function openSends(tx: Tx, limit: number): Promise<OpenSend[]> {
  const rows = await tx.outbox.findMany({
    where: { state: { in: ['planned', 'sending', 'unknown'] } },
    orderBy: [{ plannedAt: 'asc' }, { id: 'asc' }],
    take: limit,
    select: { id: true, chatId: true, kind: true, state: true, code: true, plannedAt: true },
  });
  return rows.map(({ id, ...row }) => ({ outboxId: id, ...row }));
}

/** Whether this chat is one of the tenant's. */
export async function chatExists(tx: Tx, chatId: string): Promise<boolean> {
  return (await tx.chat.count({ where: { id: chatId } })) > 0;
}
