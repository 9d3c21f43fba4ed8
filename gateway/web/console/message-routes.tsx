// The account of messages (spec G1), and what went out and may not have arrived: an owner who has found out says so here.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { settleByPerson } from '../../../prisma/stores/sends.js';
import { listMessages } from '../../../prisma/stores/views/messages.js';
import { listUndelivered } from '../../../prisma/stores/views/undelivered.js';
import type { RouteDeps } from '../../deps.js';
import { parsed } from '../../problems.js';
import { withQuery } from '../components/paging.js';
import { Tabs } from '../components/tabs.js';
import { MESSAGE_TABS } from './message-words.js';
import { MessagesList } from './messages.js';
import type { Pages } from './pages.js';
import { peopleOf } from './people.js';
import { ownerOf } from './session.js';
import { Notice, PageHead } from './shell.js';

const AT_ONCE = 50;
const UNDELIVERED_AT_ONCE = 20;
const TAB_NAMES = { open: 'Open', settled: 'Settled', all: 'All', undelivered: 'Not delivered' } as const;

const query = z.object({
  show: z.enum(MESSAGE_TABS, { error: `is one of ${MESSAGE_TABS.join(', ')}` }).default('open'),
  before: z.uuid({ error: 'is not the id of a message' }).optional(),
});
const sendKey = z.object({ id: z.uuid({ error: 'is not the id of a message' }) });
const settlement = z.object({
  arrived: z.enum(['yes', 'no'], { error: 'is "yes" or "no"' }),
});

export function messageRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  const { desk, inDesk, logger } = deps;
  const { active, clock, send, sendPage } = pages;

  async function listPart(
    reply: FastifyReply,
    { show, before }: z.output<typeof query>,
  ): Promise<JSX.Element> {
    const { messages, undelivered } = await inDesk(async (scope) => ({
      messages:
        show === 'undelivered' ? [] : await listMessages(scope, { state: show, before, limit: AT_ONCE + 1 }),
      undelivered:
        show === 'open' || show === 'undelivered'
          ? await listUndelivered(scope, {
              limit: show === 'undelivered' ? AT_ONCE : UNDELIVERED_AT_ONCE,
              only: show === 'undelivered' ? undefined : 'unknown',
            })
          : [],
    }));
    const shown = messages.slice(0, AT_ONCE);
    return (
      <MessagesList
        show={show}
        before={before}
        messages={shown}
        older={messages.length > AT_ONCE ? shown.at(-1)?.messageId : undefined}
        undelivered={undelivered}
        people={peopleOf(active())}
        csrfToken={reply.generateCsrf()}
        clock={clock()}
      />
    );
  }

  app.get('/console/messages', async (request, reply) => {
    const asked = parsed(query, request.query, 'The query');
    const tabs = MESSAGE_TABS.map((show) => ({
      name: TAB_NAMES[show],
      href: withQuery('/console/messages', { show: show === 'open' ? undefined : show }),
      isCurrent: show === asked.show,
    }));
    const head = (
      <>
        <PageHead
          title="Messages"
          about="Every message that came, and what became of it. Open ones are being worked on, or wait for somebody."
        />
        <Tabs label="Which messages" tabs={tabs} />
      </>
    );
    return sendPage(request, reply, {
      title: 'Messages',
      at: 'messages',
      head,
      part: await listPart(reply, asked),
    });
  });
  app.get('/console/messages/list', async (request, reply) =>
    send(reply, await listPart(reply, parsed(query, request.query, 'The query'))),
  );

  app.post('/console/sends/:id', { preHandler: app.csrfProtection }, async (request, reply) => {
    const { id: outboxId } = parsed(sendKey, request.params, 'The address');
    const { arrived } = parsed(settlement, request.body, 'The answer');
    const asked = parsed(query, request.query, 'The query');
    const { ownerId } = ownerOf(request);
    const hasArrived = arrived === 'yes';
    const { outcome } = await inDesk((scope) =>
      settleByPerson(scope, { outboxId, hasArrived, by: `owner:${ownerId}` }),
    );
    logger.event('send.settled', { tenantId: desk.tenantId, outboxId, outcome, hasArrived });
    if (request.headers['hx-request'] !== 'true')
      return reply.redirect(withQuery('/console/messages', { show: asked.show }), 303);
    const words =
      outcome === 'not_unknown'
        ? 'What became of it was known already.'
        : hasArrived
          ? 'Noted: it was delivered.'
          : 'Noted: it was not delivered. It is not sent again; say it yourself if it still matters.';
    // Made of components: the scanner for unescaped text tells by the name.
    const safePart = await listPart(reply, asked);
    return send(
      reply,
      <>
        {safePart}
        <Notice words={words} isGood={outcome === 'settled'} outOfBand />
      </>,
    );
  });
}
