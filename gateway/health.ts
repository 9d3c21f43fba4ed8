// Health and metrics for whoever keeps the process running. Live: it answers, and its sweep moves; when that is not so, a
// restart helps. Ready: it could keep a message and ring for it; when that is not so, a restart doesn't help, and whoever
// spreads requests sends them elsewhere.
import type { FastifyInstance } from 'fastify';
import { within } from '../config/patience.js';
import { missingMigrations } from '../prisma/measures.js';
import { createTokenCheck } from './api/token.js';
import type { GatewayDeps } from './deps.js';

const DATABASE_DEADLINE_MS = 3_000;
/** A round that rings for everything while Temporal is away takes two or three minutes; longer is a standstill. */
const SWEEP_STALLED_MS = 5 * 60_000;

export function healthRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  const { database, conversations, vitals = {} } = deps;

  app.get('/health/live', async (_request, reply) => {
    const quietMs = vitals.sweepMovedAt === undefined ? 0 : Date.now() - vitals.sweepMovedAt();
    const isLive = quietMs < SWEEP_STALLED_MS;
    return reply
      .code(isLive ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status: isLive ? 'live' : 'stuck', sweepSeconds: Math.round(quietMs / 1_000) });
  });

  app.get('/health/ready', async (_request, reply) => {
    const [postgres, temporal, migrations] = await Promise.all([
      within(DATABASE_DEADLINE_MS, database.prisma.$queryRaw`select 1`),
      conversations.isReachable(),
      areMigrationsApplied(deps),
    ]);
    const isReady = postgres && temporal && migrations;
    return reply
      .code(isReady ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({
        status: isReady ? 'ready' : 'not ready',
        postgres: postgres ? 'reachable' : 'unreachable',
        temporal: temporal ? 'reachable' : 'unreachable',
        migrations: migrations ? 'applied' : 'missing',
        configuration: vitals.configuration?.() ?? 'active',
      });
  });

  metricsRoute(app, deps);
}

async function areMigrationsApplied({ database }: GatewayDeps): Promise<boolean> {
  let missing: string[] | undefined;
  const isKnown = await within(
    DATABASE_DEADLINE_MS,
    missingMigrations(database.prisma).then((names) => (missing = names)),
  );
  return isKnown && missing?.length === 0;
}

/**
 * Behind a proxy on the same machine everybody comes from the loopback address, so that is no proof: a token is asked for
 * in any case, one of its own or the API's.
 */
function metricsRoute(
  app: FastifyInstance,
  { database, metrics, metricsToken, apiToken }: GatewayDeps,
): void {
  if (metrics === undefined) return;
  const token = createTokenCheck(apiToken, ...(metricsToken === undefined ? [] : [metricsToken]));
  app.get('/metrics', { onRequest: (request) => token.require(request) }, async (_request, reply) => {
    const { contentType, body } = await metrics.text(database);
    return reply.header('content-type', contentType).header('cache-control', 'no-store').send(body);
  });
}
