/**
 * One launcher per data directory. The holder's file names it and every process it started, so that the next start
 * finds what a killed one left behind. Only a process that was written down *and* whose command line names our
 * directory is stopped; an id that meanwhile belongs to somebody else is left alone.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { SetupProblem, type DataDirectory } from './data-directory.js';
import { bornAt, commandLine, endProcess, isRunning, namesDirectory } from './processes.js';

/** The right to use a data directory, until it is released. */
export interface Hold {
  /** Writes down a process that was started for this directory. */
  note: (name: string, pid: number) => void;
  forget: (name: string) => void;
  /** What was written down and not forgotten. */
  noted(): { name: string; pid: number }[];
  /** Tells a start that is waiting that this holder is about to let go. */
  stopping: () => void;
  release: () => void;
}

const holderShape = z.object({
  pid: z.number().int().positive(),
  born: z.string().optional(),
  stopping: z.boolean(),
  children: z.record(z.string(), z.number().int().positive()),
});
type Holder = z.infer<typeof holderShape>;

const runShape = z.object({ pids: z.record(z.string(), z.number().int().positive()) });

/** A stopping holder may need its whole shutdown time; one that just started to die needs a moment to say so. */
const waitForStoppingMs = 12_000;
const waitForChangeMs = 2_500;
const orphanGraceMs = 5_000;

function readJson<T>(file: string, shape: z.ZodType<T>): T | undefined {
  try {
    return shape.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

function isAlive(holder: Holder): boolean {
  return isRunning(holder.pid) && holder.born === bornAt(holder.pid);
}

/** Postgres takes SIGTERM as "wait until every client has left"; SIGINT ends it now, cleanly. */
export function endSignal(name: string): NodeJS.Signals {
  return name === 'postgres' ? 'SIGINT' : 'SIGTERM';
}

/** The postmaster's id as it wrote it itself, undefined when there is no such file. */
export function postmasterPid(directory: DataDirectory): number | undefined {
  try {
    const pid = Number(readFileSync(join(directory.cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

async function waitForHolder(directory: DataDirectory): Promise<void> {
  const start = Date.now();
  for (;;) {
    const holder = readJson(directory.holderFile, holderShape);
    if (holder === undefined || !isAlive(holder)) return;
    if (Date.now() - start > (holder.stopping ? waitForStoppingMs : waitForChangeMs)) {
      throw new SetupProblem(
        `Aroko already runs with ${directory.root} (process ${holder.pid}). ` +
          `Stop it first (Ctrl-C in its terminal, or: kill ${holder.pid}), or start a second one with --data-dir.`,
      );
    }
    await sleep(100);
  }
}

async function stopOrphans(directory: DataDirectory, say: (line: string) => void): Promise<void> {
  const found = new Map<number, string>();
  const recorded = [
    ...Object.entries(readJson(directory.runFile, runShape)?.pids ?? {}),
    ...Object.entries(readJson(directory.holderFile, holderShape)?.children ?? {}),
  ];
  for (const [name, pid] of recorded) if (name !== 'launcher') found.set(pid, name);
  const postmaster = postmasterPid(directory);
  if (postmaster !== undefined) found.set(postmaster, 'postgres');

  const ours: { pid: number; name: string }[] = [];
  for (const [pid, name] of found) {
    if (pid === process.pid || !isRunning(pid)) continue;
    if (namesDirectory(commandLine(pid), directory.root)) ours.push({ pid, name });
    else say(`Process ${pid} was once our ${name}, but is another program now: left alone.`);
  }
  const isBase = (name: string): boolean => name.startsWith('postgres') || name.startsWith('temporal');
  const end = async ({ pid, name }: { pid: number; name: string }): Promise<void> => {
    say(`Stopping ${name} (process ${pid}), left behind by an earlier start.`);
    await endProcess({ pid, signal: endSignal(name), graceMs: orphanGraceMs });
  };
  await Promise.all(ours.filter(({ name }) => !isBase(name)).map(end));
  await Promise.all(ours.filter(({ name }) => isBase(name)).map(end));
}

/**
 * Takes the directory: waits for a holder that is stopping, refuses one that lives, stops what a dead one left behind.
 * @throws SetupProblem when another launcher uses the directory.
 */
export async function holdDirectory(want: {
  directory: DataDirectory;
  say: (line: string) => void;
}): Promise<Hold> {
  const { directory, say } = want;
  await waitForHolder(directory);
  await stopOrphans(directory, say);
  rmSync(directory.runFile, { force: true });

  const holder: Holder = { pid: process.pid, born: bornAt(process.pid), stopping: false, children: {} };
  const draft = `${directory.holderFile}.${process.pid}`;
  const write = (): void => {
    writeFileSync(draft, `${JSON.stringify(holder, null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, directory.holderFile);
  };
  // A link fails where the file exists: of two starts at the same moment only one gets through.
  rmSync(directory.holderFile, { force: true });
  writeFileSync(draft, `${JSON.stringify(holder, null, 2)}\n`, { mode: 0o600 });
  try {
    linkSync(draft, directory.holderFile);
  } catch {
    throw new SetupProblem(`Another start of Aroko took ${directory.root} at the same moment. Try again.`);
  } finally {
    rmSync(draft, { force: true });
  }
  let released = false;
  const change = (apply: () => void): void => {
    if (released) return;
    apply();
    write();
  };
  return {
    note: (name, pid) => change(() => (holder.children[name] = pid)),
    forget: (name) => change(() => Reflect.deleteProperty(holder.children, name)),
    noted: () => Object.entries(holder.children).map(([name, pid]) => ({ name, pid })),
    stopping: () => change(() => (holder.stopping = true)),
    release: () => {
      if (released) return;
      released = true;
      rmSync(directory.holderFile, { force: true });
    },
  };
}
