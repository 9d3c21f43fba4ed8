// Has the audit anchored once an hour. The database decides whether an anchor is due, so any number of gateways may ask.
// The root is logged: a log that lies elsewhere is a witness that no one with rights on the database can change.
import { errorFacts, type Logger } from '../config/logger.js';
import type { Database } from '../prisma/database.js';
import { anchorHeads, tenantBySlug } from '../prisma/functions.js';

/** Often enough for an anchor soon after the hour, seldom enough to cost nothing. */
const EVERY_MS = 60_000;

export interface Anchors {
  /** One round over all tenants; also what the timer runs. */
  anchorOnce(): Promise<{ anchored: number }>;
  start(): void;
  /** Waits for the round under way. */
  stop(): Promise<void>;
}

export function createAnchors(deps: {
  database: Database;
  /** Slugs of the businesses that this process knows; read in each round. */
  tenants: () => Iterable<string>;
  logger: Logger;
  everyMs?: number;
}): Anchors {
  const { database, tenants, logger, everyMs = EVERY_MS } = deps;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<unknown> = Promise.resolve();
  let stopped = false;

  async function anchorTenant(slug: string): Promise<number> {
    const tenantId = await tenantBySlug(database.prisma, slug);
    if (tenantId === undefined) return 0;
    const anchor = await database.inTenant(tenantId, anchorHeads);
    if (!anchor) return 0;
    logger.event('audit.anchored', { tenantId, ...anchor });
    return 1;
  }

  async function anchorOnce(): Promise<{ anchored: number }> {
    let anchored = 0;
    for (const slug of tenants()) {
      // One tenant's trouble is not another's.
      anchored += await anchorTenant(slug).catch((error: unknown) => {
        logger.warn('audit.anchor_failed', { tenant: slug, ...errorFacts(error) });
        return 0;
      });
    }
    return { anchored };
  }

  function run(): void {
    if (stopped) return;
    round = anchorOnce().finally(() => {
      if (!stopped) timer = setTimeout(run, everyMs);
    });
  }

  return {
    anchorOnce,
    start: run,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
