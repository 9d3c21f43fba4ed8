// The account of messages for programs: what is open, and since when.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listMessages } from '../../prisma/stores/views/messages.js';
import { MESSAGE_STATES } from '../../workflows/domain/message.js';
import type { RouteDeps } from '../deps.js';
import { parsed } from '../problems.js';
import { openMessageJson } from './shapes.js';

const filter = z.object({
  state: z
    .enum([...MESSAGE_STATES, 'open', 'all'], { error: `is one of open, ${MESSAGE_STATES.join(', ')}, all` })
    .default('open'),
  limit: z.coerce.number({ error: 'has to be a number' }).int().min(1).max(500).default(100),
});

export function messageRoutes(api: FastifyInstance, { inDesk }: RouteDeps): void {
  api.get('/messages', async (request) => {
    const query = parsed(filter, request.query, 'The query');
    const messages = await inDesk((scope) => listMessages(scope, query));
    const now = new Date();
    return messages.map((message) => openMessageJson(message, now));
  });
}
