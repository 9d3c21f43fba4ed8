// Runs for programs: where they stand, and each step of one.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { storyOfRun } from '../../prisma/stores/views/run-story.js';
import { listRuns } from '../../prisma/stores/views/runs.js';
import type { RouteDeps } from '../deps.js';
import { parsed, Problem } from '../problems.js';
import { temporalLink } from '../temporal-link.js';
import { runJson, runStoryJson } from './shapes.js';

const filter = z.object({
  state: z.enum(['all', 'open', 'unknown'], { error: 'is one of all, open, unknown' }).default('all'),
  limit: z.coerce.number({ error: 'has to be a number' }).int().min(1).max(500).default(100),
});
const key = z.object({ id: z.uuid({ error: 'is not the id of a run' }) });

export function runRoutes(api: FastifyInstance, { inDesk, temporalUi }: RouteDeps): void {
  api.get('/runs', async (request) => {
    const { state, limit } = parsed(filter, request.query, 'The query');
    const only = state === 'all' ? undefined : state;
    const runs = await inDesk((scope) => listRuns(scope, { limit, only }));
    return runs.map((run) => runJson(run, temporalLink(temporalUi, run.runId)));
  });

  api.get('/runs/:id', async (request) => {
    const { id } = parsed(key, request.params, 'The address');
    const run = await inDesk((scope) => storyOfRun(scope, { runId: id, now: new Date() }));
    if (!run) throw new Problem(404, 'not_found', 'There is no run of this id.');
    return runStoryJson(run, temporalLink(temporalUi, id));
  });
}
