/**
 * The two servers everything else stands on, Postgres and Temporal, held in one data directory.
 * `npm start` uses it, and so does every test that needs the real thing.
 */
import {
  openDataDirectory,
  openSecrets,
  type DatabasePasswords,
  type DataDirectory,
} from './data-directory.js';
import { holdDirectory, type Hold } from './hold.js';
import { keepRunning } from './keep-running.js';
import { findPort } from './ports.js';
import { startPostgres } from './postgres/start.js';
import { findTemporalCli } from './temporal/cli.js';
import { startTemporal } from './temporal/start.js';
import type { Progress } from './temporal/wheel.js';

/** Both servers, running. Ports and addresses stay the same over a restart, process ids don't. */
export interface Embedded {
  directory: DataDirectory;
  passwords: DatabasePasswords;
  postgres: { superuserUrl: string; port: number; readonly pids: { host: number; postmaster: number } };
  temporal: { address: string; uiUrl: string; readonly pids: { leash: number; server: number } };
  /** Stops both at once, by force after `graceMs` (default 5 s), and releases the directory if it was taken here. */
  stop: (graceMs?: number) => Promise<void>;
}

export interface EmbeddedOptions {
  /** Made when missing; a relative path counts from the working directory. */
  dataDir: string;
  /** Wanted ports; a busy one is replaced by the next free one. 0, the default, takes any. */
  ports?: { postgres?: number; temporal?: number; temporalUi?: number };
  /** A Temporal CLI to use instead of the one that would be found. */
  temporalCli?: string | undefined;
  /** See `ChildPlan.givesWay`. */
  temporalGivesWay?: boolean;
  /** Lines for a person: a changed port, a stopped orphan, a fetch, a restart. */
  log: (line: string) => void;
  progress?: Progress;
  /** Absent: the directory is taken here and released by `stop`. */
  hold?: Hold;
  /** Called when a server is ready, with the milliseconds it took. */
  onReady?: (name: 'Postgres' | 'Temporal', tookMs: number) => void;
  /** With it, a server that dies is started again; absent means it stays down. */
  restart?: { onRestart: () => void; onGiveUp: (reason: string) => void };
}

const defaultGraceMs = 5_000;

/**
 * Starts Postgres and Temporal beside each other and returns when both are ready.
 * @throws SetupProblem for what the person at the keyboard can mend, ChildFailure when a server doesn't come up;
 *   nothing is left running then.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log } = options;
  const directory = openDataDirectory(options.dataDir);
  const hold = options.hold ?? (await holdDirectory({ directory, say: log }));
  const releaseOwn = (): void => {
    if (!options.hold) hold.release();
  };
  try {
    const running = await startBoth({ options, directory, hold });
    return { ...running, stop: (graceMs) => running.stop(graceMs).finally(releaseOwn) };
  } catch (error) {
    releaseOwn();
    throw error;
  }
}

/** The first failure; what libraries reject with isn't always an error. */
function firstReason(outcomes: PromiseSettledResult<unknown>[]): Error {
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') {
      return outcome.reason instanceof Error ? outcome.reason : new Error(String(outcome.reason));
    }
  }
  return new Error('nothing failed');
}

async function startBoth(start: {
  options: EmbeddedOptions;
  directory: DataDirectory;
  hold: Hold;
}): Promise<Embedded> {
  const { options, directory, hold } = start;
  const { log, ports = {} } = options;
  const passwords = openSecrets(directory);
  const progress = options.progress ?? (() => ({ update: () => undefined, done: () => undefined }));
  const cli = await findTemporalCli({ directory, configured: options.temporalCli, progress });

  const taken = new Set<number>();
  const choose = async (wanted: number, purpose: string): Promise<number> => {
    const port = await findPort({ wanted, purpose, say: log, taken });
    taken.add(port);
    return port;
  };
  const postgresPort = await choose(ports.postgres ?? 0, 'Postgres');
  const temporalPorts = {
    server: await choose(ports.temporal ?? 0, 'Temporal'),
    ui: await choose(ports.temporalUi ?? 0, "Temporal's UI"),
  };

  const runPostgres = () => startPostgres({ directory, passwords, port: postgresPort, hold });
  const runTemporal = () =>
    startTemporal({ directory, cli, ports: temporalPorts, hold, givesWay: options.temporalGivesWay });
  const began = Date.now();
  const timed = async <Part>(name: 'Postgres' | 'Temporal', run: () => Promise<Part>): Promise<Part> => {
    const part = await run();
    options.onReady?.(name, Date.now() - began);
    return part;
  };
  const outcomes = await Promise.allSettled([timed('Postgres', runPostgres), timed('Temporal', runTemporal)]);
  const [postgres, temporal] = outcomes;
  if (postgres.status === 'rejected' || temporal.status === 'rejected') {
    for (const outcome of outcomes)
      if (outcome.status === 'fulfilled') await outcome.value.stop(defaultGraceMs);
    throw firstReason(outcomes);
  }

  const { restart } = options;
  const keptPostgres = restart
    ? keepRunning({ name: 'Postgres', first: postgres.value, again: runPostgres, say: log, ...restart })
    : { current: () => postgres.value, stop: postgres.value.stop };
  const keptTemporal = restart
    ? keepRunning({ name: 'Temporal', first: temporal.value, again: runTemporal, say: log, ...restart })
    : { current: () => temporal.value, stop: temporal.value.stop };
  return {
    directory,
    passwords,
    postgres: {
      superuserUrl: postgres.value.superuserUrl,
      port: postgresPort,
      get pids() {
        return keptPostgres.current().pids;
      },
    },
    temporal: {
      address: temporal.value.address,
      uiUrl: temporal.value.uiUrl,
      get pids() {
        return keptTemporal.current().pids;
      },
    },
    stop: async (graceMs = defaultGraceMs) => {
      await Promise.all([keptPostgres.stop(graceMs), keptTemporal.stop(graceMs)]);
    },
  };
}
