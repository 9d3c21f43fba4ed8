// Rings again for whatever nobody seems to work on: the doorbells of the gateway and of the runs may get lost, the rows
// don't. One round at a time; ends cleanly.
import { errorFacts, type Logger } from '../config/logger.js';
import type { Database } from '../prisma/database.js';
import { chatsBehind, decisionsUnheard, saysWaiting } from '../prisma/functions.js';
import { giveUpRun } from '../prisma/stores/approvals.js';
import { isRunOpen } from '../prisma/stores/views/runs.js';
import type { SayKind } from '../workflows/domain/message.js';
import type { Say } from '../workflows/conversation/contract.js';
import type { ChatRef, Conversations, Rung } from './conversations.js';

const EVERY_MS = 5_000;
/** Ordinary work takes less; a doubled bell would change nothing, but it costs an action. */
const BEHIND_MS = 5_000;
/** A conversation may be busy with an earlier answer for a while. */
const SAY_MS = 15_000;
const UNHEARD_MS = 5_000;
const AT_ONCE = 200;

export interface Sweep {
  /** One round; also what the timer runs. */
  sweepOnce(): Promise<{ rung: number; said: number; woken: number }>;
  start(): void;
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

  async function sweepOnce(): Promise<{ rung: number; said: number; woken: number }> {
    const [behind, says, unheard] = await Promise.all([
      chatsBehind(prisma, { olderThanMs: BEHIND_MS, limit: AT_ONCE }),
      saysWaiting(prisma, { olderThanMs: SAY_MS, limit: AT_ONCE }),
      decisionsUnheard(prisma, { olderThanMs: UNHEARD_MS, limit: AT_ONCE }),
    ]);
    const [rung, said, woken] = await Promise.all([
      countOf(
        'rung',
        behind.map((bell) => conversations.ring(bell)),
      ),
      countOf(
        'rung',
        says.flatMap(({ kind, ...what }) => (isSayKind(kind) ? [sayAgain({ ...what, kind })] : [])),
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
    ]);
    if (rung + said + woken > 0) logger.event('sweep.rang', { rung, said, woken });
    return { rung, said, woken };
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
        .finally(plan);
    }, EVERY_MS);
  }

  return {
    sweepOnce,
    start: plan,
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
