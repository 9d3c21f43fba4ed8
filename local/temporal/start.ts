/** Starts Temporal's development server with its UI, its state in a file of the data directory. */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { ChildFailure, lastLines, projectRoot, startChild } from '../child.js';
import type { DataDirectory } from '../data-directory.js';
import type { Hold } from '../hold.js';
import type { Running } from '../keep-running.js';
import { endProcess, isRunning } from '../processes.js';
import type { TemporalCli } from './cli.js';

/** The running server. */
export interface Temporal extends Running {
  address: string;
  uiUrl: string;
  ports: { server: number; ui: number };
  pids: { leash: number; server: number };
}

const host = '127.0.0.1';
const namespace = 'default';
/** The development server forgets after a day; a failed run must be there when somebody looks after the holidays. */
const retention = '30d';
const readyWithinMs = 30_000;
const ready = z.object({ type: z.literal('ready'), pid: z.number().int() });

/** Sets the retention; it only succeeds once the server answers, so it tells readiness as well. */
async function setRetention(cli: TemporalCli, address: string): Promise<boolean> {
  const update = ['operator', 'namespace', 'update', '--namespace', namespace, '--retention', retention];
  try {
    await promisify(execFile)(cli.path, [...update, '--address', address], { timeout: 5_000 });
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts the server on ports that were found free.
 * @throws ChildFailure when it doesn't come up.
 */
export async function startTemporal(want: {
  directory: DataDirectory;
  cli: TemporalCli;
  ports: { server: number; ui: number };
  hold: Hold;
  givesWay?: boolean | undefined;
}): Promise<Temporal> {
  const { directory, cli, ports, hold, givesWay } = want;
  const logFile = join(directory.logs, 'temporal.log');
  const logStart = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  const address = `${host}:${ports.server}`;
  const serve = [
    'server',
    'start-dev',
    '--ip',
    host,
    '--port',
    String(ports.server),
    '--ui-port',
    String(ports.ui),
  ];
  const keep = [
    '--db-filename',
    directory.temporalDatabase,
    '--namespace',
    namespace,
    '--log-level',
    'error',
  ];
  const child = await startChild({
    name: 'Temporal',
    args: [
      join(projectRoot, 'local', 'leash.js'),
      ...['--data-dir', directory.root, '--', cli.path],
      ...[...serve, ...keep, ...cli.optionalFlags],
    ],
    logFile,
    ready,
    readyWithinMs,
    givesWay,
    onSpawn: (pid) => hold.note('temporal-leash', pid),
  });
  const server = child.ready.pid;
  hold.note('temporal', server);
  const stop = async (graceMs: number): Promise<void> => {
    await child.stop(graceMs);
    await endProcess({ pid: server, signal: 'SIGTERM', graceMs: 500 });
    hold.forget('temporal-leash');
    hold.forget('temporal');
  };

  const deadline = Date.now() + readyWithinMs;
  while (!(await setRetention(cli, address))) {
    const isGone = !isRunning(server);
    if (isGone || Date.now() > deadline) {
      await stop(2_000);
      const reason = isGone ? 'ended while starting' : `didn't answer within ${readyWithinMs / 1000} s`;
      throw new ChildFailure('Temporal', reason, basename(logFile), lastLines(logFile, logStart));
    }
    await sleep(100);
  }
  return {
    address,
    uiUrl: `http://${host}:${ports.ui}`,
    ports,
    pids: { leash: child.pid, server },
    // A leash that was killed leaves its server behind: end it before anybody starts the next one on the same file.
    exited: child.exited.then(async (how) => {
      await endProcess({ pid: server, signal: 'SIGTERM', graceMs: 3_000 });
      return how;
    }),
    stop,
  };
}
