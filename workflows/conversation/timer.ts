// One timer for the nearest deadline, kept while a later deadline moves: a timer that is reset costs an action each time.
import { condition, sleep } from '@temporalio/workflow';

/**
 * `reusesOlder`: timers that were set before and haven't fired yet are waited for instead of a new one. Conversations
 * without sessions don't, because histories exist in which they set a new one.
 */
export function lazyTimer({ reusesOlder }: { reusesOlder: () => boolean }): {
  /** Resolves when `isWoken` holds, or at some time up to `until`; the caller looks again and may wait again. */
  waitFor(until: number, isWoken: () => boolean): Promise<void>;
} {
  const pending = new Set<number>();
  let firesAt = Number.POSITIVE_INFINITY;
  return {
    async waitFor(until, isWoken) {
      if (until < firesAt) {
        firesAt = until;
        pending.add(until);
        void sleep(until - Date.now()).then(() => {
          pending.delete(until);
          if (firesAt === until) firesAt = reusesOlder() ? Math.min(...pending) : Number.POSITIVE_INFINITY;
        });
      }
      const armed = firesAt;
      await condition(() => isWoken() || firesAt !== armed);
    },
  };
}
