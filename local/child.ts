/**
 * Starting a child process and hearing from it. A child reports `{ type: 'ready' }` or `{ type: 'failed' }` over its
 * IPC channel and ends when the channel closes, so a killed launcher takes its children along.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { EXIT_CONFIGURATION } from '../config/problems.js';
import { endProcess, giveWay } from './processes.js';

/** The root of the checkout; children run there. */
export const projectRoot = fileURLToPath(new URL('..', import.meta.url));

/** Arguments that make Node run a TypeScript file of ours. */
export function typescript(script: string): string[] {
  return ['--import', 'tsx', `${projectRoot}${script}`];
}

/** A child that couldn't start; carries what helps to find out why. */
export class ChildFailure extends Error {
  override readonly name: string = 'ChildFailure';
  constructor(
    readonly child: string,
    reason: string,
    readonly logFile: string,
    readonly lastLines: string[],
  ) {
    super(`${child} ${reason}`);
  }
}

/** A child that ended with 78: a person has to mend the configuration first, starting again can't help. */
export class ChildRefusal extends ChildFailure {
  override readonly name = 'ChildRefusal';
}

/** A running child and the message it got ready with. */
export interface Child<Ready> {
  pid: number;
  ready: Ready;
  /** Settles with a phrase such as "ended with code 1" when the process is gone. */
  exited: Promise<string>;
  /** Asks it to end and ends it by force after `graceMs`. */
  stop: (graceMs: number) => Promise<void>;
}

export interface ChildPlan<Ready> {
  name: string;
  command?: string;
  args: string[];
  logFile: string;
  ready: z.ZodType<Ready>;
  readyWithinMs: number;
  /** The whole environment; absent means our own. */
  environment?: NodeJS.ProcessEnv;
  /** Account to run as; absent means our own. */
  account?: { uid: number; gid: number };
  /** First message to the child, for what must not be seen on a command line. */
  hello?: { [key: string]: string };
  /** Works off what others take in, and lets them go first when there is too little processor time for all. */
  givesWay?: boolean | undefined;
  /** Called with the process id as soon as there is one. */
  onSpawn?: (pid: number) => void;
}

const failedShape = z.object({ type: z.literal('failed'), message: z.string() });
const rotateAtBytes = 10_000_000;

/** Opens a log for appending. A long one makes room: the file before it is kept as `.1`. */
export function openLog(file: string): number {
  if (existsSync(file) && statSync(file).size > rotateAtBytes) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/** The last lines a child wrote since `from` (a byte offset), JSON lines shortened to level and message. */
export function lastLines(file: string, from: number, count = 12): string[] {
  const text = existsSync(file) ? readFileSync(file).subarray(from).toString('utf8') : '';
  const shape = z.object({ level: z.string(), message: z.string() });
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-count).map((line) => {
    try {
      const entry = shape.parse(JSON.parse(line));
      return `${entry.level}: ${entry.message}`;
    } catch {
      return line.slice(0, 300);
    }
  });
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `was ended by ${signal}`;
  return code === EXIT_CONFIGURATION ? 'refused its configuration' : `ended with code ${code ?? 'unknown'}`;
}

async function waitForReady<Ready>(
  child: ChildProcess,
  plan: ChildPlan<Ready>,
  exited: Promise<string>,
): Promise<Ready> {
  let timer: NodeJS.Timeout | undefined;
  let said: string | undefined;
  try {
    return await new Promise<Ready>((resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error(`wasn't ready within ${plan.readyWithinMs / 1000} s`)),
        plan.readyWithinMs,
      );
      child.on('message', (message: unknown) => {
        said = failedShape.safeParse(message).data?.message ?? said;
        const ready = plan.ready.safeParse(message);
        if (ready.success) resolve(ready.data);
      });
      child.on('error', (error) => reject(new Error(`couldn't be started: ${error.message}`)));
      void exited.then((how) => reject(new Error(said === undefined ? how : `${how}: ${said}`)));
    });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Starts a child and waits until it is ready.
 * It gets a process group of its own: Ctrl-C reaches the launcher alone, which then ends its children in order.
 * @throws ChildFailure when it ends, fails or says nothing in time, ChildRefusal when it ends with 78; nothing of it is
 *   left running then.
 */
export async function startChild<Ready>(plan: ChildPlan<Ready>): Promise<Child<Ready>> {
  const log = openLog(plan.logFile);
  const logStart = statSync(plan.logFile).size;
  const child = spawn(plan.command ?? process.execPath, plan.args, {
    cwd: projectRoot,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    ...(plan.environment && { env: plan.environment }),
    ...plan.account,
  });
  closeSync(log);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(describeExit(code, signal)));
  });
  const pid = child.pid;
  const fail = (error: unknown): ChildFailure => {
    const reason = error instanceof Error ? error.message : String(error);
    const Failure = child.exitCode === EXIT_CONFIGURATION ? ChildRefusal : ChildFailure;
    return new Failure(plan.name, reason, basename(plan.logFile), lastLines(plan.logFile, logStart));
  };
  // Without an id there was no process: the reason comes as an error event.
  if (pid !== undefined && plan.givesWay) giveWay(pid);
  if (pid !== undefined) plan.onSpawn?.(pid);
  const readiness = waitForReady(child, plan, exited);
  if (plan.hello && pid !== undefined) child.send(plan.hello, () => undefined);
  const stop = async (graceMs: number): Promise<void> => {
    if (pid !== undefined) await endProcess({ pid, signal: 'SIGTERM', graceMs });
  };
  try {
    const ready = await readiness;
    if (pid === undefined) throw new Error("couldn't be started");
    return { pid, ready, exited, stop };
  } catch (error) {
    await stop(2_000);
    throw fail(error);
  }
}
