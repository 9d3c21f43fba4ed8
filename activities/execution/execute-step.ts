// The one place where a tool is called. Claim, call, record: the started row is committed before the call, the yes is
// consumed in that same transaction, and a crash in between leaves a question that is settled, never a second call.
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { appendAudit } from '../../prisma/functions.js';
import { errorFacts } from '../../config/logger.js';
import { keepFailure } from '../../prisma/stores/failures.js';
import { closeRun } from '../../prisma/stores/runs.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { finishStep, takeBackStart } from '../../prisma/stores/steps.js';
import { taintTurn } from '../../prisma/stores/turns.js';
import type { ToolRunActivities } from '../../workflows/activity-ports.js';
import { type ErrorCode, FAILURE_TYPES, retryClass } from '../../workflows/domain/failures.js';
import { toolRunWorkflowId } from '../../workflows/domain/ids.js';
import type { StepOutcome } from '../../workflows/domain/plan.js';
import type { JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';
import { planUnknownNotices } from '../approvals/unknown-notices.js';
import type { ActivityDeps } from '../deps.js';
import { withHeartbeat } from '../heartbeat.js';
import { logStage } from '../stages.js';
import type { Tenant } from '../tenants.js';
import { claimStep, failed, unknown, type Claim, type Claimed } from './claim-step.js';
import { lookAgain } from './look-again.js';
import { callInTime, toCall } from './tool-call.js';
import { ToolCallError, type ToolOperation } from '../tools/provider.js';
import { schemaFindings } from '../validation/argument-schema.js';

/** Clocks differ and packets linger: so long after `callBy` nothing can take effect any more. */
const SETTLE_AFTER_MS = 5_000;

export function createExecutionActivities(deps: ActivityDeps): Pick<ToolRunActivities, 'executeStep'> {
  return {
    async executeStep({ tenantId, stepId }) {
      const tenant = await deps.tenants.byId(tenantId);
      const claim = await deps.inScope(tenantId, (scope) => claimStep(scope, deps, tenant, stepId));
      // Its answer to Temporal was lost on the way: what it has planned is handed over now.
      if (claim.kind === 'settled') return withWords(claim.operation, { tenantId, stepId }, claim.outcome);
      const startedAt = Date.now();
      const { turnId } = claim.claimed.turn;
      const facts = { stepId, toolName: claim.claimed.tool.name };
      logStage(deps, 'AgentToolImmediateStart', { tenantId, turnId }, facts);
      const outcome = await carryOut(deps, tenant, claim);
      if (outcome.kind === 'parked') {
        deps.log.event('step.parked', { tenantId, correlationId: turnId, ...facts });
        return outcome;
      }
      const stage = outcome.kind === 'succeeded' ? 'AgentToolExecutionSucceeded' : 'AgentToolExecutionFailed';
      const code = outcome.kind === 'failed' ? outcome.code : outcome.kind;
      logStage(deps, stage, { tenantId, turnId }, { ...facts, code, latencyMs: Date.now() - startedAt });
      return outcome;
    },
  };
}

async function carryOut(
  deps: ActivityDeps,
  tenant: Tenant,
  claim: Extract<Claim, { kind: 'call' | 'unclear' }>,
): Promise<StepOutcome> {
  return claim.kind === 'call' ? callTool(deps, tenant, claim.claimed) : settle(deps, tenant, claim.claimed);
}

async function callTool(deps: ActivityDeps, tenant: Tenant, claimed: Claimed): Promise<StepOutcome> {
  const { operation } = claimed;
  const heldBack = await lookAgain(deps, tenant, claimed);
  if (heldBack) return heldBack;
  let result: JsonObject;
  try {
    result = await withHeartbeat(() =>
      callInTime(claimed.callBy, (signal) => operation.call(toCall(tenant, claimed, signal))),
    );
  } catch (error) {
    return answerFailure(deps, tenant, claimed, error);
  }
  return record(deps, tenant, claimed, result);
}

/** A call that failed: what it said is kept, and whether it may have happened decides what follows. */
async function answerFailure(
  deps: ActivityDeps,
  tenant: Tenant,
  claimed: Claimed,
  error: unknown,
): Promise<StepOutcome> {
  const { step, tool, callBy, turn } = claimed;
  const { tenantId } = tenant;
  const { outcome, isTimeout } =
    error instanceof ToolCallError ? error : new ToolCallError('unclear', { cause: error });
  const code: ErrorCode = isTimeout || Date.now() > callBy.getTime() ? 'TOOL_TIMEOUT' : 'TOOL_PROVIDER_ERROR';
  const ids = { tenantId, correlationId: turn.turnId, stepId: step.stepId, toolName: tool.name };
  deps.log.warn('tool.failed', { ...ids, outcome, code, ...errorFacts(error) });
  await deps.inScope(tenantId, (scope) =>
    keepFailure(scope, {
      activity: 'executeStep',
      workflowId: toolRunWorkflowId(turn),
      type: code,
      code: errorFacts(error).errorName,
      error,
    }),
  );
  if (!claimed.isEffect || outcome === 'clean') return fail(deps, tenant, claimed, code);
  throw unsettled('the provider has not said whether it happened');
}

/** An effect that may have happened: after its deadline its own check decides, and where there is none a person does. */
async function settle(deps: ActivityDeps, tenant: Tenant, claimed: Claimed): Promise<StepOutcome> {
  const { step, operation, callBy } = claimed;
  const waitMs = callBy.getTime() + SETTLE_AFTER_MS - Date.now();
  if (waitMs > 0) throw unsettled('its deadline is not over yet', waitMs);
  const happened = operation.didItHappen
    ? await withHeartbeat(() =>
        Promise.resolve(
          operation.didItHappen?.(toCall(tenant, claimed, Context.current().cancellationSignal)),
        ),
      )
    : undefined;
  if (happened === undefined) return leaveUnknown(deps, tenant, claimed);
  if (happened !== false) return record(deps, tenant, claimed, happened);
  // Certainly not done, and no longer possible under the old deadline: it is as if nothing had begun, so everything is asked
  // once more, the yes included. What was right then need not be right any more.
  const again = await deps.inScope(tenant.tenantId, async (scope) => {
    const { stepId } = step;
    const isOurs = await takeBackStart(scope, { stepId, fence: claimed.fence });
    return isOurs ? claimStep(scope, deps, tenant, stepId) : undefined;
  });
  if (!again) throw unsettled('another worker has taken this step over');
  return again.kind === 'settled' ? again.outcome : carryOut(deps, tenant, again);
}

async function record(
  deps: ActivityDeps,
  tenant: Tenant,
  claimed: Claimed,
  result: JsonObject,
): Promise<StepOutcome> {
  const { step, turn, tool, fence } = claimed;
  const findings = schemaFindings(tool.outputSchema, result);
  const isTooLarge = JSON.stringify(result).length > tenant.configuration.limits.resultBytes;
  if (isTooLarge || [...findings.missing, ...findings.extra, ...findings.invalid].length > 0) {
    // An effect has happened, whatever its answer looks like: a person looks, and nothing is done again.
    return claimed.isEffect
      ? leaveUnknown(deps, tenant, claimed)
      : fail(deps, tenant, claimed, 'TOOL_RESULT_INVALID');
  }
  // Checked as it came, kept without its secrets: nothing that reads a stored result can give one away.
  const scrubbed = tenant.scrubber.scrubJson(result);
  for (const { rule, count } of scrubbed.found) {
    deps.log.warn('result.scrubbed', { tenantId: tenant.tenantId, correlationId: turn.turnId, rule, count });
  }
  const isDeclined = declines(tool, result);
  const saved = await deps.inScope(tenant.tenantId, async (scope) => {
    const finished = await finishStep(scope, {
      stepId: step.stepId,
      fence,
      contactId: turn.contactId,
      outcome: { state: 'succeeded', result: scrubbed.value, isPartial: false, isDeclined },
    });
    if (!finished.recorded) return undefined;
    // From here on the turn holds what outsiders wrote: a second step sees it, and so does whatever is told of this one.
    if (claimed.isUntrusted) await taintTurn(scope, turn.turnId);
    await audit(scope, claimed, 'step_succeeded', isDeclined ? { result: 'declined' } : {});
    return finished.resultId;
  });
  if (saved === undefined) throw unsettled('another worker has recorded this step');
  const { tenantId } = tenant;
  const outcome: StepOutcome = {
    kind: 'succeeded',
    resultId: saved,
    partial: false,
    ...(isDeclined && { declined: true }),
  };
  return withWords(claimed.operation, { tenantId, stepId: step.stepId }, outcome);
}

/** By what configuration says of its results: the tool has answered, and has not done it. */
function declines({ declinedWhen = {} }: ToolDefinition, result: JsonObject): boolean {
  return Object.entries(declinedWhen).some(([name, values]) =>
    values.some((value) => value === result[name]),
  );
}

/** With what the call has planned to say to others; what isn't handed over here is found by the sweep. */
async function withWords(
  operation: ToolOperation | undefined,
  step: { tenantId: string; stepId: string },
  outcome: StepOutcome,
): Promise<StepOutcome> {
  if (outcome.kind !== 'succeeded') return outcome;
  const words = (await operation?.wordsOf?.(step)) ?? [];
  return words.length > 0 ? { ...outcome, words } : outcome;
}

async function fail(
  deps: ActivityDeps,
  tenant: Tenant,
  claimed: Claimed,
  code: ErrorCode,
): Promise<StepOutcome> {
  const { step, turn, tool, fence } = claimed;
  // A read that failed within bounds is simply tried again; its step stays started.
  if (!claimed.isEffect && retryClass(code) === 'bounded' && Context.current().info.attempt < READ_ATTEMPTS) {
    throw ApplicationFailure.create({ type: code, message: `${tool.name} failed, and is tried again` });
  }
  const isOurs = await deps.inScope(tenant.tenantId, async (scope) => {
    const { recorded } = await finishStep(scope, {
      stepId: step.stepId,
      fence,
      contactId: turn.contactId,
      outcome: { state: 'failed', code },
    });
    if (recorded) await audit(scope, claimed, 'step_failed', { code });
    return recorded;
  });
  if (!isOurs) throw unsettled('another worker has recorded this step');
  return failed(code);
}

/** A customer waits: three tries, then an honest word. */
const READ_ATTEMPTS = 3;

async function leaveUnknown(deps: ActivityDeps, tenant: Tenant, claimed: Claimed): Promise<StepOutcome> {
  const { step, turn, fence } = claimed;
  const notices = await deps.inScope(tenant.tenantId, async (scope) => {
    const { recorded } = await finishStep(scope, {
      stepId: step.stepId,
      fence,
      contactId: turn.contactId,
      outcome: { state: 'unknown' },
    });
    if (!recorded) return undefined;
    await closeRun(scope, { turnId: turn.turnId, chatId: turn.chatId, to: 'unknown' });
    await audit(scope, claimed, 'step_unknown', {});
    return planUnknownNotices(scope, tenant, turn);
  });
  if (!notices) throw unsettled('another worker has recorded this step');
  return unknown(step.stepId, notices);
}

function audit(
  scope: Scope,
  { step, turn }: Claimed,
  event: string,
  facts: Record<string, string | number>,
): Promise<number> {
  return appendAudit(scope.tx, {
    stream: turn.chatId,
    event,
    subjectId: step.stepId,
    actor: 'assistant',
    facts: { tool: step.tool, ...facts },
  });
}

/** Temporal asks again, at the earliest when the deadline is over. */
function unsettled(message: string, delayMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE_TYPES.effectUnsettled,
    message,
    ...(delayMs !== undefined && { nextRetryDelay: delayMs }),
  });
}
