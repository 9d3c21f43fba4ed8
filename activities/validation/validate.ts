// From a proposal to a verdict: the checks, then what is missing, then whether it is asked for already, then the gate.
// One transaction; the approval it opens and the words it plans exist exactly if the verdict does.
import type { PolicyAnswer } from '../../config/policy.js';
import { appendAudit } from '../../prisma/functions.js';
import { openQuestion } from '../../prisma/stores/questions.js';
import { claimRequest, closeRun, moveRun } from '../../prisma/stores/runs.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { acceptStep, lockStep, rejectStep } from '../../prisma/stores/steps.js';
import { effectsState } from '../../prisma/stores/switches.js';
import { lockChat, lastMessageId, turnById } from '../../prisma/stores/turns.js';
import type { ToolRunActivities } from '../../workflows/activity-ports.js';
import type { ErrorCode } from '../../workflows/domain/failures.js';
import type { Verdict } from '../../workflows/domain/plan.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';
import type { ActivityDeps } from '../deps.js';
import { handOffRun } from '../desk/hand-off.js';
import { say } from '../sentences.js';
import { logStage } from '../stages.js';
import type { Tenant } from '../tenants.js';
import { approvalCapOf } from './approval-caps.js';
import { askForYes } from './ask-for-yes.js';
import { checkCall, missingArguments } from './checks.js';
import { findTwin } from './find-twin.js';
import { policyOfCall } from './policy.js';
import { titleOf } from './render-call.js';
import { minutesFromNow, requestKeyOf, tell, type Validation } from './validation.js';

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
  const policy = tool && policyOfCall(tenant, { tool, arguments: step.arguments, turn, chat });
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
  if (policy) await auditPolicy(validation, policy);
  if (failed?.code === 'TOOL_POLICY_DENIED' && tool?.effect === 'human_only')
    return leaveToPeople(validation, failed);
  if (failed || !tool || !policy) return reject(validation, failed ?? UNKNOWN_TOOL);
  const missing = missingArguments(tool, step.arguments);
  if (missing.length > 0) return ask(validation, tool, missing);
  return (
    (await findTwin(validation, tool)) ??
    (await refuseForNow(validation, tool, policy)) ??
    accept(validation, tool, policy)
  );
}

interface Refused {
  check: string;
  code: ErrorCode;
  /** Absent: the sentence of the code. */
  sentence?: 'tooManyApprovals';
}

const UNKNOWN_TOOL: Refused = { check: 'exists', code: 'TOOL_UNKNOWN' };

/** Names of rules and conditions, never an argument. Asked again after a crash it is the same decision, and is kept once. */
async function auditPolicy({ scope, turn, step }: Validation, policy: PolicyAnswer): Promise<void> {
  if (step.state !== 'proposed') return;
  const { gate, rule, needed, approvers, explanation } = policy;
  await appendAudit(scope.tx, {
    stream: turn.chatId,
    event: 'policy_decided',
    subjectId: step.stepId,
    actor: 'assistant',
    facts: {
      tool: step.tool,
      rule,
      gate,
      matched: explanation.matched,
      overruled: explanation.overruled,
      tainted: turn.isTainted,
      ...(gate === 'approve' && { approvers, needed }),
    },
  });
}

async function reject(validation: Validation, refused: Refused): Promise<Verdict> {
  const { check, code, sentence } = refused;
  const { tenant, step } = validation;
  await closeAsRejected(validation, refused);
  const { outboxId } = await tell(validation, { kind: 'refusal', text: say(tenant, sentence ?? code) });
  return { kind: 'rejected', stepId: step.stepId, check, code, outboxId };
}

/** What policy keeps for people is no refusal: a person does it, and hears of it. */
async function leaveToPeople(validation: Validation, refused: Refused): Promise<Verdict> {
  const { check, code } = refused;
  const { scope, tenant, turn, step } = validation;
  await closeAsRejected(validation, refused);
  const { outboxId } = await tell(validation, { kind: 'handOff', text: say(tenant, 'humanOnly') });
  const notices = await handOffRun(scope, tenant, { turn, reason: 'human_only' });
  return { kind: 'rejected', stepId: step.stepId, check, code, outboxId, notices };
}

async function closeAsRejected(validation: Validation, { check, code }: Refused): Promise<void> {
  const { scope, turn, step } = validation;
  await rejectStep(scope, { stepId: step.stepId, check, code });
  await closeRun(scope, { turnId: turn.turnId, chatId: turn.chatId, to: 'refused', code });
  if (step.state === 'proposed') {
    await appendAudit(scope.tx, {
      stream: turn.chatId,
      event: 'step_rejected',
      subjectId: step.stepId,
      actor: 'assistant',
      facts: { tool: step.tool, check, code },
    });
  }
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

/** What is right in itself and can't be had now: effects are switched off, or the owners have been asked enough. */
async function refuseForNow(
  validation: Validation,
  tool: ToolDefinition,
  { gate }: PolicyAnswer,
): Promise<Verdict | undefined> {
  const { scope, tenant, turn, step } = validation;
  // Accepted by an earlier attempt: it has been asked, and is among those that are counted.
  if (tool.effect === 'read' || step.state !== 'proposed') return undefined;
  if ((await effectsState(scope)).value === 'off') {
    return reject(validation, { check: 'effects_switched_off', code: 'TOOL_DISABLED' });
  }
  if (gate !== 'approve') return undefined;
  const { limits } = tenant.configuration;
  const check = await approvalCapOf(scope, { chatId: turn.chatId, limits });
  return check && reject(validation, { check, code: 'TOOL_POLICY_DENIED', sentence: 'tooManyApprovals' });
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
    policy: policy.explanation,
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
