// Effects of which nobody knows whether they happened, as owners see them until somebody has found out.
import type { JsonObject } from '../../../workflows/domain/tool.js';
import { inOrder, readable, type Scope } from '../scope.js';
import { chatLabels, type ChatLabel } from './chat-labels.js';
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
  chatId: string;
  /** The chat as people tell it from others. */
  with: ChatLabel | undefined;
  turnId: string;
  finishedAt: Date;
  /** What somebody found out; absent: nobody has yet. `by`: `owner:<id>`, `cli` … */
  finding?: { happened: boolean; by: string; at: Date };
}

/**
 * The oldest first; `ref`, `stepId`, `turnId`: only that one, or those of that turn. `settledSince`: also those of which somebody has
 * said since then what they found out.
 */
export async function unknownSteps(
  scope: Scope,
  {
    ref,
    turnId,
    stepId,
    settledSince,
    limit,
  }: { ref?: string; turnId?: string; stepId?: string; settledSince?: Date; limit: number },
): Promise<UnknownStep[]> {
  const rows = await scope.tx.step.findMany({
    where: {
      ref: ref ?? { not: null },
      ...(turnId !== undefined && { turnId }),
      ...(stepId !== undefined && { id: stepId }),
      OR: [{ state: 'unknown' }, ...(settledSince ? [{ settledAt: { gt: settledSince } }] : [])],
    },
    orderBy: [{ finishedAt: 'asc' }, { id: 'asc' }],
    take: limit,
    include: { run: { select: { chatId: true } } },
  });
  const chatIds = rows.map(({ run }) => run.chatId);
  const labels = await chatLabels(scope, chatIds);
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
    chat: labels.get(row.run.chatId)?.address,
    channel: labels.get(row.run.chatId)?.channel ?? '',
    chatId: row.run.chatId,
    with: labels.get(row.run.chatId),
    turnId: row.turnId,
    finishedAt: row.finishedAt ?? row.startedAt ?? new Date(0),
    ...(row.state !== 'unknown' &&
      row.settledAt && {
        finding: { happened: row.state === 'succeeded', by: row.settledBy ?? '', at: row.settledAt },
      }),
  }));
}
