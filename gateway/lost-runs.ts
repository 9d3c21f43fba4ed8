// Runs that somebody has ended in Temporal while no conversation was listening: their customers would wait for ever. Looked for
// in turns, a few at a time, because most open runs are only waiting for somebody.
import type { Database } from '../prisma/database.js';
import { runsOpen } from '../prisma/functions.js';
import type { Conversations } from './conversations.js';

/** Younger ones have a conversation that listens. */
const OLDER_THAN_MS = 3 * 60_000;
const EVERY_MS = 60_000;
/** Each look is a call to Temporal. */
const AT_ONCE = 50;
const FIRST = '00000000-0000-0000-0000-000000000000';
/** Runs that were mended are remembered, so that one whose row stays open isn't mended again and again. */
const REMEMBERED = 10_000;

export interface LostRuns {
  /** Looks at the next few, at most once a minute. Answers how many conversations were told. */
  lookOnce(): Promise<number>;
}

export function createLostRuns(deps: { database: Database; conversations: Conversations }): LostRuns {
  const { database, conversations } = deps;
  const mended = new Set<string>();
  let after = FIRST;
  let nextAt = 0;

  return {
    async lookOnce() {
      if (Date.now() < nextAt) return 0;
      nextAt = Date.now() + EVERY_MS;
      const open = await runsOpen(database.prisma, { olderThanMs: OLDER_THAN_MS, limit: AT_ONCE, after });
      after = open.length < AT_ONCE ? FIRST : (open.at(-1)?.turnId ?? FIRST);
      const told = await Promise.all(
        open
          .filter(({ turnId }) => !mended.has(turnId))
          .map(async (run) => {
            if ((await conversations.isRunClosed(run)) !== true) return false;
            const isTold = (await conversations.runEnded(run)) === 'rung';
            if (isTold && mended.size < REMEMBERED) mended.add(run.turnId);
            return isTold;
          }),
      );
      return told.filter(Boolean).length;
    },
  };
}
