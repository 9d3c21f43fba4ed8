// The one place where a tool is called. Claim, call, record: the started row is committed before the call, the yes is
// consumed in that same transaction, and a crash in between leaves a question that is settled, never a second call.
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { appendAudit } from '../../prisma/functions.js';
import { errorFacts } from '../../config/logger.js';
import { consumeApproval } from '../../prisma/stores/approvals.js';
import { keepFailure } from '../../prisma/stores/failures.js';
import { closeRun, moveRun } from '../../prisma/stores/runs.js';
import type { Scope } from '../../prisma/stores/scope.js';
import {
  finishStep,
  holdsFence,
  lockStep,
  refuseStep,
  startStep,
  type Step,
} from '../../prisma/stores/steps.js';
import { lockChat, turnById, type TurnRow } from '../../prisma/stores/turns.js';
import type { ToolRunActivities } from '../../workflows/activity-ports.js';
import { type ErrorCode, FAILURE_TYPES, retryClass } from '../../workflows/domain/failures.js';
import type { RefusalReason, StepOutcome } from '../../workflows/domain/plan.js';
import type { JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';
import type { ActivityDeps } from '../deps.js';
import { withHeartbeat } from '../heartbeat.js';
import { hashOfCall, hashOfTerms } from '../call-hash.js';
import { logStage } from '../stages.js';
import type { Tenant } from '../tenants.js';
import { managedValues } from './managed-values.js';
import { ToolCallError, type ToolCall, type ToolOperation } from '../tools/provider.js';
import { decideByPolicy } from '../validation/policy.js';
import { schemaFindings } from '../validation/argument-schema.js';

/** Clocks differ and packets linger: so long after `callBy` nothing can take effect any more. */
const SETTLE_AFTER_MS = 5_000;

interface Claimed {
  step: Step;
  turn: TurnRow;
  tool: ToolDefinition;
  operation: ToolOperation;
  fence: string;
  callBy: Date;
}

type Claim =
  | { kind: 'settled'; outcome: StepOutcome }
  | { kind: 'call'; claimed: Claimed }
  /** Started by an attempt that never came back. */
  | { kind: 'unclear'; claimed: Claimed };

export function createExecutionActivities(deps: ActivityDeps): Pick<ToolRunActivities, 'executeStep'> {
  return {
    async executeStep({ tenantId, stepId }) {
      const tenant = await deps.tenants.byId(tenantId);
      const claim = await deps.inScope(tenantId, (scope) => claimStep(scope, deps, tenant, stepId));
      if (claim.kind === 'settled') return claim.outcome;
      const startedAt = Date.now();
      const { turnId } = claim.claimed.turn;
      const facts = { stepId, toolName: claim.claimed.tool.name };
      logStage(deps, 'AgentToolImmediateStart', { tenantId, turnId }, facts);
      const outcome = await carryOut(deps, tenant, claim);
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

/** Checks everything that could have changed since the plan, and marks the step started. */
async function claimStep(scope: Scope, deps: ActivityDeps, tenant: Tenant, stepId: string): Promise<Claim> {
  const step = await lockStep(scope, stepId);
  const settled = settledOutcome(step);
  if (settled) return { kind: 'settled', outcome: settled };
  const turn = await turnById(scope, step.turnId);
  const tool = tenant.tool(step.tool);
  const operation = tool && deps.providers[tool.provider]?.operations[tool.operation];
  if (!tool?.enabled || !operation) {
    // What has begun may have happened: it can't be taken back by switching its tool off.
    return step.state === 'started' && step.effect !== 'read'
      ? abandon(scope, turn, step)
      : refuse(scope, turn, step, 'changed');
  }
  const claimed = { step, turn, tool, operation };
  if (step.state === 'started') {
    if (tool.effect !== 'read') {
      const { fence, callBy } = step;
      if (fence === null || callBy === null) throw new Error('a started step has a fence and a deadline');
      return { kind: 'unclear', claimed: { ...claimed, fence, callBy } };
    }
  } else {
    const refusal = await findRefusal(scope, tenant, { step, turn, tool });
    if (refusal) return refuse(scope, turn, step, refusal);
  }
  const started = await startStep(scope, { stepId, timeoutMs: tool.timeoutMs });
  await moveRun(scope, { turnId: step.turnId, chatId: turn.chatId, to: 'executing' });
  await appendAudit(scope.tx, {
    stream: turn.chatId,
    event: 'step_started',
    subjectId: stepId,
    actor: 'assistant',
    facts: { tool: step.tool, argumentsHash: step.argumentsHash, attempt: step.attempts + 1 },
  });
  return { kind: 'call', claimed: { ...claimed, ...started } };
}

function settledOutcome(step: Step): StepOutcome | undefined {
  switch (step.state) {
    case 'succeeded':
      return { kind: 'succeeded', resultId: step.resultId ?? step.stepId, partial: step.isPartial };
    case 'failed':
      return failed(step.code ?? 'TOOL_PROVIDER_ERROR');
    case 'refused':
    case 'rejected':
    case 'proposed':
      return { kind: 'refused', reason: 'not_approved' };
    case 'unknown':
      return { kind: 'unknown', stepId: step.stepId };
    case 'accepted':
    case 'started':
      return undefined;
  }
}

/** The last look before anything happens: policy of now, the yes, the hash, and whether a person has taken over. */
async function findRefusal(
  scope: Scope,
  tenant: Tenant,
  { step, turn, tool }: { step: Step; turn: TurnRow; tool: ToolDefinition },
): Promise<RefusalReason | undefined> {
  const chat = await lockChat(scope, turn.chatId);
  if (chat.isPaused && tool.effect !== 'read') return 'paused';
  if (hashOfCall(step.tool, step.arguments) !== step.argumentsHash) return 'changed';
  const { configuration } = tenant;
  const policy = decideByPolicy(configuration.policy, {
    tool,
    actor: turn.decision.actor,
    chatKind: chat.kind,
    isTainted: turn.isTainted,
  });
  if (policy.gate === 'deny') return 'changed';
  if (policy.gate === 'allow' && step.gate === 'allow') return undefined;
  const { argumentsHash, stepId } = step;
  // The stricter of what was asked for and what policy asks for now.
  const gate = policy.gate === 'confirm' && step.gate === 'confirm' ? 'confirm' : 'approve';
  const hasYes = await consumeApproval(scope, {
    stepId,
    gate,
    argumentsHash,
    configHash: hashOfTerms(configuration, step.tool),
  });
  return hasYes ? undefined : 'not_approved';
}

async function abandon(scope: Scope, turn: TurnRow, step: Step): Promise<Claim> {
  const { stepId, fence } = step;
  if (fence !== null) {
    await finishStep(scope, { stepId, fence, contactId: turn.contactId, outcome: { state: 'unknown' } });
  }
  await closeRun(scope, { turnId: turn.turnId, chatId: turn.chatId, to: 'unknown' });
  await appendAudit(scope.tx, {
    stream: turn.chatId,
    event: 'step_unknown',
    subjectId: stepId,
    actor: 'assistant',
    facts: { tool: step.tool },
  });
  return { kind: 'settled', outcome: { kind: 'unknown', stepId } };
}

async function refuse(scope: Scope, turn: TurnRow, step: Step, reason: RefusalReason): Promise<Claim> {
  await refuseStep(scope, { stepId: step.stepId });
  await appendAudit(scope.tx, {
    stream: turn.chatId,
    event: 'step_refused',
    subjectId: step.stepId,
    actor: 'assistant',
    facts: { tool: step.tool, reason },
  });
  return { kind: 'settled', outcome: { kind: 'refused', reason } };
}

async function callTool(deps: ActivityDeps, tenant: Tenant, claimed: Claimed): Promise<StepOutcome> {
  const { step, operation, fence } = claimed;
  const { tenantId } = tenant;
  const isOurs = await deps.inScope(tenantId, (scope) => holdsFence(scope, { stepId: step.stepId, fence }));
  if (!isOurs) throw unsettled('another worker has taken this step over');
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
    keepFailure(scope, { activity: 'executeStep', type: code, code: errorFacts(error).errorName, error }),
  );
  if (tool.effect === 'read' || outcome === 'clean') return fail(deps, tenant, claimed, code);
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
  // Certainly not done, and no longer possible under the old deadline: calling it now is the first time, not the second.
  const restarted = await deps.inScope(tenant.tenantId, async (scope) => {
    const current = await lockStep(scope, step.stepId);
    if (current.state !== 'started' || current.fence !== claimed.fence) return undefined;
    return startStep(scope, { stepId: step.stepId, timeoutMs: claimed.tool.timeoutMs });
  });
  if (!restarted) throw unsettled('another worker has taken this step over');
  return callTool(deps, tenant, { ...claimed, ...restarted });
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
    return tool.effect === 'read'
      ? fail(deps, tenant, claimed, 'TOOL_RESULT_INVALID')
      : leaveUnknown(deps, tenant, claimed);
  }
  // Checked as it came, kept without its secrets: nothing that reads a stored result can give one away.
  const scrubbed = tenant.scrubber.scrubJson(result);
  for (const { rule, count } of scrubbed.found) {
    deps.log.warn('result.scrubbed', { tenantId: tenant.tenantId, correlationId: turn.turnId, rule, count });
  }
  const saved = await deps.inScope(tenant.tenantId, async (scope) => {
    const finished = await finishStep(scope, {
      stepId: step.stepId,
      fence,
      contactId: turn.contactId,
      outcome: { state: 'succeeded', result: scrubbed.value, isPartial: false },
    });
    if (!finished.recorded) return undefined;
    await audit(scope, claimed, 'step_succeeded', {});
    return finished.resultId;
  });
  if (saved === undefined) throw unsettled('another worker has recorded this step');
  return { kind: 'succeeded', resultId: saved, partial: false };
}

async function fail(
  deps: ActivityDeps,
  tenant: Tenant,
  claimed: Claimed,
  code: ErrorCode,
): Promise<StepOutcome> {
  const { step, turn, tool, fence } = claimed;
  // A read that failed within bounds is simply tried again; its step stays started.
  if (
    tool.effect === 'read' &&
    retryClass(code) === 'bounded' &&
    Context.current().info.attempt < READ_ATTEMPTS
  ) {
    throw ApplicationFailure.create({ type: code, message: `${tool.name} failed, and is tried again` });
  }
  await deps.inScope(tenant.tenantId, async (scope) => {
    await finishStep(scope, {
      stepId: step.stepId,
      fence,
      contactId: turn.contactId,
      outcome: { state: 'failed', code },
    });
    await audit(scope, claimed, 'step_failed', { code });
  });
  return failed(code);
}

/** A customer waits: three tries, then an honest word. */
const READ_ATTEMPTS = 3;

async function leaveUnknown(deps: ActivityDeps, tenant: Tenant, claimed: Claimed): Promise<StepOutcome> {
  const { step, turn, fence } = claimed;
  await deps.inScope(tenant.tenantId, async (scope) => {
    await finishStep(scope, {
      stepId: step.stepId,
      fence,
      contactId: turn.contactId,
      outcome: { state: 'unknown' },
    });
    await closeRun(scope, { turnId: turn.turnId, chatId: turn.chatId, to: 'unknown' });
    await audit(scope, claimed, 'step_unknown', {});
  });
  return { kind: 'unknown', stepId: step.stepId };
}

function audit(
  scope: Scope,
  { step, turn }: Claimed,
  event: string,
  facts: Record<string, string>,
): Promise<number> {
  return appendAudit(scope.tx, {
    stream: turn.chatId,
    event,
    subjectId: step.stepId,
    actor: 'assistant',
    facts: { tool: step.tool, ...facts },
  });
}

function failed(code: ErrorCode): StepOutcome {
  return { kind: 'failed', code, retry: retryClass(code) === 'bounded' };
}

/** Temporal asks again, at the earliest when the deadline is over. */
function unsettled(message: string, delayMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE_TYPES.effectUnsettled,
    message,
    ...(delayMs !== undefined && { nextRetryDelay: delayMs }),
  });
}

/** A tool that hasn't answered by its deadline has failed, whatever it does afterwards: its fence is gone. */
async function callInTime<Result>(
  callBy: Date,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const deadline = new AbortController();
  const signal = AbortSignal.any([Context.current().cancellationSignal, deadline.signal]);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      deadline.abort();
      reject(new ToolCallError('unclear', { isTimeout: true }));
    }, callBy.getTime() - Date.now());
  });
  try {
    return await Promise.race([call(signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

function toCall(tenant: Tenant, { step, turn, tool, callBy }: Claimed, signal: AbortSignal): ToolCall {
  return {
    tenantId: tenant.tenantId,
    contactId: turn.contactId,
    configuration: tenant.configuration,
    arguments: { ...step.arguments, ...managedValues(tool, tenant, turn) },
    idempotencyKey: step.idempotencyKey,
    callBy,
    signal,
  };
}
