// Rings again for whatever nobody seems to work on: the doorbells of the gateway and of the runs may get lost, the rows
// don't. One round at a time; ends cleanly.
import { errorFacts, type Logger } from '../config/logger.js';
import type { Database } from '../prisma/database.js';
import { chatsBehind, decisionsUnheard, leasesOver, saysWaiting } from '../prisma/functions.js';
import { giveUpRun } from '../prisma/stores/approvals.js';
import { isRunOpen } from '../prisma/stores/views/runs.js';
import type { SayKind } from '../workflows/domain/message.js';
import type { Say } from '../workflows/conversation/contract.js';
import type { ChatRef, Conversations, Rung } from './conversations.js';
import { createLostRuns } from './lost-runs.js';

const EVERY_MS = 5_000;
/** Ordinary work takes less; a doubled bell would change nothing, but it costs an action. */
const BEHIND_MS = 5_000;
/** A conversation may be busy with an earlier answer for a while. */
const SAY_MS = 15_000;
const UNHEARD_MS = 5_000;
/** The conversation's own timer ends a lease; this is for one that nobody has. */
const LEASE_MS = 10_000;
const AT_ONCE = 200;

export interface Swept {
  /** Conversations rung for messages. */
  rung: number;
  /** Words handed over again. */
  said: number;
  /** Runs woken for a decision. */
  woken: number;
  /** Conversations told of a lease whose time is over. */
  returned: number;
  /** Conversations told of a run that is gone. */
  mended: number;
}

export interface Sweep {
  /** One round; also what the timer runs. */
  sweepOnce(): Promise<Swept>;
  start(): void;
  /** When a round last ended, well or not, or the first was planned (epoch milliseconds). */
  movedAt(): number;
  /** Waits for the round under way. */
  stop(): Promise<void>;
}

export function createSweep(deps: {
  database: Database;
  conversations: Conversations;
  logger: Logger;
}): Sweep {
  const { database, conversations, logger } = deps;
  const { prisma } = database;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<unknown> = Promise.resolve();
  let stopped = false;
  let movedAt = Date.now();

  const lostRuns = createLostRuns({ database, conversations });

  async function sweepOnce(): Promise<Swept> {
    const [behind, says, unheard, leases] = await Promise.all([
      chatsBehind(prisma, { olderThanMs: BEHIND_MS, limit: AT_ONCE }),
      saysWaiting(prisma, { olderThanMs: SAY_MS, limit: AT_ONCE }),
      decisionsUnheard(prisma, { olderThanMs: UNHEARD_MS, limit: AT_ONCE }),
      leasesOver(prisma, { olderThanMs: LEASE_MS, limit: AT_ONCE }),
    ]);
    const [rung, said, woken, returned, mended] = await Promise.all([
      countOf(
        'rung',
        behind.map((bell) => conversations.ring(bell)),
      ),
      countOf(
        'rung',
        says.flatMap(({ kind: row, ...what }) => {
          // What hands a matter to a person is a run's last word, as a refusal is.
          const kind = row === 'handOff' ? 'refusal' : row;
          return isSayKind(kind) ? [sayAgain({ ...what, kind })] : [];
        }),
      ),
      countOf(
        'woken',
        unheard.map(async (decided) => {
          const outcome = await conversations.wakeRun(decided);
          if (outcome === 'no_run') {
            logger.warn('approval.run_not_found', { ...decided });
            await database.inTenant(decided.tenantId, (tx) => giveUpRun(tx, decided));
          }
          return outcome;
        }),
      ),
      countOf(
        'rung',
        leases.map((chat) => conversations.deskChanged({ ...chat, starts: true })),
      ),
      lostRuns.lookOnce(),
    ]);
    const swept = { rung, said, woken, returned, mended };
    if (Object.values(swept).some((count) => count > 0)) logger.event('sweep.rang', swept);
    return swept;
  }

  async function sayAgain(what: ChatRef & Omit<Say, 'final'>): Promise<Rung> {
    const { tenantId, turnId, kind } = what;
    // A question may be the run's last word, or ask for a yes that the run waits for.
    const goesOn =
      kind === 'acknowledgement' ||
      (kind === 'question' && (await database.inTenant(tenantId, (tx) => isRunOpen(tx, turnId))));
    return conversations.say({ ...what, final: !goesOn });
  }

  function plan(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      round = sweepOnce()
        .catch((error: unknown) => {
          logger.warn('sweep.failed', errorFacts(error));
        })
        .finally(() => {
          movedAt = Date.now();
          plan();
        });
    }, EVERY_MS);
  }

  return {
    sweepOnce,
    start: plan,
    movedAt: () => movedAt,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}

async function countOf<T>(wanted: T, outcomes: Promise<T>[]): Promise<number> {
  return (await Promise.all(outcomes)).filter((outcome) => outcome === wanted).length;
}

const SAY_KINDS: Record<SayKind, true> = {
  acknowledgement: true,
  question: true,
  answer: true,
  refusal: true,
};

function isSayKind(kind: string): kind is SayKind {
  return Object.hasOwn(SAY_KINDS, kind);
}
