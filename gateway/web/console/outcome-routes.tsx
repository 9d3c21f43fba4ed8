// An owner says whether an effect happened: through the same function as HAPPENED and NOT in a chat.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { settleFinding } from '../../../activities/approvals/settle-finding.js';
import { unknownSteps } from '../../../prisma/stores/views/unknown-steps.js';
import type { RouteDeps } from '../../deps.js';
import { parsed, Problem } from '../../problems.js';
import { FRESH_MS } from './approval-routes.js';
import { OutcomeCard } from './outcomes.js';
import type { Pages } from './pages.js';
import { ownerOf } from './session.js';
import { Notice } from './shell.js';

const stepKey = z.object({ id: z.uuid({ error: 'is not the id of a step' }) });
const findingForm = z.object({
  finding: z.enum(['happened', 'notHappened'], { error: 'is "happened" or "notHappened"' }),
});

export function outcomeRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  const { desk, inDesk, conversations, logger } = deps;
  const { active, clock, send } = pages;

  app.post('/console/outcomes/:id', { preHandler: app.csrfProtection }, async (request, reply) => {
    const { id } = parsed(stepKey, request.params, 'The address');
    const { finding } = parsed(findingForm, request.body, 'The form');
    const { ownerId } = ownerOf(request);
    const { tenantId } = desk;
    const settled = await inDesk((scope) =>
      settleFinding(
        scope,
        { configuration: active() },
        { stepId: id, finding, approver: { surface: 'console', id: ownerId }, stream: 'tenant' },
      ),
    );
    logger.event('effect.settled', { tenantId, stepId: id, outcome: settled.outcome, surface: 'console' });
    if (settled.outcome === 'no_such_step') {
      throw new Problem(404, 'not_found', 'There is no step of this id.');
    }
    if (settled.outcome === 'settled' && settled.outboxId !== undefined) {
      const { turnId, chatId, outboxId } = settled;
      // Not waited for: the row is settled, and the sweep rings again where this bell is lost.
      void conversations.say({ tenantId, chatId, turnId, outboxId, kind: 'answer', final: true });
    }
    if (request.headers['hx-request'] !== 'true') return reply.redirect('/console/approvals', 303);

    const now = clock();
    const settledSince = new Date(now.now.getTime() - FRESH_MS);
    const steps = await inDesk((scope) => unknownSteps(scope, { stepId: id, settledSince, limit: 1 }));
    const isGood = settled.outcome === 'settled';
    const words = isGood
      ? finding === 'happened'
        ? 'Noted: it was done. The customer is told.'
        : 'Noted: it wasn’t done. The customer is told.'
      : settled.outcome === 'surface_not_allowed'
        ? 'Policy doesn’t let owners decide in the console. Your answer changed nothing.'
        : 'Somebody has said before what came of it. Your answer changed nothing.';
    const answer = (
      <>
        {steps.map((step) => (
          <OutcomeCard
            step={step}
            tools={active().tools}
            owners={active().owners}
            csrfToken={reply.generateCsrf()}
            clock={now}
          />
        ))}
        <Notice words={words} isGood={isGood} outOfBand />
      </>
    );
    return send(reply, answer);
  });
}
