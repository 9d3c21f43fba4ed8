// Taking in comes before working off. While more is being stored than the machine keeps up with, whoever would make more work
// for it waits, but not for ever.

/** So many at once are stored within some milliseconds of each other on a machine that keeps up. */
const BUSY_ABOVE = 4;

export interface Calm {
  /** Counts `work` as being stored until it ends. */
  whileStoring<Result>(work: Promise<Result>): Promise<Result>;
  /** Resolves when no more than a few are being stored, or at `latest` (epoch milliseconds). */
  calmOr(latest: number): Promise<void>;
}

export function createCalm(): Calm {
  let storing = 0;
  const waiting = new Set<() => void>();

  function ended(): void {
    storing -= 1;
    if (storing > BUSY_ABOVE) return;
    for (const go of [...waiting]) go();
  }

  return {
    async whileStoring(work) {
      storing += 1;
      try {
        return await work;
      } finally {
        ended();
      }
    },
    async calmOr(latest) {
      const left = latest - Date.now();
      if (storing <= BUSY_ABOVE || left <= 0) return;
      await new Promise<void>((resolve) => {
        const go = (): void => {
          clearTimeout(timer);
          waiting.delete(go);
          resolve();
        };
        const timer = setTimeout(go, left);
        waiting.add(go);
      });
    },
  };
}
