// What Temporal's own code logs goes through our logger: names and ids, no text. What it counts is told on a port of this
// machine, from where metrics.ts fetches it.
import { createServer } from 'node:net';
import {
  DefaultLogger,
  type LogLevel,
  Runtime,
  type RuntimeOptions,
  type TelemetryOptions,
} from '@temporalio/worker';
import type { Facts, Logger } from '../config/logger.js';

const KEPT = [
  'workflowId',
  'runId',
  'run_id',
  'workflowType',
  'activityType',
  'activityId',
  'attempt',
  'turnId',
  'taskQueue',
];

/** A free port may be taken by somebody else before Temporal's core listens on it. */
const PORT_ATTEMPTS = 5;

/**
 * Installs the runtime; once per process, before any worker is made. With metrics it answers where Temporal's core tells
 * them.
 */
export async function installRuntime({
  log,
  withMetrics = false,
}: {
  log: Logger;
  withMetrics?: boolean;
}): Promise<{ metricsUrl?: string }> {
  if (!withMetrics) {
    Runtime.install(optionsOf(log, {}));
    return {};
  }
  for (let attempt = 1; ; attempt += 1) {
    const bindAddress = `127.0.0.1:${await freePort()}`;
    try {
      Runtime.install(optionsOf(log, { metrics: { prometheus: { bindAddress, ...CONVENTIONS } } }));
      return { metricsUrl: `http://${bindAddress}/metrics` };
    } catch (error) {
      if (attempt >= PORT_ATTEMPTS) throw error;
    }
  }
}

function optionsOf(log: Logger, telemetry: TelemetryOptions): RuntimeOptions {
  return {
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      write(log, level)(`temporal.${slug(message)}`, factsOf(meta));
    }),
    // Unless its native part forwards what it logs, it prints failures in full, with messages and stacks.
    telemetryOptions: {
      ...telemetry,
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
    },
    // The process ends in its own order (config/process.ts).
    shutdownSignals: [],
  };
}

/** As Prometheus wants it: seconds, units in the names, counters that say so. */
const CONVENTIONS = { useSecondsForDurations: true, unitSuffix: true, countersTotalSuffix: true };

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host: '127.0.0.1', port: 0 }, () => {
      const address = probe.address();
      probe.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port was given'));
        else resolve(address.port);
      });
    });
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
