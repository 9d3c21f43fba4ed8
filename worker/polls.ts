// Whether the worker still asks Temporal for work. The server's own list of pollers is the proof: an idle worker has no
// task to show, but it polls at least once a minute, and one that is stuck doesn't.
import type { NativeConnection } from '@temporalio/worker';

export interface PollReport {
  /** The SDK says so. */
  isRunning: boolean;
  isTemporalReachable: boolean;
  /** Since Temporal last saw a poll of this worker. Undefined: it couldn't be asked, or has seen none. */
  workflowSeconds: number | undefined;
  activitySeconds: number | undefined;
  /** Temporal answers, and has not seen us for too long. */
  isStale: boolean;
}

export interface Polls {
  look(): Promise<PollReport>;
}

/**
 * When Temporal last saw a poll of this worker (epoch milliseconds). Undefined: none so far. Rejects while it can't be
 * asked.
 */
export type LastPoll = (kind: 'workflow' | 'activity') => Promise<number | undefined>;

/** A poll without work ends after a minute. */
const STALE_AFTER_MS = 3 * 60_000;
const DEADLINE_MS = 3_000;
/** Whoever asks more often gets the same answer: health must cost nothing. */
const KEPT_MS = 5_000;

export function createPolls(from: {
  isRunning: () => boolean;
  lastPoll: LastPoll;
  now?: () => number;
}): Polls {
  const { isRunning, lastPoll, now = Date.now } = from;
  const startedAt = now();
  let kept: { at: number; report: Promise<PollReport> } | undefined;

  async function look(): Promise<PollReport> {
    try {
      const [workflow, activity] = await inTime(Promise.all([lastPoll('workflow'), lastPoll('activity')]));
      const isLate = (at = startedAt): boolean => now() - at > STALE_AFTER_MS;
      const secondsSince = (at: number | undefined): number | undefined =>
        at === undefined ? undefined : Math.max(0, Math.round((now() - at) / 1_000));
      return {
        isRunning: isRunning(),
        isTemporalReachable: true,
        workflowSeconds: secondsSince(workflow),
        activitySeconds: secondsSince(activity),
        isStale: isLate(workflow) || isLate(activity),
      };
    } catch {
      // Nobody can tell, and a restart wouldn't bring Temporal back.
      const unknown = { workflowSeconds: undefined, activitySeconds: undefined };
      return { isRunning: isRunning(), isTemporalReachable: false, ...unknown, isStale: false };
    }
  }

  return {
    look() {
      if (kept === undefined || now() - kept.at >= KEPT_MS) kept = { at: now(), report: look() };
      return kept.report;
    },
  };
}

/** The SDK goes on trying beyond the deadline that it is given; whoever asks for health doesn't wait so long. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), DEADLINE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

type DescribeQueue = Parameters<NativeConnection['workflowService']['describeTaskQueue']>[0];
type QueueType = NonNullable<DescribeQueue['taskQueueType']>;

/** As `temporal.api.enums.v1.TaskQueueType` numbers them; the package of its types is none of ours. */
const isQueueType = (number: number): number is QueueType => number === 1 || number === 2;
const [WORKFLOW, ACTIVITY] = [1, 2].filter(isQueueType);

/** Asks the server who polls the queue; `identity` is how our worker calls itself. */
export function lastPollSeenBy(
  connection: NativeConnection,
  of: { namespace: string; taskQueue: string; identity: string },
): LastPoll {
  return async (kind) => {
    const { pollers } = await connection.withDeadline(Date.now() + DEADLINE_MS, () =>
      connection.workflowService.describeTaskQueue({
        namespace: of.namespace,
        taskQueue: { name: of.taskQueue },
        taskQueueType: (kind === 'workflow' ? WORKFLOW : ACTIVITY) ?? null,
      }),
    );
    const times = (pollers ?? [])
      .filter(({ identity }) => identity === of.identity)
      .map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000);
    return times.length === 0 ? undefined : Math.max(...times);
  };
}
