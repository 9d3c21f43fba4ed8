// A whole installation in processes of its own, started, killed and ended the way a person does it with `npm start`. What
// the tests start is gone when they end, also after a failure.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { projectRoot } from '../../local/child.js';
import { commandLine, isRunning, namesDirectory, parentOf, signalProcess } from '../../local/processes.js';
import type { RunFacts } from '../../local/run-file.js';
import { type Api, createApi, eventually } from './api-client.js';

export type Part = 'worker' | 'gateway' | 'model' | 'postgres' | 'temporal' | 'launcher';

export interface InstallationOptions {
  /** `scenario` answers like the demo model wherever no answer is queued. */
  modelMode?: 'demo' | 'scenario';
  /** Another worker program, within the checkout. */
  workerProgram?: string;
  /** Another Temporal CLI. */
  temporalCli?: string;
  /** As a person starts it. Absent: no part lets another go first, because lanes of tests want all of the machine beside it. */
  givesWay?: true;
  /** Beside what this process has. */
  environment?: Record<string, string>;
}

export interface Installation {
  /** Everything that it keeps. */
  dataDir: string;
  /** Beside the data, for what tests tell the crash worker. */
  folder: string;
  /** What run.json says now. */
  facts(): RunFacts;
  api: Api;
  /** The one-time link that this start has printed. */
  loginUrl(): string;
  /** What the launcher has printed since its last start. */
  output(): string;
  /** How long the last start took. */
  startMs(): number;
  /** SIGKILL. `everything` is the launcher and every process below it, in one go. */
  kill9(...what: (Part | 'everything')[]): Promise<void>;
  /** SIGSTOP: it keeps its connections and answers nothing. Of Postgres, every process of the server. */
  freeze(what: Part): void;
  /** SIGCONT. */
  thaw(what: Part): void;
  /** Starts on the same directory again. */
  start(options?: InstallationOptions): Promise<void>;
  /** Ctrl-C; answers how long it took until the last process was gone. */
  stop(): Promise<number>;
  /** Processes of this installation that still run. */
  left(): { pid: number; command: string }[];
  /** Asks its Postgres as the superuser, who sees every tenant's rows. */
  query<Row extends object>(sql: string, values?: unknown[]): Promise<Row[]>;
}

const START_MS = 60_000;
const STOP_MS = 10_000;

const alive = new Set<{ end(): Promise<void>; endNow(): void }>();

/** A fresh installation in a new directory, ready to be talked to. */
export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'aroko-e2e-'));
  const dataDir = join(folder, 'data');
  const token = (): string => readFileSync(join(dataDir, 'api-token'), 'utf8').trim();
  const facts = (): RunFacts => JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8'));
  const api = createApi(() => ({ url: facts().addresses.api, token: token() }));
  let launcher: ChildProcess | undefined;
  let output = '';
  let startMs = 0;
  /** Every process that was ever seen below the launcher. */
  const seen = new Set<number>();

  async function start(want: InstallationOptions = options): Promise<void> {
    const began = Date.now();
    output = '';
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', 'local/main.ts', ...argumentsOf(dataDir, want)],
      {
        cwd: projectRoot,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...cleanEnvironment(), ...want.environment },
      },
    );
    launcher = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    await eventually(
      'the installation to be ready',
      () => {
        if (child.exitCode !== null) throw new Error(`the launcher ended with ${child.exitCode}:\n${output}`);
        return output.includes('Aroko is ready') && existsSync(join(dataDir, 'run.json')) ? true : undefined;
      },
      START_MS,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${output}`);
    });
    startMs = Date.now() - began;
    note();
  }

  function note(): void {
    if (launcher?.pid === undefined) return;
    for (const pid of [launcher.pid, ...below(launcher.pid)]) seen.add(pid);
  }

  const left = (): { pid: number; command: string }[] =>
    allProcesses()
      .filter((pid) => pid !== process.pid && isRunning(pid))
      .map((pid) => ({ pid, command: commandLine(pid).replaceAll('\0', ' ').trim() }))
      .filter(({ pid, command }) => seen.has(pid) || namesDirectory(command.replaceAll(' ', '\0'), dataDir));

  async function stop(): Promise<number> {
    note();
    const began = Date.now();
    if (launcher?.pid !== undefined) signalProcess(launcher.pid, 'SIGINT');
    await eventually(
      'every process to be gone',
      () => (left().length === 0 ? true : undefined),
      STOP_MS,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; left: ${JSON.stringify(left())}\n${output}`);
    });
    return Date.now() - began;
  }

  const mine = {
    async end(): Promise<void> {
      await stop().catch(() => mine.endNow());
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
    endNow(): void {
      note();
      for (const { pid } of left()) signalProcess(pid, 'SIGKILL');
    },
  };
  alive.add(mine);
  const installation: Installation = {
    dataDir,
    folder,
    facts,
    api,
    loginUrl: () => /https?:\S+\/console\/login\/\S+/.exec(output)?.[0] ?? '',
    output: () => output,
    startMs: () => startMs,
    async kill9(...what) {
      note();
      const victims = what.flatMap((one) => {
        const pid = pidOf(facts(), one === 'everything' ? 'launcher' : one);
        return one === 'everything' ? [pid, ...below(pid)] : [pid];
      });
      for (const victim of victims) signalProcess(victim, 'SIGKILL');
      await eventually('the killed to be gone', () => (victims.some(isRunning) ? undefined : true), 5_000);
    },
    freeze: (what) => signalServer(pidOf(facts(), what), what, 'SIGSTOP'),
    thaw: (what) => signalServer(pidOf(facts(), what), what, 'SIGCONT'),
    start,
    stop,
    left,
    async query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
      const client = new Client({ connectionString: superuserUrl(dataDir, facts()) });
      await client.connect();
      try {
        return (await client.query<Row>(sql, values)).rows;
      } finally {
        await client.end();
      }
    },
  };
  await start();
  return installation;
}

function pidOf({ pids }: RunFacts, part: Part): number {
  const pid = pids[part];
  if (pid === undefined) throw new Error(`no ${part} runs here`);
  return pid;
}

/** Postgres serves each connection by a process of its own; everything else is one process. */
function signalServer(pid: number, part: Part, signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const one of [pid, ...(part === 'postgres' ? below(pid) : [])]) signalProcess(one, signal);
}

function argumentsOf(
  dataDir: string,
  { modelMode, workerProgram, temporalCli, givesWay }: InstallationOptions,
): string[] {
  return [
    ...['--data-dir', dataDir, '--port', '0', '--no-color'],
    ...(givesWay ? [] : ['--no-give-way']),
    ...(modelMode ? ['--model-mode', modelMode] : []),
    ...(workerProgram ? ['--worker-program', workerProgram] : []),
    ...(temporalCli ? ['--temporal', temporalCli] : []),
  ];
}

/** What the person at this machine has set must not change what is tested. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(AROKO_|ANTHROPIC_|npm_|NODE_OPTIONS$)/.test(name),
  );
  // As if npm had started it: then it ends with its parent, also when a run of tests is killed.
  return { ...Object.fromEntries(kept), npm_lifecycle_event: 'start' };
}

function superuserUrl(dataDir: string, { addresses }: RunFacts): string {
  const { databasePasswords } = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8'));
  return `postgresql://postgres:${databasePasswords.superuser}@${addresses.postgres}/aroko`;
}

function allProcesses(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** Children, their children, and so on. */
function below(root: number): number[] {
  const parents = new Map(allProcesses().map((pid) => [pid, parentOf(pid)]));
  const found = [root];
  for (const one of found) {
    for (const [pid, parent] of parents) if (parent === one) found.push(pid);
  }
  return found.slice(1);
}

let shared: Promise<Installation> | undefined;

/** One installation for the tests that only talk to it. */
export function sharedInstallation(): Promise<Installation> {
  shared ??= startInstallation();
  return shared;
}

after('end the installations', async function () {
  this.timeout(60_000);
  for (const one of alive) await one.end();
  alive.clear();
});

// A run that is cut short leaves nothing behind either.
process.on('exit', () => {
  for (const one of alive) one.endNow();
});
