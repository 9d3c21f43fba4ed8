/**
 * What the operating system knows of a process: whether it lives, when it was born, what it was started with.
 * Process ids are re-used, so no id is trusted alone: a stranger must never be stopped because of an old file.
 * Linux is read from /proc, everything else through `ps`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const onLinux = process.platform === 'linux';

/** The fields of /proc/<pid>/stat behind the command name, which may itself hold spaces and brackets. */
function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function askPs(pid: number, column: string): string | undefined {
  try {
    const answer = execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return answer === '' ? undefined : answer;
  } catch {
    return undefined;
  }
}

/** True while the process lives. One that has ended and only waits to be collected by its parent counts as gone. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  const state = onLinux ? statFields(pid)?.[0] : askPs(pid, 'state');
  return state !== undefined && !state.startsWith('Z') && !state.startsWith('X');
}

/** A text that differs for two processes that had the same id one after the other; undefined when there is none. */
export function bornAt(pid: number): string | undefined {
  if (!onLinux) return askPs(pid, 'lstart');
  const startTicks = statFields(pid)?.[19];
  if (startTicks === undefined) return undefined;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${startTicks}`;
}

/** The process that started this one, undefined when it can't be told. */
export function parentOf(pid: number): number | undefined {
  const parent = Number(onLinux ? statFields(pid)?.[1] : askPs(pid, 'ppid'));
  return Number.isInteger(parent) && parent > 0 ? parent : undefined;
}

/** The command line with its arguments, separated by NUL on Linux and by spaces elsewhere; '' when there is none. */
export function commandLine(pid: number): string {
  if (!onLinux) return askPs(pid, 'command') ?? '';
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** True when a command line names this directory or something below it, and not merely a longer name. */
export function namesDirectory(command: string, directory: string): boolean {
  for (let at = command.indexOf(directory); at !== -1; at = command.indexOf(directory, at + 1)) {
    const before = command[at - 1] ?? '\0';
    const behind = command[at + directory.length] ?? '\0';
    if ('\0 ='.includes(before) && '\0 /'.includes(behind)) return true;
  }
  return false;
}

/** A third of the usual share of a processor that isn't enough for all, and all that is left over. */
const NICENESS = 5;

/**
 * Lets the others go first when there is too little time for all. Right after the start: threads have the priority of the one
 * that they come from. A system that doesn't let us is no reason to stop.
 */
export function giveWay(pid: number): void {
  try {
    setPriority(pid, NICENESS);
    // Each child is a session, and Linux may share time out among sessions first: a priority counts within one only.
    if (onLinux) writeFileSync(`/proc/${pid}/autogroup`, String(NICENESS));
  } catch {
    return;
  }
}

/** Sends a signal; false when the process was gone already. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Waits until the process is gone; false when it still lives after `withinMs`. */
export async function waitUntilGone({ pid, withinMs }: { pid: number; withinMs: number }): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (isRunning(pid)) {
    if (Date.now() >= deadline) return false;
    await sleep(50);
  }
  return true;
}

/** Asks a process to end, and ends it by force after `graceMs`. */
export async function endProcess(end: {
  pid: number;
  signal: NodeJS.Signals;
  graceMs: number;
}): Promise<void> {
  signalProcess(end.pid, end.signal);
  if (await waitUntilGone({ pid: end.pid, withinMs: end.graceMs })) return;
  signalProcess(end.pid, 'SIGKILL');
  await waitUntilGone({ pid: end.pid, withinMs: 2_000 });
}
