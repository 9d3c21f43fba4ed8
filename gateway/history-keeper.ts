// Keeps the histories of what ended badly, before Temporal forgets them: a failed run can be replayed after the holidays,
// and after the retention. Two lists are looked at: our rows, because a run whose step failed completes like any other;
// and Temporal's own, because a run that an engineer terminated left no word in a row. One round at a time; ends cleanly.
import { WorkflowNotFoundError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import pLimit from 'p-limit';
import { z } from 'zod';
import { errorFacts, type Logger } from '../config/logger.js';
import type { Database } from '../prisma/database.js';
import {
  executionsKept,
  keepHistory,
  runsWithoutHistory,
  type ExecutionStatus,
} from '../prisma/stores/run-histories.js';
import { CONVERSATION_WORKFLOW } from '../workflows/conversation/contract.js';
import { TASK_QUEUE, toolRunWorkflowId } from '../workflows/domain/ids.js';
import { TOOL_RUN_WORKFLOW } from '../workflows/tool-run/contract.js';

const EVERY_MS = 60_000;
/** A run says its last word after its row is closed. */
const CLOSED_FOR_MS = 10_000;
/** A round is bounded: what is left waits for the next one. */
const AT_ONCE = 50;
const CALLS_AT_ONCE = 4;
const CALL_DEADLINE_MS = 10_000;
/** For the whole of Temporal's list: long at the first round only. */
const LIST_DEADLINE_MS = 60_000;
const PAGE = 200;
/** Clocks differ, and Temporal's list may be late. */
const OVERLAP_MS = 10 * 60_000;

export interface KeptRound {
  kept: number;
  /** Temporal had forgotten them already. */
  gone: number;
  failed: number;
}

export interface HistoryKeeper {
  /** One round; also what the timer runs. */
  keepOnce(): Promise<KeptRound>;
  start(): void;
  /** Waits for the call under way, and leaves the rest of the round for the next start. */
  stop(): Promise<void>;
}

/** What both workflows are started with. */
const startedWith = z.object({ tenantId: z.uuid(), chatId: z.uuid(), turnId: z.uuid().optional() });
const historyHead = z.object({
  events: z
    .array(
      z.object({
        workflowExecutionStartedEventAttributes: z
          .object({ input: z.object({ payloads: z.array(z.object({ data: z.string() })) }) })
          .optional(),
      }),
    )
    .min(1),
});

const BAD_ENDS = ['Failed', 'Terminated', 'TimedOut', 'Canceled'];

const STATUS_OF: Readonly<Record<string, ExecutionStatus>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
  CANCELLED: 'cancelled',
  CANCELED: 'cancelled',
  CONTINUED_AS_NEW: 'continued',
};

/** For Temporal's list: our workflows that didn't complete, closed at or after `since`. */
export function badEndsQuery(since?: Date): string {
  return [
    `TaskQueue = "${TASK_QUEUE}"`,
    `WorkflowType IN ("${TOOL_RUN_WORKFLOW}", "${CONVERSATION_WORKFLOW}")`,
    `ExecutionStatus IN (${BAD_ENDS.map((status) => `"${status}"`).join(', ')})`,
    ...(since === undefined ? [] : [`CloseTime >= "${since.toISOString()}"`]),
  ].join(' AND ');
}

type Execution = Pick<WorkflowExecutionInfo, 'workflowId' | 'runId' | 'type' | 'status' | 'closeTime'>;

export function createHistoryKeeper(deps: {
  database: Database;
  client: Client;
  logger: Logger;
  /** How long a run's row has to be closed. Absent: long enough for its workflow to have said its last word. */
  closedForMs?: number;
}): HistoryKeeper {
  const { database, client, logger, closedForMs = CLOSED_FOR_MS } = deps;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<unknown> = Promise.resolve();
  let stopped = false;
  /** Everything that ended before is looked at. Undefined: nothing yet, Temporal's whole list is read. */
  let lookedUpTo: Date | undefined;
  /** Executions of other installations in the same namespace. */
  const foreign = new Set<string>();

  const inTime = <T>(work: () => Promise<T>): Promise<T> =>
    client.withDeadline(Date.now() + CALL_DEADLINE_MS, work);

  async function keepOnce(): Promise<KeptRound> {
    const counted: KeptRound = { kept: 0, gone: 0, failed: 0 };
    const limit = pLimit(CALLS_AT_ONCE);
    let firstError: unknown;
    const each = (work: () => Promise<keyof KeptRound | undefined>): Promise<void> =>
      limit(async () => {
        if (stopped) return;
        try {
          const what = await work();
          if (what) counted[what] += 1;
        } catch (error) {
          counted.failed += 1;
          firstError ??= error;
        }
      });
    const began = new Date();
    const byRow = await runsWithoutHistory(database.prisma, { olderThanMs: closedForMs, limit: AT_ONCE });
    await Promise.all(byRow.map((run) => each(() => keepRun(run))));
    const { executions, isAll } = await endedBadly();
    await Promise.all(executions.map((execution) => each(() => keepExecution(execution))));
    if (isAll && counted.failed === 0) lookedUpTo = began;
    if (counted.kept + counted.gone > 0) logger.event('histories.kept', { ...counted });
    if (counted.failed > 0) {
      logger.warn('histories.not_kept', { failed: counted.failed, ...errorFacts(firstError) });
    }
    return counted;
  }

  async function keepRun(run: {
    tenantId: string;
    chatId: string;
    turnId: string;
    closedAt: Date;
  }): Promise<'kept' | 'gone' | undefined> {
    const workflowId = toolRunWorkflowId(run);
    try {
      return await keepExecution(await inTime(() => client.workflow.getHandle(workflowId).describe()));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      const gone = { executionId: 'unknown', workflowType: TOOL_RUN_WORKFLOW, history: 'gone' } as const;
      await database.inTenant(run.tenantId, (tx) => keepHistory(tx, { ...run, ...gone, workflowId }));
      return 'gone';
    }
  }

  /** Nothing: it is still under way, or not ours. */
  async function keepExecution(execution: Execution): Promise<'kept' | undefined> {
    const { workflowId, runId: executionId, type: workflowType, closeTime: closedAt } = execution;
    const status = STATUS_OF[execution.status.name];
    if (!status) return undefined;
    const history = await inTime(() => client.workflow.getHandle(workflowId, executionId).fetchHistory());
    const json = historyToJSON(history);
    const about = inputOf(json);
    const events = history.events?.length ?? 0;
    const isKept =
      about !== undefined &&
      (await database.inTenant(about.tenantId, (tx) =>
        keepHistory(tx, {
          ...about,
          workflowId,
          executionId,
          workflowType,
          status,
          closedAt,
          history: { json, events },
        }),
      ));
    if (isKept) return 'kept';
    foreign.add(executionId);
    return undefined;
  }

  /** What Temporal lists as ended badly and nobody has kept, the newest first. */
  async function endedBadly(): Promise<{ executions: Execution[]; isAll: boolean }> {
    const query = badEndsQuery(lookedUpTo && new Date(lookedUpTo.getTime() - OVERLAP_MS));
    const listed = new Set<string>();
    const open: Execution[] = [];
    let page: Execution[] = [];
    const sift = async (): Promise<void> => {
      const ids = page.map(({ runId }) => runId);
      const kept = await executionsKept(database.prisma, ids);
      open.push(...page.filter(({ runId }) => !kept.has(runId) && !foreign.has(runId)));
      for (const id of ids) listed.add(id);
      page = [];
    };
    await client.withDeadline(Date.now() + LIST_DEADLINE_MS, async () => {
      for await (const execution of client.workflow.list({ query, pageSize: PAGE })) {
        if (page.push(execution) === PAGE) await sift();
        if (stopped || open.length > AT_ONCE) break;
      }
      await sift();
    });
    const isAll = open.length <= AT_ONCE && !stopped;
    // Older ones are never listed again.
    if (isAll) for (const id of foreign) if (!listed.has(id)) foreign.delete(id);
    return { executions: open.slice(0, AT_ONCE), isAll };
  }

  function plan(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      round = keepOnce()
        .catch((error: unknown) => {
          logger.warn('histories.round_failed', errorFacts(error));
        })
        .finally(plan);
    }, EVERY_MS);
  }

  return {
    keepOnce,
    start: plan,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}

/** Undefined: nothing of ours was started with this. */
function inputOf(json: string): z.infer<typeof startedWith> | undefined {
  const head = historyHead.safeParse(JSON.parse(json));
  const data = head.data?.events[0]?.workflowExecutionStartedEventAttributes?.input.payloads[0]?.data ?? '';
  try {
    return startedWith.safeParse(JSON.parse(Buffer.from(data, 'base64').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
