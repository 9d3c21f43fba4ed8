// The claim of a step: the last look before anything happens. It checks what could have changed since the plan, consumes the
// yes and writes the started row, all in one transaction; whatever it refuses is refused for good, and audited.
import { appendAudit } from '../../prisma/functions.js';
import { consumeApproval } from '../../prisma/stores/approvals.js';
import { closeRun, moveRun } from '../../prisma/stores/runs.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { finishStep, lockStep, refuseStep, startStep, type Step } from '../../prisma/stores/steps.js';
import { lockChat, turnById, type TurnRow } from '../../prisma/stores/turns.js';
import { type ErrorCode, retryClass } from '../../workflows/domain/failures.js';
import type { RefusalReason, StepOutcome } from '../../workflows/domain/plan.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';
import { hashOfCall, hashOfTerms } from '../call-hash.js';
import type { ActivityDeps } from '../deps.js';
import type { Tenant } from '../tenants.js';
import type { ToolOperation } from '../tools/provider.js';
import { decideByPolicy } from '../validation/policy.js';

export interface Claimed {
  step: Step;
  turn: TurnRow;
  tool: ToolDefinition;
  operation: ToolOperation;
  fence: string;
  callBy: Date;
}

export type Claim =
  | { kind: 'settled'; outcome: StepOutcome }
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

/** Whether trying again could help is told with the code. */
export function failed(code: ErrorCode): StepOutcome {
  return { kind: 'failed', code, retry: retryClass(code) === 'bounded' };
}
