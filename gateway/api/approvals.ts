// Approvals for programs. Whoever has the token decides as `api`, where policy lets approvals be decided there.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { approvalByRef, listApprovals } from '../../prisma/stores/views/approvals.js';
import { APPROVAL_STATES, refProblem } from '../../workflows/domain/approval.js';
import { editInWords, inWords, type DecisionResult, type EditResult, type Refused } from '../decisions.js';
import type { RouteDeps } from '../deps.js';
import { parsed, Problem } from '../problems.js';
import { approvalJson } from './shapes.js';

const filter = z.object({
  state: z
    .enum([...APPROVAL_STATES, 'closed', 'all'], {
      error: `is one of ${APPROVAL_STATES.join(', ')}, closed, all`,
    })
    .default('open'),
  limit: z.coerce.number({ error: 'has to be a number' }).int().min(1).max(500).default(100),
});
const decision = z.discriminatedUnion(
  'decision',
  [
    z.strictObject({
      decision: z.enum(['approve', 'reject']),
      reason: z.string({ error: 'has to be a text' }).optional(),
    }),
    z.strictObject({
      decision: z.literal('edit'),
      arguments: z.record(z.string(), z.json(), { error: 'has to be an object with all arguments' }),
    }),
  ],
  { error: 'is "approve", "reject" or "edit"' },
);
const key = z.object({ ref: z.string() });
const approver = { surface: 'api', id: 'api' } as const;

export function approvalRoutes(api: FastifyInstance, deps: RouteDeps): void {
  const { inDesk, decisions, desk } = deps;

  api.get('/approvals', async (request) => {
    const { state, limit } = parsed(filter, request.query, 'The query');
    const approvals = await inDesk((scope) =>
      listApprovals(scope, { filter: { state }, limit, now: new Date() }),
    );
    return approvals.map(approvalJson);
  });

  api.get('/approvals/:ref', async (request) => {
    const { ref } = parsed(key, request.params, 'The address');
    const problem = refProblem(ref);
    if (problem) throw new Problem(400, 'bad_request', `The REF: ${problem}.`);
    const approval = await inDesk((scope) => approvalByRef(scope, ref, new Date()));
    if (!approval) throw new Problem(404, 'not_found', `There is no request ${ref}.`);
    return approvalJson(approval);
  });

  api.post('/approvals/:ref', async (request) => {
    const { ref } = parsed(key, request.params, 'The address');
    const body = parsed(decision, request.body, 'The decision');
    const asked = { tenantId: desk.tenantId, key: { ref }, approver };
    if (body.decision === 'edit') {
      const change = { kind: 'arguments', arguments: body.arguments } as const;
      return edited(await decisions.editApproval({ ...asked, change }), ref);
    }
    return decided(await decisions.decideApproval({ ...asked, ...body }), ref);
  });
}

function decided(result: DecisionResult, ref: string): object {
  switch (result.outcome) {
    case 'decided':
      return { ref, outcome: result.outcome, state: result.state };
    case 'counted':
      return { ref, outcome: result.outcome, state: 'open', missing: result.missing };
    default:
      throw problemOf(result, inWords(result, ref));
  }
}

function edited(result: EditResult, ref: string): object {
  switch (result.outcome) {
    case 'edited':
      return { ref, outcome: result.outcome, state: 'edited', newRef: result.newRef };
    case 'not_changed': {
      const isTaken = result.problem === 'gone' || result.problem === 'already_asked';
      const words = editInWords(result, ref);
      throw isTaken ? new Problem(409, 'conflict', words) : new Problem(400, 'bad_request', words);
    }
    default:
      throw problemOf(result, inWords(result, ref));
  }
}

function problemOf(refused: Refused, words: string): Problem {
  switch (refused.outcome) {
    case 'already_decided':
    case 'already_said':
    case 'edited_before':
      return new Problem(409, 'conflict', words);
    case 'expired':
      return new Problem(410, 'gone', words);
    case 'unknown':
      return new Problem(404, 'not_found', words);
    case 'not_asked':
      return new Problem(403, 'forbidden', words);
    case 'too_many_codes':
      return new Problem(429, 'too_many_requests', words);
    case 'refused':
      return refused.why === 'surface'
        ? new Problem(403, 'forbidden', words)
        : new Problem(400, 'bad_request', words);
  }
}
