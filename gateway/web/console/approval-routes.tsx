// The requests that wait for an owner: the page, its part that htmx asks for again, and the decision.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { listApprovals, type ApprovalView } from '../../../prisma/stores/views/approvals.js';
import { inWords } from '../../decisions.js';
import type { RouteDeps } from '../../deps.js';
import { parsed, Problem } from '../../problems.js';
import { ApprovalCard, ApprovalsList } from './approvals.js';
import type { Pages } from './pages.js';
import { ownerOf } from './session.js';
import { Notice, PageHead } from './shell.js';

const AT_ONCE = 100;
const HISTORY = 30;
/** Long enough to read what came of it before the card moves to the history. */
const FRESH_MS = 2 * 60_000;

const approvalKey = z.object({ id: z.uuid({ error: 'is not the id of an approval' }) });
const decisionForm = z.object({
  decision: z.enum(['approve', 'reject'], { error: 'is "approve" or "reject"' }),
  reason: z.string().optional(),
});

export function approvalRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  const { desk, inDesk, decisions } = deps;
  const { active, clock, send } = pages;

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

  app.get('/console/approvals', async (request, reply) =>
    pages.sendPage(request, reply, {
      title: 'Approvals',
      at: 'approvals',
      head: <PageHead title="Approvals" about="What the assistant would do, if you say yes." />,
      part: await approvalsPart(reply),
    }),
  );
  app.get('/console/approvals/list', async (_request, reply) => send(reply, await approvalsPart(reply)));

  app.post('/console/approvals/:id', { preHandler: app.csrfProtection }, async (request, reply) => {
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

    const { now, timeZone } = clock();
    const [approval] = await inDesk((scope) =>
      listApprovals(scope, { filter: { approvalId: id }, limit: 1, now }),
    );
    if (!approval) throw new Problem(404, 'not_found', 'There is no such request any more.');
    const { tools, owners } = active();
    const answer = (
      <>
        <ApprovalCard
          approval={approval}
          tools={tools}
          owners={owners}
          csrfToken={reply.generateCsrf()}
          clock={{ now, timeZone }}
        />
        <Notice words={inWords(result, approval.ref)} isGood={result.outcome === 'decided'} outOfBand />
      </>
    );
    return send(reply, answer);
  });
}
