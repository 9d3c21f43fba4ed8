// How much a process gives way: its niceness, and that of its session, which on Linux counts first where sessions are groups.
import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';

/** `group` is absent where the system has no such groups. */
export function givesWay(pid: number): { own: number; group?: number } {
  const own = getPriority(pid);
  try {
    const group = / nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1];
    return { own, ...(group !== undefined && { group: Number(group) }) };
  } catch {
    return { own };
  }
}
