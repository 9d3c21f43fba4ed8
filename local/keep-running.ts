/**
 * Keeps a part running: one that ends without being asked is started again, after a growing pause. Five ends within
 * a minute are a fault that starting again doesn't mend, and neither is a refused configuration; then the caller is told
 * to give up.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ChildRefusal } from './child.js';

/** Anything that runs until it is stopped or ends by itself. */
export interface Running {
  exited: Promise<string>;
  stop: (graceMs: number) => Promise<void>;
}

/** A part under watch. */
export interface Kept<Part extends Running> {
  /** The one that runs now; the last one while another is being started. */
  current: () => Part;
  stop: (graceMs: number) => Promise<void>;
}

export interface KeepPlan<Part extends Running> {
  name: string;
  first: Part;
  /** Starts it again; gets the part that ended, so that addresses can stay the same. */
  again: (ended: Part) => Promise<Part>;
  say: (line: string) => void;
  onRestart: (part: Part) => void;
  /** `refusal`: the part refused its configuration; absent means that it ended too often. */
  onGiveUp: (reason: string, refusal?: ChildRefusal) => void;
}

const maxEnds = 5;
const withinMs = 60_000;
const pausesMs = [0, 500, 1_000, 2_000, 4_000];

/** Begins to watch a part that runs already. */
export function keepRunning<Part extends Running>(plan: KeepPlan<Part>): Kept<Part> {
  let part = plan.first;
  const stopping = new AbortController();
  let starting: Promise<Part> | undefined;
  let ends: number[] = [];

  /** Notes one end and pauses; false when there were too many. */
  const pause = async (how: string): Promise<boolean> => {
    const now = Date.now();
    ends = [...ends.filter((at) => now - at < withinMs), now];
    if (ends.length > maxEnds) {
      plan.onGiveUp(`${plan.name} ${how}, for the ${ends.length}th time within a minute.`);
      return false;
    }
    plan.say(`${plan.name} ${how}; starting it again.`);
    await sleep(pausesMs[ends.length - 1] ?? 4_000, undefined, { signal: stopping.signal }).catch(
      () => undefined,
    );
    return true;
  };

  const watch = async (): Promise<void> => {
    let how = await part.exited;
    while (!stopping.signal.aborted && (await pause(how)) && !stopping.signal.aborted) {
      try {
        starting = plan.again(part);
        part = await starting;
        plan.onRestart(part);
        how = await part.exited;
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (error instanceof ChildRefusal) return plan.onGiveUp(error.message, error);
        how = error instanceof Error ? error.message.replace(`${plan.name} `, '') : String(error);
      } finally {
        starting = undefined;
      }
    }
  };
  void watch();

  return {
    current: () => part,
    stop: async (graceMs) => {
      stopping.abort();
      // A start under way ends with a part that nobody asks for any more.
      const late = starting?.then((next) => next.stop(graceMs)).catch(() => undefined);
      await part.stop(graceMs);
      if (late) await Promise.race([late, sleep(graceMs, undefined, { ref: false })]);
    },
  };
}
