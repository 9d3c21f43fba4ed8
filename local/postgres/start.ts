/** Starts the embedded Postgres through its host process. */
import { join } from 'node:path';
import { z } from 'zod';
import { projectRoot, startChild, typescript } from '../child.js';
import type { DatabasePasswords, DataDirectory } from '../data-directory.js';
import type { Hold } from '../hold.js';
import type { Running } from '../keep-running.js';
import { endProcess } from '../processes.js';
import { prepareAccount } from './account.js';
import { preparePostgresPrograms } from './binaries.js';

/** The running server. */
export interface Postgres extends Running {
  port: number;
  /** Address with the superuser's password; only for bootstrap and tests. */
  superuserUrl: string;
  pids: { host: number; postmaster: number };
}

const ready = z.object({ type: z.literal('ready'), pid: z.number().int(), port: z.number().int() });

/** initdb on a loaded machine, or 20 s of tries after a crash. */
const readyWithinMs = 60_000;

/**
 * Starts Postgres on a port that was found free, making the cluster on the first start.
 * @throws SetupProblem when the machine doesn't allow it, ChildFailure when the server doesn't come up.
 */
export async function startPostgres(want: {
  directory: DataDirectory;
  passwords: DatabasePasswords;
  port: number;
  hold: Hold;
}): Promise<Postgres> {
  const { directory, passwords, port, hold } = want;
  const program = await preparePostgresPrograms();
  const runAs = prepareAccount({
    directory,
    mustReach: [process.execPath, program, join(projectRoot, 'package.json')],
  });
  const node = [
    process.execPath,
    ...typescript('local/postgres/host.ts'),
    ...['--data-dir', directory.root, '--cluster', directory.cluster, '--port', String(port)],
  ];
  const [command = process.execPath, ...args] = [...runAs.prefix, ...node];
  const child = await startChild({
    name: 'Postgres',
    command,
    args,
    logFile: join(directory.logs, 'postgres.log'),
    ready,
    readyWithinMs,
    hello: { password: passwords.superuser },
    onSpawn: (pid) => hold.note('postgres-host', pid),
    ...(runAs.account && { account: runAs.account }),
  });
  const postmaster = child.ready.pid;
  hold.note('postgres', postmaster);
  return {
    port,
    superuserUrl: `postgresql://postgres:${passwords.superuser}@127.0.0.1:${port}/postgres`,
    pids: { host: child.pid, postmaster },
    // A host that was killed leaves its server behind: end it before anybody starts the next one.
    exited: child.exited.then(async (how) => {
      await endProcess({ pid: postmaster, signal: 'SIGINT', graceMs: 5_000 });
      return how;
    }),
    stop: async (graceMs) => {
      await child.stop(graceMs);
      await endProcess({ pid: postmaster, signal: 'SIGINT', graceMs: 1_000 });
      hold.forget('postgres-host');
      hold.forget('postgres');
    },
  };
}
