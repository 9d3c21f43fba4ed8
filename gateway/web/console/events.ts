// Tells open console pages that something has changed; they ask for their parts again. A burst becomes one event.
import type { FastifyInstance } from 'fastify';
import type { RouteDeps } from '../../deps.js';
import { openStream } from '../../stream.js';

const GATHER_MS = 300;

export function consoleEvents(app: FastifyInstance, { changes, desk, streams }: RouteDeps): void {
  app.get('/console/events', (request, reply) => {
    const stream = openStream(request, reply, streams);
    let gathering: NodeJS.Timeout | undefined;
    const unsubscribe = changes.subscribe({ tenantId: desk.tenantId }, () => {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        stream.send({ event: 'changed', data: '-' });
      }, GATHER_MS);
    });
    stream.onEnd(() => {
      clearTimeout(gathering);
      unsubscribe();
    });
  });
}
