// Chats: the list, and one conversation, as pages and as the parts of them that htmx asks for again.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DateTime } from 'luxon';
import { z } from 'zod';
import type { Scope } from '../../../prisma/stores/scope.js';
import { resolveByHand } from '../../../prisma/stores/chat-sessions.js';
import { releaseChat, takeChat } from '../../../prisma/stores/takeover.js';
import {
  CONVERSATION_FILTERS,
  conversationOf,
  listConversations,
  type Conversation,
} from '../../../prisma/stores/views/conversations.js';
import { listQuestions } from '../../../prisma/stores/views/operator-questions.js';
import { transcriptOf } from '../../../prisma/stores/views/transcript.js';
import { chatExists } from '../../../prisma/stores/views/without-content.js';
import type { RouteDeps } from '../../deps.js';
import { parsed, Problem } from '../../problems.js';
import { Icon } from '../components/icons.js';
import { withQuery } from '../components/paging.js';
import { Tabs } from '../components/tabs.js';
import { whoInWords } from '../components/who.js';
import { ConversationPart } from './conversation.js';
import { ConversationsList } from './conversations.js';
import { TAKE_HOURS } from './desk-form.js';
import type { Pages } from './pages.js';
import { peopleOf } from './people.js';
import { ownerOf } from './session.js';
import { Notice, PageHead } from './shell.js';

const CHATS_AT_ONCE = 30;
const MESSAGES_AT_ONCE = 50;
const QUESTIONS_AT_ONCE = 10;

const chatKey = z.object({ id: z.uuid({ error: 'is not the id of a chat' }) });
/** A time to the microsecond, as Postgres has it, which knows no year 0; and a chat. */
const cursor = z.tuple([z.iso.datetime({ precision: 6 }).regex(/^(?!0000)/), z.uuid()]);
const listQuery = z.object({
  show: z
    .enum(CONVERSATION_FILTERS, { error: `is one of ${CONVERSATION_FILTERS.join(', ')}` })
    .default('all'),
  before: z
    .string()
    .refine((text) => cursor.safeParse(text.split('_')).success, { error: 'is not a place in this list' })
    .optional(),
});
const talkQuery = z.object({
  before: z.coerce.number({ error: 'has to be a number' }).int().min(1).max(2_147_483_647).optional(),
});

const deskForm = z.object({
  to: z.enum(['person', 'assistant', 'nobody'], { error: 'is "person", "assistant" or "nobody"' }),
  hours: z.enum(TAKE_HOURS, { error: 'is a number of hours that is offered' }).default(''),
});

const FILTER_NAMES = {
  all: 'All',
  taken: 'With a person',
  asked: 'Operator asked',
  open: 'Open messages',
} as const;

export function conversationRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  const { desk, inDesk, conversations } = deps;
  const { active, clock, send, sendPage } = pages;

  async function listPart(request: FastifyRequest, query: z.output<typeof listQuery>): Promise<JSX.Element> {
    const { show: filter, before } = query;
    const { chats, questions } = await inDesk(async (scope) => ({
      chats: await listConversations(scope, { filter, before: cursorOf(before), limit: CHATS_AT_ONCE + 1 }),
      questions: await listQuestions(scope, { filter: { only: 'open' }, limit: QUESTIONS_AT_ONCE }),
    }));
    const shown = chats.slice(0, CHATS_AT_ONCE);
    const last = chats.length > CHATS_AT_ONCE ? shown.at(-1) : undefined;
    return (
      <ConversationsList
        chats={shown}
        questions={questions}
        filter={filter}
        before={before}
        older={last && `${last.cursor.at}_${last.cursor.chatId}`}
        people={peopleOf(active(), ownerOf(request).ownerId)}
        clock={clock()}
      />
    );
  }

  app.get('/console/conversations', async (request, reply) => {
    const query = parsed(listQuery, request.query, 'The query');
    const tabs = CONVERSATION_FILTERS.map((show) => ({
      name: FILTER_NAMES[show],
      href: withQuery('/console/conversations', { show: show === 'all' ? undefined : show }),
      isCurrent: show === query.show,
    }));
    const head = (
      <>
        <PageHead
          title="Chats"
          about="Whose customer wrote last comes first. Open one to read it, and to see what became of every message."
        />
        <Tabs label="Which chats" tabs={tabs} />
      </>
    );
    return sendPage(request, reply, {
      title: 'Chats',
      at: 'conversations',
      head,
      part: await listPart(request, query),
    });
  });
  app.get('/console/conversations/list', async (request, reply) =>
    send(reply, await listPart(request, parsed(listQuery, request.query, 'The query'))),
  );

  async function onePart(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<{ chat: Conversation; part: JSX.Element }> {
    const { id: chatId } = parsed(chatKey, request.params, 'The address');
    const { before } = parsed(talkQuery, request.query, 'The query');
    const found = await inDesk(async (scope) => {
      const chat = await conversationOf(scope, chatId);
      if (!chat) throw new Problem(404, 'not_found', 'There is no chat of this id.');
      return {
        chat,
        transcript: await transcriptOf(scope, { chatId, before, limit: MESSAGES_AT_ONCE }),
        questions: await listQuestions(scope, { filter: { chatId }, limit: QUESTIONS_AT_ONCE }),
      };
    });
    const part = (
      <ConversationPart
        {...found}
        before={before}
        people={peopleOf(active(), ownerOf(request).ownerId)}
        csrfToken={reply.generateCsrf()}
        clock={clock()}
      />
    );
    return { chat: found.chat, part };
  }

  app.get('/console/conversations/:id', async (request, reply) => {
    const { chat, part } = await onePart(request, reply);
    const people = peopleOf(active(), ownerOf(request).ownerId);
    const title = people.ownChat(chat) ?? whoInWords(chat);
    const head = (
      <PageHead title={title} about={`Chat ${chat.chatId}`}>
        <a href="/console/conversations" class="back">
          <Icon name="back" />
          <span>All chats</span>
        </a>
      </PageHead>
    );
    return sendPage(request, reply, { title, at: 'conversations', head, part });
  });
  app.get('/console/conversations/:id/talk', async (request, reply) =>
    send(reply, (await onePart(request, reply)).part),
  );

  app.post('/console/conversations/:id/desk', { preHandler: app.csrfProtection }, async (request, reply) => {
    const { id: chatId } = parsed(chatKey, request.params, 'The address');
    const form = parsed(deskForm, request.body, 'The form');
    const by = `owner:${ownerOf(request).ownerId}`;
    const notice = await inDesk((scope) => handChat(scope, { chatId, by, ...form }));
    // Not waited for: a conversation that misses the bell looks by itself.
    if (notice.isGood) void conversations.deskChanged({ tenantId: desk.tenantId, chatId });
    if (request.headers['hx-request'] !== 'true') {
      return reply.redirect(`/console/conversations/${chatId}`, 303);
    }
    // Made of components: the scanner for unescaped text tells by the name.
    const { part: safePart } = await onePart(request, reply);
    return send(
      reply,
      <>
        {safePart}
        <Notice {...notice} outOfBand />
      </>,
    );
  });
}

/** Who has the chat from now on: the assistant, the owner who is logged in, or nobody because the matter is done. */
async function handChat(
  scope: Scope,
  { chatId, by, to, hours }: { chatId: string; by: string } & z.output<typeof deskForm>,
): Promise<{ words: string; isGood: boolean }> {
  if (!(await chatExists(scope.tx, chatId)))
    throw new Problem(404, 'not_found', 'There is no chat of this id.');
  if (to === 'assistant') {
    const { outcome } = await releaseChat(scope, { chatId, by });
    return outcome === 'released'
      ? { words: 'The assistant answers in this chat again.', isGood: true }
      : { words: 'The assistant had this chat already.', isGood: false };
  }
  if (to === 'nobody') {
    const { outcome } = await resolveByHand(scope, { chatId, by });
    return outcome === 'nothing_open'
      ? { words: 'Nothing was open in this chat.', isGood: false }
      : { words: 'The matter is closed. What comes next begins anew.', isGood: true };
  }
  const until =
    hours === ''
      ? undefined
      : DateTime.now()
          .plus({ hours: Number(hours) })
          .toJSDate();
  await takeChat(scope, { chatId, by, until });
  return { words: 'You have this chat now. The assistant is silent in it.', isGood: true };
}

function cursorOf(before: string | undefined): { at: string; chatId: string } | undefined {
  const [at, chatId] = before?.split('_') ?? [];
  return at === undefined || chatId === undefined ? undefined : { at, chatId };
}
