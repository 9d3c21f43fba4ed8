// Histories of runs and conversations that ended badly, kept after Temporal forgets them. They hold what Temporal held:
// ids, hashes, codes and times.
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Tx } from '../database.js';
import type { SweepRange } from '../functions.js';
import type { PrismaClient } from '../generated/client.js';

export const EXECUTION_STATUSES = [
  'completed',
  'failed',
  'terminated',
  'timed_out',
  'cancelled',
  'continued',
] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** Which execution of which workflow; the same id may have had several. */
export interface ExecutionRef {
  workflowId: string;
  executionId: string;
}

export interface HistoryToKeep extends ExecutionRef {
  tenantId: string;
  chatId: string;
  /** Absent: it is a conversation's. */
  turnId?: string | undefined;
  workflowType: string;
  /** Absent: Temporal has forgotten it. */
  status?: ExecutionStatus | undefined;
  closedAt?: Date | undefined;
  /** JSON of Temporal's protocol, or why there is none. */
  history: { json: string; events: number } | 'gone' | 'too_large';
}

/** About one of ours; a short JSON is 20 kB, and one of these would be a run of thousands of steps. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Keeps it once. False: it was kept before, or nobody of this tenant knows the chat or the turn (a namespace that several
 * installations share).
 */
export async function keepHistory(tx: Tx, kept: HistoryToKeep): Promise<boolean> {
  const { tenantId, chatId, turnId, history } = kept;
  const isOurs =
    (await tx.chat.count({ where: { id: chatId } })) > 0 &&
    (turnId === undefined || (await tx.turn.count({ where: { id: turnId } })) > 0);
  if (!isOurs) return false;
  const packed = typeof history === 'string' ? undefined : await promisify(gzip)(history.json);
  const isTooLarge = packed !== undefined && packed.byteLength > MAX_BYTES;
  const { count } = await tx.runHistory.createMany({
    data: [
      {
        id: randomUUID(),
        tenantId,
        chatId,
        turnId: turnId ?? null,
        workflowId: kept.workflowId,
        executionId: kept.executionId,
        workflowType: kept.workflowType,
        status: kept.status ?? null,
        closedAt: kept.closedAt ?? null,
        events: typeof history === 'string' ? 0 : history.events,
        history: packed && !isTooLarge ? packed : null,
        missing: typeof history === 'string' ? history : isTooLarge ? 'too_large' : null,
      },
    ],
    skipDuplicates: true,
  });
  return count === 1;
}

export interface KeptHistory extends ExecutionRef {
  turnId: string | undefined;
  status: string | undefined;
  events: number;
  /** Why it is not there. Absent: it is. */
  missing: string | undefined;
  closedAt: Date | undefined;
  keptAt: Date;
}

/** What is kept, the newest first, without the histories themselves. */
export async function listHistories(
  tx: Tx,
  of: { turnIds: string[] } | { workflowId: string },
): Promise<KeptHistory[]> {
  const rows = await tx.runHistory.findMany({
    where: 'workflowId' in of ? { workflowId: of.workflowId } : { turnId: { in: of.turnIds } },
    orderBy: [{ keptAt: 'desc' }, { id: 'asc' }],
    omit: { history: true },
  });
  return rows.map((row) => ({
    workflowId: row.workflowId,
    executionId: row.executionId,
    turnId: row.turnId ?? undefined,
    status: row.status ?? undefined,
    events: row.events,
    missing: row.missing ?? undefined,
    closedAt: row.closedAt ?? undefined,
    keptAt: row.keptAt,
  }));
}

/** The newest history of a workflow id, or that of one execution, as JSON. Undefined: none is kept. */
export async function readHistory(
  tx: Tx,
  of: { workflowId: string; executionId?: string | undefined },
): Promise<string | undefined> {
  const row = await tx.runHistory.findFirst({
    where: {
      workflowId: of.workflowId,
      ...(of.executionId !== undefined && { executionId: of.executionId }),
      history: { not: null },
    },
    orderBy: { keptAt: 'desc' },
    select: { history: true },
  });
  return row?.history ? (await promisify(gunzip)(row.history)).toString('utf8') : undefined;
}

/** Those of these executions that are kept already, of whichever tenant. */
export async function executionsKept(
  prisma: Pick<PrismaClient, '$queryRaw'>,
  executionIds: readonly string[],
): Promise<Set<string>> {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    select id from aroko_executions_kept(${[...executionIds]}::text[]) as kept (id)`;
  return new Set(rows.map(({ id }) => id));
}

/** Runs whose row says that they ended badly, and whose history nobody has kept yet. */
export async function runsWithoutHistory(
  prisma: Pick<PrismaClient, '$queryRaw'>,
  { olderThanMs, limit }: SweepRange,
): Promise<{ tenantId: string; chatId: string; turnId: string; closedAt: Date }[]> {
  return prisma.$queryRaw`
    select tenant_id as "tenantId", chat_id as "chatId", turn_id as "turnId", closed_at as "closedAt"
    from aroko_runs_without_history(make_interval(secs => ${olderThanMs / 1000}::float8), ${limit}::int)`;
}
