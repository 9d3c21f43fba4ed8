// Effects of which nobody knows whether they happened, as owners see them until somebody has found out.
import type { JsonObject } from '../../../workflows/domain/tool.js';
import { inOrder, readable, type Scope } from '../scope.js';
import { addressesOf } from './addresses.js';
import { jsonObjectOf } from './approvals.js';

export interface UnknownStep {
  stepId: string;
  ref: string;
  tool: string;
  /** Undefined: erased. */
  arguments: JsonObject | undefined;
  /** The chat's address; undefined: erased. */
  chat: string | undefined;
  channel: string;
  turnId: string;
  finishedAt: Date;
}

/** The oldest first; `ref`, `turnId`: only that one, or those of that turn. */
export async function unknownSteps(
  scope: Scope,
  { ref, turnId, limit }: { ref?: string; turnId?: string; limit: number },
): Promise<UnknownStep[]> {
  const rows = await scope.tx.step.findMany({
    where: { state: 'unknown', ref: ref ?? { not: null }, ...(turnId !== undefined && { turnId }) },
    orderBy: [{ finishedAt: 'asc' }, { id: 'asc' }],
    take: limit,
    include: { run: { select: { chatId: true } } },
  });
  const chatIds = rows.map(({ run }) => run.chatId);
  const addresses = await addressesOf(scope, chatIds);
  const chats = await scope.tx.chat.findMany({
    where: { id: { in: chatIds } },
    select: { id: true, account: { select: { channel: true } } },
  });
  return inOrder(rows, async (row) => ({
    stepId: row.id,
    ref: row.ref ?? '',
    tool: row.tool,
    arguments: jsonObjectOf(
      await readable(scope, {
        table: 'steps',
        column: 'arguments_cipher',
        rowId: row.id,
        keyId: row.keyId,
        cipher: row.argumentsCipher,
      }),
    ),
    chat: addresses.get(row.run.chatId),
    channel: chats.find(({ id }) => id === row.run.chatId)?.account.channel ?? '',
    turnId: row.turnId,
    finishedAt: row.finishedAt ?? row.startedAt ?? new Date(0),
  }));
}
