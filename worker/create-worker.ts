// The Temporal worker's options, each with its reason.
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from '../config/logger.js';
import type { InScope } from '../prisma/stores/scope.js';
import type { Activities } from '../workflows/activity-ports.js';
import { TASK_QUEUE } from '../workflows/domain/ids.js';
import { createFailureInterceptor } from './activity-failures.js';
import { workflowSource, type WorkflowSource } from './workflow-source.js';

/** Each activity holds a connection at most; the pool is a little larger, so that none waits for another. */
export const ACTIVITY_SLOTS = 16;
export const POOL_SIZE = ACTIVITY_SLOTS + 4;

export function createWorker(options: {
  connection: NativeConnection;
  namespace: string;
  activities: Activities;
  inScope: InScope;
  log: Logger;
  /** Bundled already, for a process that starts several. Absent: where they lie. */
  workflows?: WorkflowSource;
  /** Tests make it small, so that workflows are replayed from their histories. */
  maxCachedWorkflows?: number;
  /** The last word on the options, for the crash kit of the tests. Absent: as they are here. */
  wrapOptions?: (options: WorkerOptions) => WorkerOptions;
}): Promise<Worker> {
  const { connection, namespace, activities, inScope, log, wrapOptions = (same) => same } = options;
  const { workflows = workflowSource() } = options;
  const settings: WorkerOptions = {
    connection,
    namespace,
    taskQueue: TASK_QUEUE,
    ...workflows,
    activities: { ...activities },
    interceptors: { activity: [createFailureInterceptor({ inScope, log })] },
    maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
    // The default of 0 cuts activities off at once; a model call that is nearly done is worth three seconds.
    shutdownGraceTime: '3s',
    // Below the ten seconds that a person waits after Ctrl-C.
    shutdownForceTime: '5s',
    ...(options.maxCachedWorkflows !== undefined && { maxCachedWorkflows: options.maxCachedWorkflows }),
  };
  return Worker.create(wrapOptions(settings));
}
