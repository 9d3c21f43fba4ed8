// The web chat of an owner who is logged in: the same page as a customer's, in a chat of their own. Who writes is known by the
// session; a customer can't come to its address, which no cookie and no program can name.
import type { FastifyInstance } from 'fastify';
import type { TenantConfiguration } from '../../../config/configuration.js';
import { phrasesOf, type PhraseBook } from '../../../config/phrases.js';
import { findChat, messagesOfChat } from '../../../prisma/stores/views/chat.js';
import { refsIn } from '../../../workflows/domain/approval.js';
import type { Speaker } from '../../../workflows/domain/incoming.js';
import { newMessage } from '../../api/chats.js';
import { createCommandCheck } from '../../arrival/commands.js';
import { arrivalOf } from '../../arrival/gates.js';
import type { RouteDeps } from '../../deps.js';
import { parsed } from '../../problems.js';
import { followInBrowser } from '../chat/live.js';
import { ChatPage } from '../chat/page.js';
import type { Pages } from './pages.js';
import { ownerOf } from './session.js';

const BASE = '/console/chat';
const HISTORY = 200;

export function ownChatRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  const { inbox, inDesk } = deps;
  const { active, clock, send } = pages;
  const account = () => ({ channel: 'web', accountKey: active().channels.web.accountKey }) as const;

  app.get(BASE, async (request, reply) => {
    const { ownerId } = ownerOf(request);
    const messages = await inDesk(async (scope) => {
      const chatId = await findChat(scope, { ...account(), address: addressOf(ownerId) });
      if (chatId === undefined) return [];
      return messagesOfChat(scope, { chatId, after: 0, limit: HISTORY, newest: true });
    });
    const name = active().owners.find(({ id }) => id === ownerId)?.name ?? ownerId;
    const page = (
      <ChatPage
        business={active().business}
        modelLabel={deps.modelLabel}
        messages={messages}
        cursor={`${messages.at(-1)?.sequence ?? 0}.${Date.now()}`}
        examples={commandsOf(active())}
        clock={clock()}
        base={BASE}
        owner={{ name, csrfToken: reply.generateCsrf() }}
      />
    );
    return send(reply, page);
  });

  app.post(`${BASE}/messages`, { preHandler: app.csrfProtection }, async (request, reply) => {
    const { ownerId } = ownerOf(request);
    const { id, text, quotedId } = parsed(newMessage, request.body, 'The message');
    const speaker: Speaker = `owner:${ownerId}`;
    const decision = arrivalOf({
      chatKind: 'direct',
      kind: 'text',
      speaker,
      isEcho: false,
      isSystem: false,
      isReadable: true,
      isAddressedToUs: true,
      isQuoting: quotedId !== undefined,
      hasRef: refsIn(text).some(({ isCertain }) => isCertain),
      isCommand: commandCheckOf(active().phrases)(text),
      sentAt: undefined,
      now: new Date(),
      staleAfterMs: Infinity,
    });
    const { messageId } = await inbox.acceptMessage({
      ...account(),
      chatAddress: addressOf(ownerId),
      externalId: id,
      kind: 'text',
      text,
      quotedExternalId: quotedId,
      speaker,
      ...decision,
    });
    return reply.code(202).send({ messageId });
  });

  app.get(`${BASE}/events`, (request, reply) => {
    const { ownerId } = ownerOf(request);
    followInBrowser(deps, { address: addressOf(ownerId), clock, request, reply });
  });

  /** Made once for each configuration. */
  const checks = new WeakMap<object, (text: string) => boolean>();
  function commandCheckOf(phrases: Record<string, PhraseBook>): (text: string) => boolean {
    const known = checks.get(phrases);
    if (known) return known;
    const fresh = createCommandCheck(phrases);
    checks.set(phrases, fresh);
    return fresh;
  }

  /** Words to begin with, as the tenant's own phrase files have them. */
  function commandsOf({ phrases, business }: TenantConfiguration): string[] {
    const own = phrases[business.language];
    const book = own ? { own } : phrases;
    return (['ownerList', 'ownerStatus', 'ownerHelp'] as const).flatMap((list) => {
      const [first] = phrasesOf(book, list);
      return first === undefined ? [] : [first.toLocaleUpperCase(business.language)];
    });
  }
}

/** Programs name chats without a colon, and cookies of visitors are random. */
function addressOf(ownerId: string): string {
  return `owner:${ownerId}`;
}
