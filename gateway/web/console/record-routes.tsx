// What has happened: runs and messages, as pages and as the parts of them that htmx asks for again.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { listMessages } from '../../../prisma/stores/views/messages.js';
import { listRuns, storyOfRun, type RunStory } from '../../../prisma/stores/views/runs.js';
import type { RouteDeps } from '../../deps.js';
import { parsed, Problem } from '../../problems.js';
import { titleOf } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import { MessagesList } from './messages.js';
import type { Pages } from './pages.js';
import { RunPage } from './run.js';
import { RunsList, withoutStep } from './runs.js';
import { PageHead } from './shell.js';

const AT_ONCE = 100;

const runKey = z.object({ id: z.uuid({ error: 'is not the id of a run' }) });

export function recordRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  const { inDesk } = deps;
  const { active, clock, linkOf, send, sendPage } = pages;

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
