// From a proposal to a verdict: the checks, then what is missing, then whether it is asked for already, then the gate.
// One transaction; the approval it opens and the words it plans exist exactly if the verdict does.
import { appendAudit } from '../../prisma/functions.js';
import { openApproval } from '../../prisma/stores/approvals.js';
import { planMessage } from '../../prisma/stores/outbox.js';
import { openQuestion, questionById } from '../../prisma/stores/questions.js';
import {
  claimRequest,
  closeRun,
  moveRun,
  openRunWithRequest,
  succeededRequest,
} from '../../prisma/stores/runs.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { acceptStep, lockStep, rejectStep, type Step } from '../../prisma/stores/steps.js';
import { lockChat, lastMessageId, turnById, type TurnRow } from '../../prisma/stores/turns.js';
import type { ToolRunActivities } from '../../workflows/activity-ports.js';
import type { SayKind } from '../../workflows/domain/message.js';
import type { OpenApproval, Verdict } from '../../workflows/domain/plan.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';
import type { ActivityDeps } from '../deps.js';
import { canonicalCall, hashOfTerms } from '../call-hash.js';
import { say } from '../sentences.js';
import { logStage } from '../stages.js';
import type { Tenant } from '../tenants.js';
import { checkCall, missingArguments, type FailedCheck } from './checks.js';
import { renderCall, titleOf } from './render-call.js';
import { decideByPolicy, type PolicyAnswer } from './policy.js';

export function createValidationActivities(deps: ActivityDeps): Pick<ToolRunActivities, 'validate'> {
  return {
    async validate({ tenantId, turnId, stepId }) {
      const tenant = await deps.tenants.byId(tenantId);
      const verdict = await deps.inScope(tenantId, (scope) => validate(scope, tenant, { turnId, stepId }));
      logVerdict(deps, { tenantId, turnId }, verdict);
      return verdict;
    },
  };
}

function logVerdict(deps: ActivityDeps, ids: { tenantId: string; turnId: string }, verdict: Verdict): void {
  switch (verdict.kind) {
    case 'accepted': {
      const { stepId, tool, rule, approval, tainted } = verdict;
      const gate = approval?.gate ?? 'allow';
      return logStage(deps, 'AgentToolPlanAccepted', ids, { stepId, toolName: tool, rule, gate, tainted });
    }
    case 'rejected': {
      const { stepId, check, code } = verdict;
      const stage = code === 'TOOL_POLICY_DENIED' ? 'AgentToolPolicyDenied' : 'AgentToolPlanRejected';
      return logStage(deps, stage, ids, { stepId, check, code });
    }
    case 'needsInput':
      return logStage(deps, 'AgentToolPlanRejected', ids, {
        check: 'complete',
        questionId: verdict.questionId,
      });
    case 'alreadyOpen':
      return logStage(deps, 'AgentToolJobDedupe', ids, { runId: verdict.runId });
  }
}

interface Validation {
  scope: Scope;
  tenant: Tenant;
  turn: TurnRow;
  step: Step;
  answersMessageId: string | undefined;
}

async function validate(
  scope: Scope,
  tenant: Tenant,
  { turnId, stepId }: { turnId: string; stepId: string },
): Promise<Verdict> {
  const turn = await turnById(scope, turnId);
  // Two runs of one chat may ask for the same at once: one after the other they see each other.
  const chat = await lockChat(scope, turn.chatId);
  const step = await lockStep(scope, stepId);
  const validation = { scope, tenant, turn, step, answersMessageId: await lastMessageId(scope, turnId) };
  const { route, actor } = turn.decision;
  const tool = tenant.tool(step.tool);
  const question = { actor, chatKind: chat.kind, isTainted: turn.isTainted };
  const policy = tool && decideByPolicy(tenant.configuration.policy, { tool, ...question });
  const failed = checkCall({
    toolName: step.tool,
    tool,
    arguments: step.arguments,
    candidates: route.kind === 'tools' ? route.candidates : [],
    actor,
    chatKind: chat.kind,
    ordinal: step.ordinal,
    policy,
    configuration: tenant.configuration,
  });
  if (failed || !tool || !policy) return reject(validation, failed);
  const missing = missingArguments(tool, step.arguments);
  if (missing.length > 0) return ask(validation, tool, missing);
  return (await findTwin(validation, tool)) ?? accept(validation, tool, policy);
}

async function reject(validation: Validation, failed: FailedCheck | undefined): Promise<Verdict> {
  const { scope, tenant, turn, step } = validation;
  const { check, code } = failed ?? { check: 'exists', code: 'TOOL_UNKNOWN' as const };
  await rejectStep(scope, { stepId: step.stepId, check, code });
  await closeRun(scope, { turnId: turn.turnId, chatId: turn.chatId, to: 'refused', code });
  const { outboxId } = await tell(validation, { kind: 'refusal', text: say(tenant, code) });
  await appendAudit(scope.tx, {
    stream: turn.chatId,
    event: 'step_rejected',
    subjectId: step.stepId,
    actor: 'assistant',
    facts: { tool: step.tool, check, code },
  });
  return { kind: 'rejected', stepId: step.stepId, check, code, outboxId };
}

async function ask(validation: Validation, tool: ToolDefinition, missing: string[]): Promise<Verdict> {
  const { scope, tenant, turn, step } = validation;
  const { questionId } = await openQuestion(scope, {
    chatId: turn.chatId,
    contactId: turn.contactId,
    turnId: turn.turnId,
    kind: 'missing',
    tool: tool.name,
    missing,
    arguments: step.arguments,
    isTainted: turn.isTainted,
    expiresAt: minutesFromNow(tenant.configuration.limits.questionMinutes),
  });
  await closeRun(scope, { turnId: turn.turnId, chatId: turn.chatId, to: 'asked' });
  const names = missing.map((name) => titleOf(tool, name));
  const inWords = new Intl.ListFormat(tenant.configuration.business.language).format(names);
  const text = say(tenant, 'missingArguments', { missing: inWords });
  const { outboxId } = await tell(validation, { kind: 'question', text });
  return { kind: 'needsInput', questionId, outboxId };
}

/** The same request under way, or done a while ago (spec A6). Looking something up again is nobody's mistake. */
async function findTwin(validation: Validation, tool: ToolDefinition): Promise<Verdict | undefined> {
  const { scope, tenant, turn } = validation;
  const { turnId, chatId } = turn;
  const requestKey = await requestKeyOf(validation);
  const open = await openRunWithRequest(scope, { turnId, chatId, requestKey });
  if (open !== undefined) {
    await closeRun(scope, { turnId, chatId, to: 'already_open' });
    const { outboxId } = await tell(validation, { kind: 'answer', text: say(tenant, 'alreadyBeingChecked') });
    return { kind: 'alreadyOpen', runId: open, outboxId };
  }
  if (tool.effect === 'read' || (await wasAskedWhetherAgain(validation))) return undefined;
  const { repeatHours, questionMinutes } = tenant.configuration.limits;
  const since = new Date(Date.now() - repeatHours * 3_600_000);
  if (!(await succeededRequest(scope, { chatId, requestKey, since }))) return undefined;
  const { questionId } = await openQuestion(scope, {
    chatId,
    contactId: turn.contactId,
    turnId,
    kind: 'repeat',
    tool: tool.name,
    missing: [],
    arguments: validation.step.arguments,
    isTainted: turn.isTainted,
    expiresAt: minutesFromNow(questionMinutes),
  });
  await closeRun(scope, { turnId, chatId, to: 'asked' });
  const { outboxId } = await tell(validation, { kind: 'question', text: say(tenant, 'alreadyDone', {}) });
  return { kind: 'needsInput', questionId, outboxId };
}

/** This turn answers our question whether the very same is meant once more. */
async function wasAskedWhetherAgain({ scope, turn, step }: Validation): Promise<boolean> {
  const { route } = turn.decision;
  if (route.kind !== 'tools' || route.questionId === undefined) return false;
  const question = await questionById(scope, route.questionId);
  if (question.kind !== 'repeat' || question.tool !== step.tool) return false;
  return canonicalCall(step.tool, question.arguments) === canonicalCall(step.tool, step.arguments);
}

async function accept(validation: Validation, tool: ToolDefinition, policy: PolicyAnswer): Promise<Verdict> {
  const { scope, turn, step } = validation;
  const { turnId, chatId } = turn;
  const requestKey = await requestKeyOf(validation);
  await claimRequest(scope, { turnId, requestKey });
  await acceptStep(scope, {
    stepId: step.stepId,
    effect: tool.effect,
    gate: policy.gate,
    rule: policy.rule,
    isTainted: turn.isTainted,
  });
  const approval = await askForYes(validation, tool, policy);
  await moveRun(scope, { turnId, chatId, to: approval ? 'waiting' : 'executing' });
  return {
    kind: 'accepted',
    stepId: step.stepId,
    tool: tool.name,
    effect: tool.effect,
    rule: policy.rule,
    requestKey: Buffer.from(requestKey).toString('hex').slice(0, 16),
    tainted: turn.isTainted,
    ...(approval && { approval }),
  };
}

async function askForYes(
  validation: Validation,
  tool: ToolDefinition,
  policy: PolicyAnswer,
): Promise<OpenApproval | undefined> {
  const { gate } = policy;
  if (gate !== 'approve' && gate !== 'confirm') return undefined;
  const { scope, tenant, turn, step } = validation;
  const expiresAt = minutesFromNow(policy.expiresAfterMinutes);
  const approval = await openApproval(scope, {
    gate,
    chatId: turn.chatId,
    turnId: turn.turnId,
    stepId: step.stepId,
    tool: step.tool,
    rule: policy.rule,
    argumentsHash: step.argumentsHash,
    configHash: hashOfTerms(tenant.configuration, step.tool),
    expiresAt,
  });
  const { outboxId } =
    gate === 'approve'
      ? await tell(validation, {
          kind: 'acknowledgement',
          text: say(tenant, 'waitingForOwner', { ref: approval.ref }),
        })
      : await askRequester(validation, tool, expiresAt);
  return { ...approval, gate, expiresAt: approval.expiresAt.getTime(), outboxId };
}

/** The requester's own yes (spec D2): the question shows what will be done, in the runtime's words and not a model's. */
async function askRequester(
  validation: Validation,
  tool: ToolDefinition,
  expiresAt: Date,
): Promise<{ outboxId: string }> {
  const { scope, tenant, turn, step } = validation;
  await openQuestion(scope, {
    chatId: turn.chatId,
    contactId: turn.contactId,
    turnId: turn.turnId,
    kind: 'confirm',
    tool: tool.name,
    missing: [],
    arguments: step.arguments,
    isTainted: turn.isTainted,
    expiresAt,
  });
  const what = renderCall(tool, step.arguments, tenant.configuration.business);
  return tell(validation, { kind: 'question', text: say(tenant, 'confirmRequest', { what }) });
}

async function requestKeyOf({ scope, turn, step }: Validation): Promise<Uint8Array> {
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, turn.contactId);
  return scope.content.requestKeyOf(key, canonicalCall(step.tool, step.arguments));
}

function tell(
  { scope, turn, step, answersMessageId }: Validation,
  message: { kind: SayKind; text: string },
): Promise<{ outboxId: string }> {
  return planMessage(scope, {
    chatId: turn.chatId,
    contactId: turn.contactId,
    turnId: turn.turnId,
    origin: { kind: 'validate', id: step.stepId },
    isTainted: turn.isTainted,
    answersMessageId,
    ...message,
  });
}

function minutesFromNow(minutes: number): Date {
  return new Date(Date.now() + minutes * 60_000);
}
