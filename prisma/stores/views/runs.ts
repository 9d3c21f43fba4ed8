// Runs as owners and engineers see them: one line each.
import type { Scope } from '../scope.js';
import { chatLabels, type ChatLabel } from './chat-labels.js';
import type { Prisma } from '../../generated/client.js';

/** What a list shows of a run: codes only, nothing that somebody wrote. */
export interface RunCodes {
  /** The turn's id is the run's id. */
  runId: string;
  chatId: string;
  state: string;
  code: string | undefined;
  /** Tools of its steps, in order; empty while nothing is planned. */
  tools: string[];
  startedAt: Date;
  closedAt: Date | undefined;
  /** A step may or may not have happened, and a person has to find out. */
  isUnknown: boolean;
}

export interface RunLine extends RunCodes {
  /** The chat's address; undefined: erased. */
  chat: string | undefined;
  with: ChatLabel | undefined;
}

export interface RunFilter {
  /** `open`: not over. `unknown`: a step may or may not have happened. `failed`: that, or it ended badly. */
  only?: 'open' | 'unknown' | 'failed' | undefined;
  state?: string | undefined;
  /** Started at or after. */
  since?: Date | undefined;
  /** Started before. */
  until?: Date | undefined;
  /** Goes on behind this run. */
  before?: string | undefined;
  chatId?: string | undefined;
  /** Only these. */
  runIds?: readonly string[] | undefined;
  /** With `failed`: runs whose workflow ended badly, as Temporal lists them; their rows may not know it. */
  endedBadly?: readonly string[] | undefined;
  limit: number;
}

/** The newest first. */
export async function listRuns(scope: Scope, filter: RunFilter): Promise<RunLine[]> {
  const runs = await listRunCodes(scope.tx, filter);
  const labels = await chatLabels(
    scope,
    runs.map((run) => run.chatId),
  );
  return runs.map((run) => ({
    ...run,
    chat: labels.get(run.chatId)?.address,
    with: labels.get(run.chatId),
  }));
}

/** The same without the addresses: needs no key. */
export async function listRunCodes(tx: Scope['tx'], filter: RunFilter): Promise<RunCodes[]> {
  const { state, since, until, before, chatId, runIds, limit } = filter;
  const rows = await tx.toolRun.findMany({
    where: {
      ...whereOf(filter),
      ...(state !== undefined && { state }),
      ...((since ?? until) && { startedAt: { ...(since && { gte: since }), ...(until && { lt: until }) } }),
      ...(chatId !== undefined && { chatId }),
      ...(runIds && { AND: { turnId: { in: [...runIds] } } }),
    },
    orderBy: [{ startedAt: 'desc' }, { turnId: 'asc' }],
    take: limit,
    ...(before !== undefined && { cursor: { turnId: before }, skip: 1 }),
    include: { steps: { orderBy: { ordinal: 'asc' }, select: { tool: true, state: true } } },
  });
  return rows.map(codesOf);
}

function whereOf({ only, endedBadly = [] }: RunFilter): Prisma.ToolRunWhereInput {
  const isUnknown = { steps: { some: { state: 'unknown' } } };
  switch (only) {
    case 'open':
      return { open: true };
    case 'unknown':
      return isUnknown;
    case 'failed':
      return {
        OR: [{ state: { in: ['failed', 'unknown'] } }, isUnknown, { turnId: { in: [...endedBadly] } }],
      };
    case undefined:
      return {};
  }
}

/** Turns whose workflow ended before it had registered a run: there is nothing but the turn. */
export async function turnsWithoutRun(tx: Scope['tx'], filter: RunFilter): Promise<RunCodes[]> {
  const { endedBadly = [], since, chatId, limit } = filter;
  const rows = await tx.turn.findMany({
    where: {
      id: { in: [...endedBadly] },
      run: null,
      ...(since && { claimedAt: { gte: since } }),
      ...(chatId !== undefined && { chatId }),
    },
    orderBy: [{ claimedAt: 'desc' }, { id: 'asc' }],
    take: limit,
  });
  return rows.map((turn) => ({
    runId: turn.id,
    chatId: turn.chatId,
    state: 'never registered',
    code: undefined,
    tools: [],
    startedAt: turn.claimedAt,
    closedAt: turn.closedAt ?? undefined,
    isUnknown: false,
  }));
}

interface CodesRow {
  turnId: string;
  chatId: string;
  state: string;
  code: string | null;
  startedAt: Date;
  closedAt: Date | null;
  steps: { tool: string; state: string }[];
}

/** What a row says of its run. */
export function codesOf(row: CodesRow): RunCodes {
  return {
    runId: row.turnId,
    chatId: row.chatId,
    state: row.state,
    code: row.code ?? undefined,
    tools: row.steps.map((step) => step.tool),
    startedAt: row.startedAt,
    closedAt: row.closedAt ?? undefined,
    isUnknown: row.state === 'unknown' || row.steps.some((step) => step.state === 'unknown'),
  };
}

/** Whether the run of a turn has more to do or to say. */
export async function isRunOpen(tx: Scope['tx'], turnId: string): Promise<boolean> {
  return (await tx.toolRun.count({ where: { turnId, open: true } })) > 0;
}
