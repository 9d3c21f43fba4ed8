// The requests that wait for an owner: the page, its part that htmx asks for again, one request by itself, and the decision.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Scope } from '../../../prisma/stores/scope.js';
import { effectsState } from '../../../prisma/stores/switches.js';
import {
  approvalsWithText,
  listApprovals,
  toolsAskedAbout,
  type ApprovalView,
} from '../../../prisma/stores/views/approvals.js';
import { unknownSteps } from '../../../prisma/stores/views/unknown-steps.js';
import { inWords } from '../../decisions.js';
import type { RouteDeps } from '../../deps.js';
import { parsed, Problem } from '../../problems.js';
import { titleOf } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import { ApprovalCard, type CardProps } from './approvals.js';
import { ApprovalsList, Filters, OneApproval, SHOWN, type ListProps, type Wanted } from './approvals-list.js';
import type { Pages } from './pages.js';
import { ownerOf } from './session.js';
import { Notice, PageHead } from './shell.js';

const AT_ONCE = 100;
const HISTORY = 30;
/** Beside the queue: enough to see that one's answer has arrived. */
const LATELY = 5;
/** Long enough to read what came of it before the card moves to the history. */
export const FRESH_MS = 2 * 60_000;

export const approvalKey = z.object({ id: z.uuid({ error: 'is not the id of an approval' }) });
const decisionForm = z.object({
  decision: z.enum(['approve', 'reject'], { error: 'is "approve" or "reject"' }),
  reason: z.string().optional(),
});
/** A form sends what nobody has filled in as an empty text. */
const given = z
  .string()
  .trim()
  .max(100)
  .transform((text) => (text === '' ? undefined : text))
  .optional();
const wantedQuery = z.object({
  show: z.enum(SHOWN).default('waiting'),
  tool: given,
  q: given,
  before: z.uuid().optional(),
});

export function approvalRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  const { desk, inDesk, decisions } = deps;
  const { active, clock, send, sendPage } = pages;

  const cardProps = (request: FastifyRequest, reply: FastifyReply): Omit<CardProps, 'approval'> => ({
    tools: active().tools,
    owners: active().owners,
    csrfToken: reply.generateCsrf(),
    clock: clock(),
    ownerId: ownerOf(request).ownerId,
  });

  async function listProps(request: FastifyRequest, reply: FastifyReply): Promise<ListProps> {
    const wanted = parsed(wantedQuery, request.query, 'The query');
    const props = cardProps(request, reply);
    const { now } = props.clock;
    const found = await inDesk(async (scope) => ({
      ...(await wantedApprovals(scope, wanted, now)),
      asked: await toolsAskedAbout(scope),
      unknown: await unknownSteps(scope, {
        settledSince: new Date(now.getTime() - FRESH_MS),
        limit: AT_ONCE,
      }),
      areEffectsOff: (await effectsState(scope)).value === 'off',
    }));
    return { ...props, ...found, wanted };
  }

  async function oneOf(id: string): Promise<ApprovalView> {
    const { now } = clock();
    const [approval] = await inDesk((scope) =>
      listApprovals(scope, { filter: { approvalId: id }, limit: 1, now }),
    );
    if (!approval) throw new Problem(404, 'not_found', 'There is no such request.');
    return approval;
  }

  function sendOne(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: { approval: ApprovalView; notice?: { words: string; isGood: boolean } },
  ): Promise<FastifyReply> {
    const { approval, notice } = shown;
    return sendPage(request, reply, {
      title: `${titleOf(approval.tool)} ${approval.ref}`,
      at: 'approvals',
      head: (
        <PageHead
          title={`Request ${approval.ref}`}
          about="What the assistant would do, and who said what to it."
        >
          <a href="/console/approvals" class="back">
            <Icon name="back" />
            <span>All requests</span>
          </a>
        </PageHead>
      ),
      part: <OneApproval approval={approval} {...cardProps(request, reply)} />,
      ...(notice && { notice }),
    });
  }

  app.get('/console/approvals', async (request, reply) => {
    const props = await listProps(request, reply);
    return sendPage(request, reply, {
      title: 'Approvals',
      at: 'approvals',
      head: (
        <>
          <PageHead title="Approvals" about="What the assistant would do, if you say yes." />
          {props.asked.length > 0 ? <Filters wanted={props.wanted} asked={props.asked} /> : null}
        </>
      ),
      part: <ApprovalsList {...props} />,
    });
  });
  app.get('/console/approvals/list', async (request, reply) => {
    const props = await listProps(request, reply);
    return send(reply, <ApprovalsList {...props} />);
  });

  app.get('/console/approvals/:id', async (request, reply) => {
    const { id } = parsed(approvalKey, request.params, 'The address');
    return sendOne(request, reply, { approval: await oneOf(id) });
  });
  app.get('/console/approvals/:id/card', async (request, reply) => {
    const { id } = parsed(approvalKey, request.params, 'The address');
    return send(reply, <OneApproval approval={await oneOf(id)} {...cardProps(request, reply)} />);
  });

  app.post('/console/approvals/:id', { preHandler: app.csrfProtection }, async (request, reply) => {
    const { id } = parsed(approvalKey, request.params, 'The address');
    const { decision, reason } = parsed(decisionForm, request.body, 'The decision');
    const result = await decisions.decideApproval({
      tenantId: desk.tenantId,
      key: { approvalId: id },
      decision,
      reason,
      approver: { surface: 'console', id: ownerOf(request).ownerId },
    });
    const approval = await oneOf(id);
    const words = inWords(result, approval.ref);
    const isGood = result.outcome === 'decided' || result.outcome === 'counted';
    if (request.headers['hx-request'] !== 'true') {
      if (isGood) return reply.redirect(`/console/approvals/${id}`, 303);
      return sendOne(request, reply.code(409), { approval, notice: { words, isGood } });
    }
    const answer = (
      <>
        <ApprovalCard approval={approval} {...cardProps(request, reply)} />
        <Notice words={words} isGood={isGood} outOfBand />
      </>
    );
    return send(reply, answer);
  });
}

/** What waits, below it what was decided or ran out a moment ago, and what was decided before. */
async function wantedApprovals(
  scope: Scope,
  { show, tool, q, before }: Wanted,
  now: Date,
): Promise<Pick<ListProps, 'cards' | 'decided' | 'older'>> {
  const among = q === undefined ? undefined : await idsWith(scope, { show, tool, q }, now);
  const waiting =
    show === 'decided' || before !== undefined
      ? []
      : await listApprovals(scope, { filter: { state: 'open', tool, among }, limit: AT_ONCE, now });
  const filter = { state: 'closed', tool, among } as const;
  const closed = await listApprovals(scope, { filter, limit: HISTORY + 1, now, before });
  // Nobody may have noted yet that the time is up: it is over all the same, and its card stays to say so.
  const overAt = ({ decision, state, expiresAt }: ApprovalView): Date | undefined =>
    state === 'open' ? expiresAt : decision?.decidedAt;
  const isFresh = (one: ApprovalView): boolean => {
    const at = overAt(one);
    return show !== 'decided' && at !== undefined && now.getTime() - at.getTime() < FRESH_MS;
  };
  const byAge = (one: ApprovalView, other: ApprovalView): number =>
    one.askedAt.getTime() - other.askedAt.getTime() || one.ref.localeCompare(other.ref);
  const cards = [...waiting.sort(byAge), ...closed.filter(isFresh).sort(byAge)];
  const decided = closed.slice(0, HISTORY).filter((one) => !isFresh(one));
  return {
    cards,
    decided: show === 'waiting' ? decided.slice(0, LATELY) : decided,
    older: show !== 'waiting' && closed.length > HISTORY,
  };
}

async function idsWith(
  scope: Scope,
  { show, tool, q }: { show: Wanted['show']; tool: string | undefined; q: string },
  now: Date,
): Promise<string[]> {
  const state = show === 'decided' ? 'closed' : 'all';
  return approvalsWithText(scope, { filter: { state, tool }, text: q, now });
}
