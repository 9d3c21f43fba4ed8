// Waiting for a server that is still starting, or is being restarted, without hiding that one waits.
import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  /** Default: one minute, longer than a database or Temporal needs to come up. */
  giveUpAfterMs?: number;
  /** Called before each wait; the place to say so in the log. */
  onWait?: (wait: { attempt: number; nextTryMs: number }) => void;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/** The first result of `attempt`; after the time is over an error that says what could not be reached, and how long. */
export async function retryUntil<T>(input: {
  what: string;
  attempt: () => Promise<T>;
  patience: Patience;
}): Promise<T> {
  const { giveUpAfterMs = 60_000, onWait } = input.patience;
  const deadline = Date.now() + giveUpAfterMs;
  for (
    let attempt = 1, nextTryMs = FIRST_WAIT_MS;
    ;
    attempt++, nextTryMs = Math.min(2 * nextTryMs, LONGEST_WAIT_MS)
  ) {
    try {
      return await input.attempt();
    } catch (error) {
      if (Date.now() + nextTryMs > deadline) {
        const seconds = Math.round(giveUpAfterMs / 1_000);
        throw new Error(
          `${input.what} did not answer within ${seconds} s. Is it running, and is the address right?`,
          {
            cause: error,
          },
        );
      }
      onWait?.({ attempt, nextTryMs });
      await sleep(nextTryMs);
    }
  }
}

/** Whether the work is done within this time; a failure is a no. */
export async function within(deadlineMs: number, work: PromiseLike<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), deadlineMs);
  });
  try {
    return await Promise.race([Promise.resolve(work).then(() => true), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
