// The chat page and its two calls. Who the customer is, is known by a signed cookie only; the page goes through the same
// inbox as every other channel.
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TenantConfiguration } from '../../../config/configuration.js';
import { findChat, messagesOfChat } from '../../../prisma/stores/views/chat.js';
import { newMessage } from '../../api/chats.js';
import type { RouteDeps } from '../../deps.js';
import { parsed, Problem } from '../../problems.js';
import { followInBrowser } from './live.js';
import { ChatPage } from './page.js';

const COOKIE = 'aroko_chat';
/** Nobody can guess their way into another chat. */
const CHAT_ID_BYTES = 16;
const COOKIE_SECONDS = 365 * 24 * 3600;
const HISTORY = 200;
const EXAMPLES = 3;
/** A person doesn't write faster; a script that does is asked to slow down. */
const MESSAGES_PER_MINUTE = 60;

export function chatPageRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { inbox, desk, inDesk } = deps;
  // Read each time: it may have been reloaded.
  const active = () => desk.configuration;
  const account = {
    channel: 'web' as const,
    get accountKey() {
      return active().channels.web.accountKey;
    },
  };
  const clock = () => ({ now: new Date(), timeZone: active().business.timeZone });

  app.get('/', async (request, reply) => {
    const address = chatOf(request) ?? startChat(reply);
    const messages = await inDesk(async (scope) => {
      const chatId = await findChat(scope, { ...account, address });
      if (chatId === undefined) return [];
      return messagesOfChat(scope, { chatId, after: 0, limit: HISTORY, newest: true });
    });
    const page = (
      <ChatPage
        business={active().business}
        modelLabel={deps.modelLabel}
        messages={messages}
        cursor={`${messages.at(-1)?.sequence ?? 0}.${Date.now()}`}
        examples={examplesOf(active())}
        clock={clock()}
        base="/chat"
      />
    );
    return reply.type('text/html; charset=utf-8').send(await page);
  });

  const limit = {
    config: { rateLimit: { max: MESSAGES_PER_MINUTE, timeWindow: '1 minute', keyGenerator: chatKey } },
  };
  app.post('/chat/messages', limit, async (request, reply) => {
    const address = requireChat(request);
    const { id, text, quotedId } = parsed(newMessage, request.body, 'The message');
    const { messageId } = await inbox.acceptMessage({
      ...account,
      chatAddress: address,
      externalId: id,
      kind: 'text',
      text,
      quotedExternalId: quotedId,
    });
    return reply.code(202).send({ messageId });
  });

  app.get('/chat/events', (request, reply) => {
    const address = requireChat(request);
    followInBrowser(deps, { address, clock, request, reply });
  });
}

/** The chat that the cookie names, if the signature is ours. */
function chatOf(request: FastifyRequest): string | undefined {
  const raw = request.cookies[COOKIE];
  if (raw === undefined) return undefined;
  const { valid, value } = request.unsignCookie(raw);
  return valid ? value : undefined;
}

function requireChat(request: FastifyRequest): string {
  const address = chatOf(request);
  if (address !== undefined) return address;
  throw new Problem(
    401,
    'unauthorized',
    'This browser has no conversation yet. Reload the page; it needs cookies.',
  );
}

function startChat(reply: FastifyReply): string {
  const address = randomBytes(CHAT_ID_BYTES).toString('base64url');
  reply.setCookie(COOKIE, address, {
    path: '/',
    signed: true,
    httpOnly: true,
    sameSite: 'lax',
    secure: 'auto',
    maxAge: COOKIE_SECONDS,
  });
  return address;
}

function chatKey(request: FastifyRequest): string {
  return chatOf(request) ?? request.ip;
}

/** What to ask, from the tools' own examples: one of each tool first. */
export function examplesOf({ tools }: TenantConfiguration): string[] {
  const offered = tools.filter((tool) => tool.enabled && tool.actors.includes('customer'));
  const longest = Math.max(0, ...offered.map((tool) => tool.examples.length));
  const byTurns = Array.from({ length: longest }, (_, index) =>
    offered.flatMap((tool) => tool.examples[index] ?? []),
  ).flat();
  return byTurns.slice(0, EXAMPLES);
}
