// What goes wrong on purpose. Each fault says whether the platform has taken the message all the same: that is what a sender
// can't know, and what a test counts.

export type Fault =
  | { kind: 'refuse'; code: number }
  /** The connection breaks off before anything is taken. */
  | { kind: 'cutBefore' }
  /** The message is taken, and the connection breaks off before the answer. */
  | { kind: 'cutAfter' }
  | { kind: 'serverError'; isTaken: boolean; status?: number }
  /** No answer, ever. */
  | { kind: 'silence'; isTaken: boolean }
  | { kind: 'slow'; ms: number }
  /** Taken, and answered with something unreadable. */
  | { kind: 'garbage' };

export interface RandomFaults {
  /** Share of the sends that go wrong, 0 to 1. */
  share: number;
  kinds: readonly Fault[];
  seed: number;
}

export interface Faults {
  /** The next sends go wrong in these ways, in order, before any random ones. */
  next(...faults: Fault[]): void;
  /** The same for the next sends to somebody, before all others. */
  nextTo(recipient: string, ...faults: Fault[]): void;
  random(faults: RandomFaults | undefined): void;
  /** The fault of one send; `recipient` as far as it names one. */
  take(recipient?: string): Fault | undefined;
}

export function createFaults(): Faults {
  const queue: Fault[] = [];
  const queues = new Map<string, Fault[]>();
  let random: RandomFaults | undefined;
  let draw: () => number = () => 1;
  return {
    next: (...faults) => void queue.push(...faults),
    nextTo: (recipient, ...faults) =>
      void queues.set(recipient, [...(queues.get(recipient) ?? []), ...faults]),
    random(faults) {
      random = faults;
      draw = mulberry32(faults?.seed ?? 0);
    },
    take(recipient = '') {
      const queued = queues.get(recipient)?.shift() ?? queue.shift();
      if (queued || !random || draw() >= random.share) return queued;
      return random.kinds[Math.floor(draw() * random.kinds.length)];
    },
  };
}

/** A small generator with a seed, so that a run that found something can be run again. */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
