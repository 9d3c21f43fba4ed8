// Health for whoever keeps the process running. Live: it answers. Ready: it could accept a message and ring for it.
import type { FastifyInstance } from 'fastify';
import type { GatewayDeps } from './deps.js';

const DATABASE_DEADLINE_MS = 3_000;

export function healthRoutes(app: FastifyInstance, { database, conversations }: GatewayDeps): void {
  app.get('/health/live', async () => ({ status: 'live' }));

  app.get('/health/ready', async (_request, reply) => {
    const [postgres, temporal] = await Promise.all([
      within(DATABASE_DEADLINE_MS, database.prisma.$queryRaw`select 1`),
      conversations.isReachable(),
    ]);
    const isReady = postgres && temporal;
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      postgres: postgres ? 'reachable' : 'unreachable',
      temporal: temporal ? 'reachable' : 'unreachable',
    });
  });
}

async function within(deadlineMs: number, work: PromiseLike<unknown>): Promise<boolean> {
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
