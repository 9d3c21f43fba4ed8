// Keeps one process below the platform's limits, so that the limits themselves are the exception. Several workers don't know
// of each other: there the platform's own refusals (130429, 131056) are what slows them down.

/** To one person: one message in six seconds, of which 45 may be borrowed at once. */
const PAIR = { capacity: 45, perSecond: 1 / 6 };

export interface SendLimiter {
  /**
   * Takes a place for one message. 0: it may be sent now. Else: how many milliseconds until there will be one, and nothing
   * has been taken.
   */
  take(send: { accountKey: string; recipient: string; perSecond: number }): number;
}

/** A bucket that fills by itself; `level` is what it held at `at`. */
interface Bucket {
  level: number;
  at: number;
}

interface Rate {
  capacity: number;
  perSecond: number;
}

/** `now`: milliseconds of a clock that never goes back. */
export function createSendLimiter(now: () => number = () => performance.now()): SendLimiter {
  const numbers = new Map<string, Bucket>();
  const pairs = new Map<string, Bucket>();
  let sweepAt = 0;

  /** A bucket that is full again is as good as none. */
  function sweep(at: number): void {
    if (at < sweepAt) return;
    sweepAt = at + (PAIR.capacity / PAIR.perSecond) * 1000;
    for (const [name, bucket] of pairs) {
      if (levelAt(bucket, PAIR, at) >= PAIR.capacity) pairs.delete(name);
    }
  }

  return {
    take({ accountKey, recipient, perSecond }) {
      const at = now();
      sweep(at);
      const rate = { capacity: perSecond, perSecond };
      const pair = `${accountKey} ${recipient}`;
      const levels = {
        number: levelAt(numbers.get(accountKey), rate, at),
        pair: levelAt(pairs.get(pair), PAIR, at),
      };
      const wait = Math.max(waitFor(levels.number, rate), waitFor(levels.pair, PAIR));
      if (wait > 0) return wait;
      numbers.set(accountKey, { level: levels.number - 1, at });
      pairs.set(pair, { level: levels.pair - 1, at });
      return 0;
    },
  };
}

function levelAt(bucket: Bucket | undefined, { capacity, perSecond }: Rate, at: number): number {
  if (!bucket) return capacity;
  return Math.min(capacity, bucket.level + ((at - bucket.at) / 1000) * perSecond);
}

/** Sums of fractions are a hair off: that hair is neither a wait nor a millisecond more. */
const HAIR = 1e-6;

function waitFor(level: number, { perSecond }: Rate): number {
  return level >= 1 - HAIR ? 0 : Math.ceil(((1 - level) / perSecond) * 1000 - HAIR);
}
