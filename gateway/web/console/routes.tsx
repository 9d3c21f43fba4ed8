// The owner console: pages, the parts of pages that htmx asks for again, and the two things that can be done here.
import cookieCsrf from '@fastify/csrf-protection';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { logOut } from '../../../prisma/stores/sessions.js';
import { listApprovals, type ApprovalView } from '../../../prisma/stores/views/approvals.js';
import { countWaiting, listMessages } from '../../../prisma/stores/views/messages.js';
import { listRuns, storyOfRun, type RunStory } from '../../../prisma/stores/views/runs.js';
import { inWords } from '../../decisions.js';
import type { RouteDeps } from '../../deps.js';
import { parsed, Problem } from '../../problems.js';
import { temporalLink } from '../../temporal-link.js';
import { titleOf } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import { ApprovalCard, ApprovalsList } from './approvals.js';
import { consoleEvents } from './events.js';
import { loginRoutes } from './login-routes.js';
import { MessagesList } from './messages.js';
import { RunPage } from './run.js';
import { RunsList, withoutStep } from './runs.js';
import { clearSessionCookie, ownerOf, requireOwner } from './session.js';
import { Navigation, Notice, PageHead, Shell, type Place } from './shell.js';

const AT_ONCE = 100;
const HISTORY = 30;
/** Long enough to read what came of it before the card moves to the history. */
const FRESH_MS = 2 * 60_000;

const runKey = z.object({ id: z.uuid({ error: 'is not the id of a run' }) });
const approvalKey = z.object({ id: z.uuid({ error: 'is not the id of an approval' }) });
const decisionForm = z.object({
  decision: z.enum(['approve', 'reject'], { error: 'is "approve" or "reject"' }),
  reason: z.string().optional(),
});
const place = z.object({ at: z.enum(['approvals', 'runs', 'messages']).default('approvals') });

export async function consoleRoutes(app: FastifyInstance, deps: RouteDeps): Promise<void> {
  await app.register(async (pages) => {
    await pages.register(formbody);
    await pages.register(cookieCsrf, {
      cookieKey: 'aroko_csrf',
      cookieOpts: { signed: true, httpOnly: true, sameSite: 'strict', path: '/console', secure: 'auto' },
      getToken: csrfTokenOf,
    });
    loginRoutes(pages, deps);
    await pages.register(async (inside) => {
      inside.addHook('onRequest', requireOwner(deps.database, deps.desk.tenantId));
      consoleEvents(inside, deps);
      consolePages(inside, deps);
      consoleActions(inside, deps);
    });
  });
}

function csrfTokenOf(request: FastifyRequest): string | undefined {
  const header = request.headers['x-csrf-token'];
  if (typeof header === 'string') return header;
  const form = z.object({ _csrf: z.string() }).safeParse(request.body);
  return form.success ? form.data._csrf : undefined;
}

function consolePages(app: FastifyInstance, deps: RouteDeps): void {
  const { desk, inDesk, temporalUi } = deps;
  // Read each time: it may have been reloaded.
  const active = () => desk.configuration;
  const clock = () => ({ now: new Date(), timeZone: active().business.timeZone });
  const linkOf = (runId: string): string | undefined => temporalLink(temporalUi, runId);

  const send = async (reply: FastifyReply, page: JSX.Element): Promise<FastifyReply> =>
    reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(await page);

  async function sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    page: { title: string; at: Place; head: JSX.Element; part: JSX.Element },
  ): Promise<FastifyReply> {
    const { ownerId } = ownerOf(request);
    // Made of components, not of text: the scanner for unescaped text tells by the name.
    const [safeHead, safePart] = [page.head, page.part];
    const shell = (
      <Shell
        title={page.title}
        at={page.at}
        business={active().business.name}
        owner={active().owners.find((owner) => owner.id === ownerId)?.name ?? ownerId}
        counts={await inDesk(countWaiting)}
        csrfToken={reply.generateCsrf()}
        modelLabel={deps.modelLabel}
      >
        {safeHead}
        {safePart}
      </Shell>
    );
    return send(reply, shell);
  }

  async function approvalsPart(reply: FastifyReply): Promise<JSX.Element> {
    const { now, timeZone } = clock();
    const [waiting, closed] = await inDesk(async (scope) => [
      await listApprovals(scope, { filter: { state: 'open' }, limit: AT_ONCE, now }),
      await listApprovals(scope, { filter: { state: 'closed' }, limit: HISTORY, now }),
    ]);
    const isFresh = (one: ApprovalView): boolean =>
      one.decision !== undefined && now.getTime() - one.decision.decidedAt.getTime() < FRESH_MS;
    return (
      <ApprovalsList
        waiting={waiting ?? []}
        fresh={(closed ?? []).filter(isFresh)}
        history={(closed ?? []).filter((one) => !isFresh(one))}
        tools={active().tools}
        owners={active().owners}
        csrfToken={reply.generateCsrf()}
        clock={{ now, timeZone }}
      />
    );
  }

  async function runsPart(): Promise<JSX.Element> {
    const runs = await inDesk((scope) => listRuns(scope, { limit: AT_ONCE }));
    return <RunsList runs={runs} clock={clock()} linkOf={linkOf} />;
  }

  async function messagesPart(): Promise<JSX.Element> {
    const messages = await inDesk((scope) => listMessages(scope, { state: 'open', limit: AT_ONCE }));
    return <MessagesList messages={messages} clock={clock()} />;
  }

  async function storyOf(request: FastifyRequest): Promise<RunStory> {
    const { id } = parsed(runKey, request.params, 'The address');
    const run = await inDesk((scope) => storyOfRun(scope, { runId: id, now: new Date() }));
    if (!run) throw new Problem(404, 'not_found', 'There is no run of this id.');
    return run;
  }

  const runPart = (run: RunStory, reply: FastifyReply): JSX.Element => (
    <RunPage
      run={run}
      tools={active().tools}
      owners={active().owners}
      csrfToken={reply.generateCsrf()}
      clock={clock()}
      temporalUrl={linkOf(run.runId)}
    />
  );

  app.get('/console', async (_request, reply) => reply.redirect('/console/approvals', 303));

  app.get('/console/navigation', async (request, reply) => {
    const { at } = parsed(place, request.query, 'The query');
    return send(reply, <Navigation at={at} counts={await inDesk(countWaiting)} />);
  });

  app.get('/console/approvals', async (request, reply) =>
    sendPage(request, reply, {
      title: 'Approvals',
      at: 'approvals',
      head: <PageHead title="Approvals" about="What the assistant would do, if you say yes." />,
      part: await approvalsPart(reply),
    }),
  );
  app.get('/console/approvals/list', async (_request, reply) => send(reply, await approvalsPart(reply)));

  app.get('/console/runs', async (request, reply) =>
    sendPage(request, reply, {
      title: 'Runs',
      at: 'runs',
      head: (
        <PageHead
          title="Runs"
          about="Messages that were taken as a task for a tool, and what came of them. The newest first."
        />
      ),
      part: await runsPart(),
    }),
  );
  app.get('/console/runs/list', async (_request, reply) => send(reply, await runsPart()));

  app.get('/console/runs/:id', async (request, reply) => {
    const run = await storyOf(request);
    const title = run.tools[0] === undefined ? withoutStep(run) : titleOf(run.tools[0]);
    const head = (
      <PageHead title={title} about={`Run ${run.runId}`}>
        <a href="/console/runs" class="back">
          <Icon name="back" />
          <span>All runs</span>
        </a>
      </PageHead>
    );
    return sendPage(request, reply, { title, at: 'runs', head, part: runPart(run, reply) });
  });
  app.get('/console/runs/:id/story', async (request, reply) =>
    send(reply, runPart(await storyOf(request), reply)),
  );

  app.get('/console/messages', async (request, reply) =>
    sendPage(request, reply, {
      title: 'Messages',
      at: 'messages',
      head: (
        <PageHead
          title="Messages"
          about="What customers wrote and what is still open: being worked on, or waiting for somebody."
        />
      ),
      part: await messagesPart(),
    }),
  );
  app.get('/console/messages/list', async (_request, reply) => send(reply, await messagesPart()));
}

function consoleActions(app: FastifyInstance, deps: RouteDeps): void {
  const { database, desk, inDesk, decisions } = deps;
  const guarded = { preHandler: app.csrfProtection };

  app.post('/console/approvals/:id', guarded, async (request, reply) => {
    const { id } = parsed(approvalKey, request.params, 'The address');
    const { decision, reason } = parsed(decisionForm, request.body, 'The decision');
    const owner = ownerOf(request);
    const result = await decisions.decideApproval({
      tenantId: desk.tenantId,
      key: { approvalId: id },
      decision,
      reason,
      approver: { surface: 'console', id: owner.ownerId },
    });
    if (request.headers['hx-request'] !== 'true') return reply.redirect('/console/approvals', 303);

    const now = new Date();
    const [approval] = await inDesk((scope) =>
      listApprovals(scope, { filter: { approvalId: id }, limit: 1, now }),
    );
    if (!approval) throw new Problem(404, 'not_found', 'There is no such request any more.');
    const { tools, owners, business } = desk.configuration;
    const clock = { now, timeZone: business.timeZone };
    const answer = (
      <>
        <ApprovalCard
          approval={approval}
          tools={tools}
          owners={owners}
          csrfToken={reply.generateCsrf()}
          clock={clock}
        />
        <Notice words={inWords(result, approval.ref)} isGood={result.outcome === 'decided'} outOfBand />
      </>
    );
    return reply.type('text/html; charset=utf-8').send(await answer);
  });

  app.post('/console/logout', guarded, async (request, reply) => {
    await logOut(database, ownerOf(request));
    clearSessionCookie(reply);
    return reply.redirect('/console/login', 303);
  });
}
