// Runs: the list with its filters, and the story of one.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DateTime } from 'luxon';
import { z } from 'zod';
import { storyOfRun, type RunStory } from '../../../prisma/stores/views/run-story.js';
import { listRuns } from '../../../prisma/stores/views/runs.js';
import type { RouteDeps } from '../../deps.js';
import { parsed, Problem } from '../../problems.js';
import { titleOf } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import type { Pages } from './pages.js';
import { peopleOf } from './people.js';
import { RunPage } from './run.js';
import { RunFilters, RunsList, withoutStep, type RunQuery } from './runs.js';
import { PageHead } from './shell.js';

const AT_ONCE = 50;

const runKey = z.object({ id: z.uuid({ error: 'is not the id of a run' }) });
/** As a browser sends a field for a local time; an empty field is none. */
const localTime = z
  .string()
  .regex(/^(\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?)?$/, { error: 'is not a date with a time' })
  .optional();
const filters = z.object({
  state: z
    .string()
    .regex(/^[a-z_]{0,30}$/, { error: 'is not a state' })
    .optional(),
  from: localTime,
  to: localTime,
  before: z.uuid({ error: 'is not the id of a run' }).optional(),
});

export function runRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  const { inDesk } = deps;
  const { active, clock, linkOf, send, sendPage } = pages;

  async function listPart(query: RunQuery): Promise<JSX.Element> {
    const { state, from, to, before } = query;
    const only = state === 'failed' || state === 'open' || state === 'unknown' ? state : undefined;
    const runs = await inDesk((scope) =>
      listRuns(scope, {
        only,
        state: only === undefined && state !== '' ? state : undefined,
        since: timeOf(from),
        until: timeOf(to),
        before,
        limit: AT_ONCE + 1,
      }),
    );
    const shown = runs.slice(0, AT_ONCE);
    return (
      <RunsList
        runs={shown}
        query={query}
        older={runs.length > AT_ONCE ? shown.at(-1)?.runId : undefined}
        people={peopleOf(active())}
        clock={clock()}
        linkOf={linkOf}
      />
    );
  }

  /** Owners think in the time of their business. */
  function timeOf(local: string | undefined): Date | undefined {
    if (local === undefined || local === '') return undefined;
    const time = DateTime.fromISO(local, { zone: active().business.timeZone });
    // Postgres knows no year 0.
    if (!time.isValid || time.toUTC().year < 1)
      throw new Problem(400, 'bad_request', 'The query: there is no such date and time.');
    return time.toJSDate();
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
      people={peopleOf(active())}
      csrfToken={reply.generateCsrf()}
      clock={clock()}
      temporalUrl={linkOf(run.runId)}
    />
  );

  app.get('/console/runs', async (request, reply) => {
    const query = parsed(filters, request.query, 'The query');
    const head = (
      <>
        <PageHead
          title="Runs"
          about="Messages that were taken as a task for a tool, and what came of them. The newest first."
        />
        <RunFilters query={query} timeZone={active().business.timeZone} />
      </>
    );
    return sendPage(request, reply, { title: 'Runs', at: 'runs', head, part: await listPart(query) });
  });
  app.get('/console/runs/list', async (request, reply) =>
    send(reply, await listPart(parsed(filters, request.query, 'The query'))),
  );

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
}
