// The headless channel: programs write and read a chat by its own id, exactly as the chat page does.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findChat, messagesOfChat } from '../../prisma/stores/views/chat.js';
import type { RouteDeps } from '../deps.js';
import { followChat, parseCursor } from '../follow-chat.js';
import { errorFacts } from '../../config/logger.js';
import { parsed } from '../problems.js';
import { openStream } from '../stream.js';
import { messageJson } from './shapes.js';

const chatId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'takes 1 to 64 of A-Z a-z 0-9 _ -' });
const externalId = z
  .string()
  .regex(/^[A-Za-z0-9_.:@=-]{1,128}$/, { error: 'takes 1 to 128 of A-Z a-z 0-9 _ . : @ = -' });

const chatParams = z.object({ chat: chatId });
export const newMessage = z.strictObject({
  id: externalId,
  text: z.string({ error: 'has to be a text' }),
  quotedId: externalId.optional(),
});
const range = z.object({
  after: z.coerce.number({ error: 'has to be a number' }).int().min(0).max(2_000_000_000).default(0),
  limit: z.coerce.number({ error: 'has to be a number' }).int().min(1).max(500).default(500),
});

export function chatRoutes(api: FastifyInstance, deps: RouteDeps): void {
  const { inbox, desk, inDesk, streams, logger } = deps;
  const account = {
    channel: 'web' as const,
    // Read each time: the configuration may have been reloaded.
    get accountKey() {
      return desk.configuration.channels.web.accountKey;
    },
  };

  api.post('/chats/:chat/messages', async (request, reply) => {
    const { chat } = parsed(chatParams, request.params, 'The address');
    const { id, text, quotedId } = parsed(newMessage, request.body, 'The message');
    const accepted = await inbox.acceptMessage({
      ...account,
      chatAddress: chat,
      externalId: id,
      kind: 'text',
      text,
      quotedExternalId: quotedId,
    });
    return reply.code(202).send({ messageId: accepted.messageId });
  });

  api.get('/chats/:chat/messages', async (request) => {
    const { chat } = parsed(chatParams, request.params, 'The address');
    const { after, limit } = parsed(range, request.query, 'The query');
    const messages = await inDesk(async (scope) => {
      const known = await findChat(scope, { ...account, address: chat });
      return known === undefined ? [] : messagesOfChat(scope, { chatId: known, after, limit });
    });
    return messages.map(messageJson);
  });

  api.get('/chats/:chat/events', (request, reply) => {
    const { chat } = parsed(chatParams, request.params, 'The address');
    const { after } = parsed(range, request.query, 'The query');
    const resumed = request.headers['last-event-id'];
    const stream = openStream(request, reply, streams);
    const stop = followChat(
      deps,
      { tenantId: desk.tenantId, ...account, address: chat },
      resumed === undefined ? { after } : parseCursor(String(resumed)),
      {
        message(message, cursor) {
          stream.send({ event: 'message', id: cursor, data: JSON.stringify(messageJson(message)) });
        },
        failed(error) {
          logger.warn('stream.failed', errorFacts(error));
          stream.end();
        },
      },
    );
    stream.onEnd(stop);
  });
}
