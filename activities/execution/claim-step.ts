// The claim of a step: the last look before anything happens. It checks what could have changed since the plan, consumes the
// yes and writes the started row, all in one transaction; whatever it refuses is refused for good, and audited.
import type { PolicyAnswer } from '../../config/policy.js';
import { appendAudit } from '../../prisma/functions.js';
import { closeRun, moveRun } from '../../prisma/stores/runs.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { finishStep, lockStep, refuseStep, startStep, type Step } from '../../prisma/stores/steps.js';
import { holdOf } from '../../prisma/stores/switches.js';
import { isRunOpen } from '../../prisma/stores/views/runs.js';
import { lockChat, turnById, type TurnRow } from '../../prisma/stores/turns.js';
import { type ErrorCode, retryClass } from '../../workflows/domain/failures.js';
import type { RefusalReason, StepOutcome } from '../../workflows/domain/plan.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';
import { isDecisionLive } from '../../workflows/domain/turn.js';
import { hashOfCall, hashOfTerms } from '../call-hash.js';
import { planUnknownNotices } from '../approvals/unknown-notices.js';
import type { ActivityDeps } from '../deps.js';
import type { Tenant } from '../tenants.js';
import type { ToolOperation } from '../tools/provider.js';
import { policyOfCall } from '../validation/policy.js';
import { hasYes, takeYes } from './yes.js';

export interface Claimed {
  step: Step;
  turn: TurnRow;
  tool: ToolDefinition;
  operation: ToolOperation;
  /** It changes something, by what it was accepted as or by what configuration says of it now. */
  isEffect: boolean;
  /** Outsiders write what comes back (spec G9). */
  isUntrusted: boolean;
  fence: string;
  callBy: Date;
}

export type Claim =
  | { kind: 'settled'; outcome: StepOutcome; operation?: ToolOperation | undefined }
  | { kind: 'call'; claimed: Claimed }
  /** Started by an attempt that never came back. */
  | { kind: 'unclear'; claimed: Claimed };

/** Checks everything that could have changed since the plan, and marks the step started. */
export async function claimStep(
  scope: Scope,
  deps: ActivityDeps,
  tenant: Tenant,
  stepId: string,
): Promise<Claim> {
  const step = await lockStep(scope, stepId);
  const tool = tenant.tool(step.tool);
  const provider = tool && deps.providers[tool.provider];
  const operation = tool && provider?.operations[tool.operation];
  const settled = settledOutcome(step);
  if (settled && settled.kind !== 'unknown') return { kind: 'settled', outcome: settled, operation };
  const turn = await turnById(scope, step.turnId);
  if (settled)
    return { kind: 'settled', outcome: unknown(stepId, await planUnknownNotices(scope, tenant, turn)) };
  if (!tool?.enabled || !provider || !operation) {
    // What has begun may have happened: it can't be taken back by switching its tool off.
    const outcome =
      step.state === 'started' && step.effect !== 'read'
        ? await abandon(scope, tenant, turn, step)
        : await refuse(scope, turn, step, 'changed');
    return { kind: 'settled', outcome };
  }
  const isEffect = step.effect !== 'read' || tool.effect !== 'read';
  const isUntrusted = provider.resultsAreUntrusted;
  const claimed = { step, turn, tool, operation, isEffect, isUntrusted };
  const facts: Record<string, string> = {};
  if (step.state === 'started') {
    if (isEffect) {
      const { fence, callBy } = step;
      if (fence === null || callBy === null) throw new Error('a started step has a fence and a deadline');
      return { kind: 'unclear', claimed: { ...claimed, fence, callBy } };
    }
  } else {
    const looked = await look(scope, tenant, { step, turn, tool, isEffect });
    if (looked.kind === 'refused') {
      return { kind: 'settled', outcome: await refuse(scope, turn, step, looked.reason) };
    }
    if (looked.kind === 'parked') {
      return { kind: 'settled', outcome: await park(scope, turn, step, looked.until) };
    }
    Object.assign(facts, { rule: looked.policy.rule, gate: looked.policy.gate });
  }
  const started = await startStep(scope, { stepId, timeoutMs: tool.timeoutMs });
  await moveRun(scope, { turnId: step.turnId, chatId: turn.chatId, to: 'executing' });
  await appendAudit(scope.tx, {
    stream: turn.chatId,
    event: 'step_started',
    subjectId: stepId,
    actor: 'assistant',
    facts: { tool: step.tool, argumentsHash: step.argumentsHash, attempt: step.attempts + 1, ...facts },
  });
  return { kind: 'call', claimed: { ...claimed, ...started } };
}

function settledOutcome(step: Step): StepOutcome | undefined {
  switch (step.state) {
    case 'succeeded':
      return {
        kind: 'succeeded',
        resultId: step.resultId ?? step.stepId,
        partial: step.isPartial,
        ...(step.isDeclined && { declined: true }),
      };
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

type Look =
  | { kind: 'go'; policy: PolicyAnswer }
  | { kind: 'refused'; reason: RefusalReason }
  | { kind: 'parked'; until?: Date };

/** Everything that can still stop a step: time, kill switch, hash, policy of now, the yes, a person who has the chat. */
async function look(
  scope: Scope,
  tenant: Tenant,
  { step, turn, tool, isEffect }: Pick<Claimed, 'step' | 'turn' | 'tool' | 'isEffect'>,
): Promise<Look> {
  const refused = (reason: RefusalReason): Look => ({ kind: 'refused', reason });
  const chat = await lockChat(scope, turn.chatId);
  const hold = isEffect ? await holdOf(scope, turn.chatId) : undefined;
  if (hold?.kind === 'off') return refused('paused');
  // Its last word is said: whoever resets a run in Temporal repeats its looking, never its effects.
  if (isEffect && !(await isRunOpen(scope.tx, turn.turnId))) return refused('expired');
  // An old yes continues an old decision: what was right in the morning need not be right at night (spec C4).
  if (isEffect && !isDecisionLive(turn.decision, Date.now())) return refused('expired');
  if (hashOfCall(step.tool, step.arguments) !== step.argumentsHash) return refused('changed');
  const { configuration } = tenant;
  const policy = policyOfCall(tenant, { tool, arguments: step.arguments, turn, chat });
  if (policy.gate === 'deny') return refused('changed');
  const needsYes = policy.gate !== 'allow' || step.gate !== 'allow';
  const owners = configuration.owners.map(({ id }) => id);
  const needed = { step, turn, policy, owners, configHash: hashOfTerms(configuration, step.tool) };
  if (needsYes && !(await hasYes(scope, needed))) return refused('not_approved');
  // Not refused: a person has the chat for a while, and the yes still stands when they give it back.
  if (hold?.kind === 'taken') return { kind: 'parked', ...(hold.until && { until: hold.until }) };
  if (needsYes && !(await takeYes(scope, needed))) return refused('not_approved');
  return { kind: 'go', policy };
}

/** Leaves the step as it is, with its yes, until the chat is given back. */
export async function park(
  scope: Scope,
  turn: TurnRow,
  { stepId, turnId, tool }: Step,
  until: Date | undefined,
): Promise<StepOutcome> {
  await moveRun(scope, { turnId, chatId: turn.chatId, to: 'waiting' });
  await appendAudit(scope.tx, {
    stream: turn.chatId,
    event: 'step_parked',
    subjectId: stepId,
    actor: 'assistant',
    facts: { tool },
  });
  return { kind: 'parked', ...(until && { until: until.getTime() }) };
}

async function abandon(scope: Scope, tenant: Tenant, turn: TurnRow, step: Step): Promise<StepOutcome> {
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
  return unknown(stepId, await planUnknownNotices(scope, tenant, turn));
}

/** Refuses a step for good; one that was only being read is over, too. */
export async function refuse(
  scope: Scope,
  turn: TurnRow,
  step: Step,
  reason: RefusalReason,
): Promise<StepOutcome> {
  await refuseStep(scope, {
    stepId: step.stepId,
    // Somebody switched it off: asking once more would not help, and the customer is told so.
    ...(reason === 'paused' && { code: 'TOOL_DISABLED' }),
  });
  await appendAudit(scope.tx, {
    stream: turn.chatId,
    event: 'step_refused',
    subjectId: step.stepId,
    actor: 'assistant',
    facts: { tool: step.tool, reason },
  });
  return { kind: 'refused', reason };
}

/** Nobody knows; `notices` tell the owners. */
export function unknown(stepId: string, notices: readonly string[]): StepOutcome {
  return { kind: 'unknown', stepId, ...(notices.length > 0 && { notices: [...notices] }) };
}

/** Whether trying again could help is told with the code. */
export function failed(code: ErrorCode): StepOutcome {
  return { kind: 'failed', code, retry: retryClass(code) === 'bounded' };
}
