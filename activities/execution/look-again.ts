// The look right before a call. Between the claim and the call time passes: the kill switch may have been turned, a person
// may have taken the chat, another worker the step.
import { ApplicationFailure } from '@temporalio/common';
import type { Scope } from '../../prisma/stores/scope.js';
import { holdsFence, takeBackStart } from '../../prisma/stores/steps.js';
import { holdOf, type Hold } from '../../prisma/stores/switches.js';
import { FAILURE_TYPES } from '../../workflows/domain/failures.js';
import type { StepOutcome } from '../../workflows/domain/plan.js';
import type { ActivityDeps } from '../deps.js';
import type { Tenant } from '../tenants.js';
import { park, refuse, type Claimed } from './claim-step.js';

/**
 * A look is trusted for so long, counted from before it was taken: no effect starts later than this after a switch, within the
 * second that is promised. A process that was stalled meanwhile looks once more.
 */
const LOOK_HOLDS_MS = 900;

/** What came in between, as the step's outcome; nothing where the call may be made now. Throws where the step is no longer ours. */
export async function lookAgain(
  deps: ActivityDeps,
  { tenantId }: Tenant,
  claimed: Claimed,
): Promise<StepOutcome | undefined> {
  const { step, turn, isEffect, fence, callBy } = claimed;
  const { stepId } = step;
  for (;;) {
    let lookedAt = performance.now();
    const seen = await deps.inScope(tenantId, async (scope) => {
      const isOurs = await holdsFence(scope, { stepId, fence });
      lookedAt = performance.now();
      return { isOurs, hold: isEffect ? await holdOf(scope, turn.chatId) : undefined };
    });
    if (!seen.isOurs) throw later('another worker has taken this step over');
    const { hold } = seen;
    if (hold) return deps.inScope(tenantId, (scope) => holdBack(scope, claimed, hold));
    if (!isEffect) return undefined;
    // After the deadline whoever settles the step relies on it that nobody calls any more, however fresh the look is.
    if (Date.now() > callBy.getTime()) {
      await deps.inScope(tenantId, (scope) => takeBackStart(scope, { stepId, fence }));
      throw later('there was no time left to call');
    }
    if (performance.now() - lookedAt <= LOOK_HOLDS_MS) return undefined;
  }
}

/** Nothing has been called, so the start can be taken back: the step is refused for good, or waits with its yes. */
async function holdBack(scope: Scope, claimed: Claimed, hold: Hold): Promise<StepOutcome> {
  const { step, turn, fence } = claimed;
  if (!(await takeBackStart(scope, { stepId: step.stepId, fence })))
    throw later('another worker has taken this step over');
  return hold.kind === 'off' ? refuse(scope, turn, step, 'paused') : park(scope, turn, step, hold.until);
}

function later(message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: FAILURE_TYPES.effectUnsettled, message });
}
