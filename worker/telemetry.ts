// What Temporal's own code logs goes through our logger: names and ids, no text.
import { DefaultLogger, type LogLevel, Runtime } from '@temporalio/worker';
import type { Facts, Logger } from '../config/logger.js';

const KEPT = [
  'workflowId',
  'runId',
  'workflowType',
  'activityType',
  'activityId',
  'attempt',
  'turnId',
  'taskQueue',
];

/** Installs the runtime; once per process, before any worker is made. */
export function installRuntime({ log }: { log: Logger }): void {
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      write(log, level)(`temporal.${slug(message)}`, factsOf(meta));
    }),
    // The process ends in its own order (config/process.ts).
    shutdownSignals: [],
  });
}

function write(log: Logger, level: LogLevel): Logger['warn'] {
  return level === 'ERROR' ? log.error : log.warn;
}

function slug(message: string): string {
  return message
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 60);
}

function factsOf(meta: unknown): Facts {
  if (typeof meta !== 'object' || meta === null) return {};
  return Object.fromEntries(
    Object.entries(meta).flatMap(([key, value]: [string, unknown]) =>
      KEPT.includes(key) && (typeof value === 'string' || typeof value === 'number') ? [[key, value]] : [],
    ),
  );
}
