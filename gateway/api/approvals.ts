// Approvals for programs. Whoever has the token decides as `api`, where policy lets approvals be decided there.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { listApprovals } from '../../prisma/stores/views/approvals.js';
import { APPROVAL_STATES } from '../../workflows/domain/approval.js';
import { inWords } from '../decisions.js';
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
const decision = z.strictObject({
  decision: z.enum(['approve', 'reject'], { error: 'is "approve" or "reject"' }),
  reason: z.string({ error: 'has to be a text' }).optional(),
});
const key = z.object({ ref: z.string() });

export function approvalRoutes(api: FastifyInstance, deps: RouteDeps): void {
  const { inDesk, decisions, desk } = deps;

  api.get('/approvals', async (request) => {
    const { state, limit } = parsed(filter, request.query, 'The query');
    const approvals = await inDesk((scope) =>
      listApprovals(scope, { filter: { state }, limit, now: new Date() }),
    );
    return approvals.map(approvalJson);
  });

  api.post('/approvals/:ref', async (request) => {
    const { ref } = parsed(key, request.params, 'The address');
    const body = parsed(decision, request.body, 'The decision');
    const result = await decisions.decideApproval({
      tenantId: desk.tenantId,
      key: { ref },
      ...body,
      approver: { surface: 'api', id: 'api' },
    });
    const words = inWords(result, ref);
    switch (result.outcome) {
      case 'decided':
        return { ref, outcome: result.outcome, state: result.state };
      case 'already_decided':
        throw new Problem(409, 'conflict', words);
      case 'expired':
        throw new Problem(410, 'gone', words);
      case 'unknown':
        throw new Problem(404, 'not_found', words);
      case 'refused':
        throw result.why === 'surface'
          ? new Problem(403, 'forbidden', words)
          : new Problem(400, 'bad_request', words);
    }
  });
}
