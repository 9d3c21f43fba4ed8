// Stage 2: the planner's proposal, read strictly and stored. Nothing here is an authority: validation comes next.
import { appendAudit } from '../../prisma/functions.js';
import { isJsonObject } from '../../prisma/json.js';
import { decideOwn } from '../../prisma/stores/approvals.js';
import { liveContexts } from '../../prisma/stores/contexts.js';
import { quotedUtterance, recentUtterances } from '../../prisma/stores/history.js';
import { findByOrigin, planMessage } from '../../prisma/stores/outbox.js';
import {
  closeQuestion,
  openQuestion,
  questionById,
  type OpenQuestion,
} from '../../prisma/stores/questions.js';
import { closeRun, moveRun } from '../../prisma/stores/runs.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { proposeStep, stepsOfTurn } from '../../prisma/stores/steps.js';
import {
  messagesOfTurn,
  taintTurn,
  turnById,
  type TurnMessage,
  type TurnRow,
} from '../../prisma/stores/turns.js';
import type { ToolRunActivities } from '../../workflows/activity-ports.js';
import type { PlanOutcome } from '../../workflows/domain/plan.js';
import type { JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';
import { hashOfCall } from '../call-hash.js';
import { askModel, uselessReply } from '../claude/ask.js';
import type { ActivityDeps } from '../deps.js';
import { say } from '../sentences.js';
import { logStage } from '../stages.js';
import type { Tenant } from '../tenants.js';
import { handOffRun } from '../desk/hand-off.js';
import { privateAccount } from '../turns/gates/private-account.js';
import { plannerPrompt, type PlannerPrompt } from './prompt.js';
import { readProposal, type Proposal } from './read-proposal.js';
import { toolDefinitions } from './tool-definitions.js';

/** More than a planner needs to know what "it" is. */
const HISTORY_MESSAGES = 40;

interface Planning {
  tenant: Tenant;
  turn: TurnRow;
  messages: TurnMessage[];
  candidates: ToolDefinition[];
  question: OpenQuestion | undefined;
  prompt: PlannerPrompt;
}

export function createPlanningActivities(deps: ActivityDeps): Pick<ToolRunActivities, 'plan'> {
  return {
    async plan({ tenantId, turnId }) {
      const tenant = await deps.tenants.byId(tenantId);
      const started = await deps.inScope(tenantId, (scope) => begin(scope, tenant, turnId));
      if ('outcome' in started) return started.outcome;
      const { turn, prompt, candidates } = started.planning;
      const ids = { tenantId, turnId };
      const startedAt = Date.now();
      logStage(deps, 'AgentToolPlannerStart', ids, {
        candidates: candidates.length,
        actorRole: turn.decision.actor,
      });
      const reply = await askModel(
        deps,
        { tenantId, chatId: turn.chatId, turnId, purpose: 'plan' },
        {
          use: tenant.configuration.models.planner,
          system: prompt.system,
          messages: prompt.messages,
          tools: toolDefinitions(candidates),
          toolChoice: { type: 'any', disable_parallel_tool_use: true },
        },
      );
      const proposal = readProposal(reply, tenant.configuration.limits);
      logStage(deps, 'AgentToolPlannerResult', ids, {
        kind: proposal.kind,
        latencyMs: Date.now() - startedAt,
      });
      if (proposal.kind === 'unreadable') {
        const { code } = proposal;
        await deps.inScope(tenantId, (scope) => audit(scope, turn, 'plan_unreadable', { code }));
        throw uselessReply(`the plan can't be read: ${proposal.because}`);
      }
      return deps.inScope(tenantId, (scope) => store(scope, started.planning, proposal));
    },
  };
}

/** Reads what the planner needs; or what an earlier attempt has stored already, in which case no model is asked. */
async function begin(
  scope: Scope,
  tenant: Tenant,
  turnId: string,
): Promise<{ outcome: PlanOutcome } | { planning: Planning }> {
  const outcome = await storedOutcome(scope, turnId);
  if (outcome) return { outcome };
  const turn = await turnById(scope, turnId);
  const { route } = turn.decision;
  if (route.kind !== 'tools') throw new Error('only a flagged turn is planned');
  const messages = await messagesOfTurn(scope, turnId);
  const quotedId = messages.at(-1)?.quotedExternalId;
  const question = route.questionId === undefined ? undefined : await questionById(scope, route.questionId);
  const prompt = plannerPrompt({
    configuration: tenant.configuration,
    conversation: {
      history: await recentUtterances(scope, {
        chatId: turn.chatId,
        turnId,
        before: turn.firstSequence,
        limit: HISTORY_MESSAGES,
      }),
      current: messages,
      quoted:
        quotedId === undefined
          ? undefined
          : await quotedUtterance(scope, { chatId: turn.chatId, externalId: quotedId }),
    },
    contexts: await liveContexts(scope, turn.chatId),
    question,
  });
  if (prompt.isTainted) await taintTurn(scope, turnId);
  const candidates = route.candidates
    .flatMap((name) => tenant.tool(name) ?? [])
    .filter((tool) => tool.enabled);
  await moveRun(scope, { turnId, chatId: turn.chatId, to: 'planning' });
  return { planning: { tenant, turn, messages, candidates, question, prompt } };
}

async function storedOutcome(scope: Scope, turnId: string): Promise<PlanOutcome | undefined> {
  const steps = await stepsOfTurn(scope, turnId);
  if (steps.length > 0) {
    return {
      kind: 'steps',
      proposed: steps.map(({ stepId, tool, argumentsHash }) => ({ stepId, tool, argumentsHash })),
    };
  }
  const said = await findByOrigin(scope, { kind: 'plan', id: turnId });
  if (!said) return undefined;
  if (said.kind !== 'question')
    return { kind: 'denied', code: 'TOOL_POLICY_DENIED', outboxId: said.outboxId };
  const asked = await scope.tx.openQuestion.findFirst({ where: { turnId }, select: { id: true } });
  return { kind: 'question', questionId: asked?.id ?? turnId, outboxId: said.outboxId };
}

async function store(
  scope: Scope,
  planning: Planning,
  proposal: Exclude<Proposal, { kind: 'unreadable' }>,
): Promise<PlanOutcome> {
  const { turn, question } = planning;
  const { turnId, chatId } = turn;
  if (question) {
    const by = proposal.kind === 'noTool' || proposal.kind === 'deny' ? 'dropped' : 'answered';
    await closeQuestion(scope, { questionId: question.questionId, by });
    // Neither yes nor no: what was to be confirmed is off, and its run hears of it by the sweep.
    if (question.kind === 'confirm') {
      await decideOwn(scope, { askedByTurnId: question.turnId, decision: 'reject', by: 'superseded' });
    }
  }
  switch (proposal.kind) {
    case 'noTool':
      if (turn.gate === privateAccount.name) return handOff(scope, planning);
      await closeRun(scope, { turnId, chatId, to: 'no_tool' });
      return { kind: 'noTool' };
    case 'deny': {
      await closeRun(scope, { turnId, chatId, to: 'refused', code: 'TOOL_POLICY_DENIED' });
      const text = say(planning.tenant, 'TOOL_POLICY_DENIED');
      const { outboxId } = await tellCustomer(scope, planning, { kind: 'refusal', text });
      await audit(scope, turn, 'plan_denied', { code: 'TOOL_POLICY_DENIED', by: 'model' });
      return { kind: 'denied', code: 'TOOL_POLICY_DENIED', outboxId };
    }
    case 'ask':
      return storeQuestion(scope, planning, proposal);
    case 'calls':
      return storeCalls(scope, planning, proposal);
  }
}

/** A private account is never talked about from memory: where no tool answers, a person does (spec A1). */
async function handOff(scope: Scope, planning: Planning): Promise<PlanOutcome> {
  const { turnId, chatId } = planning.turn;
  await closeRun(scope, { turnId, chatId, to: 'refused', code: 'TOOL_POLICY_DENIED' });
  const text = say(planning.tenant, 'privateAccount');
  const { outboxId } = await tellCustomer(scope, planning, { kind: 'handOff', text });
  await audit(scope, planning.turn, 'plan_denied', { code: 'TOOL_POLICY_DENIED', by: 'private_account' });
  const notices = await handOffRun(scope, planning.tenant, {
    turn: planning.turn,
    reason: 'private_account',
  });
  return { kind: 'denied', code: 'TOOL_POLICY_DENIED', outboxId, notices };
}

/** A plan that came to nothing, by codes: what the model said is nobody's business. */
async function audit(
  scope: Scope,
  { turnId, chatId }: TurnRow,
  event: 'plan_denied' | 'plan_unreadable',
  facts: Record<string, string>,
): Promise<void> {
  await appendAudit(scope.tx, { stream: chatId, event, subjectId: turnId, actor: 'assistant', facts });
}

async function storeQuestion(
  scope: Scope,
  planning: Planning,
  asked: Extract<Proposal, { kind: 'ask' }>,
): Promise<PlanOutcome> {
  const { turn, tenant, candidates, prompt } = planning;
  const { turnId, chatId, contactId } = turn;
  // A tool that wasn't offered can't be asked about.
  const tool = candidates.find((candidate) => candidate.name === asked.tool)?.name;
  const { questionId } = await openQuestion(scope, {
    chatId,
    contactId,
    turnId,
    kind: 'missing',
    tool,
    missing: asked.missing.filter((name) => isArgumentOf(planning, tool, name)),
    arguments: withEarlierAnswers(planning, tool, asked.arguments),
    isTainted: prompt.isTainted,
    expiresAt: new Date(Date.now() + tenant.configuration.limits.questionMinutes * 60_000),
  });
  await closeRun(scope, { turnId, chatId, to: 'asked' });
  const { outboxId } = await tellCustomer(scope, planning, { kind: 'question', text: asked.question });
  return { kind: 'question', questionId, outboxId };
}

async function storeCalls(
  scope: Scope,
  planning: Planning,
  { calls, because }: Extract<Proposal, { kind: 'calls' }>,
): Promise<PlanOutcome> {
  const { tenant, turn } = planning;
  const proposed = [];
  for (const [ordinal, call] of calls.entries()) {
    const isKnown = tenant.tool(call.tool) !== undefined;
    // Names of tools are kept in plain, also by Temporal; a name that the model has made up is content like any other.
    const tool = isKnown ? call.tool : INVENTED_TOOL;
    const why = isKnown ? because : `proposed as ${call.tool}. ${because}`;
    const values = withEarlierAnswers(planning, tool, call.arguments);
    proposed.push(
      await proposeStep(scope, {
        turnId: turn.turnId,
        contactId: turn.contactId,
        ordinal,
        tool,
        arguments: values,
        argumentsHash: hashOfCall(tool, values),
        ...(why !== '' && { because: why }),
      }),
    );
  }
  return { kind: 'steps', proposed };
}

/** No name that a catalogue could hold. */
const INVENTED_TOOL = '(invented)';

function isArgumentOf({ tenant }: Planning, tool: string | undefined, name: string): boolean {
  const properties = tool === undefined ? undefined : tenant.tool(tool)?.inputSchema['properties'];
  return isJsonObject(properties) && Object.hasOwn(properties, name);
}

/** The answers to our question complete what we knew before; what the customer says now wins. */
function withEarlierAnswers(
  { question }: Planning,
  tool: string | undefined,
  values: JsonObject,
): JsonObject {
  return question && question.tool === tool ? { ...question.arguments, ...values } : values;
}

function tellCustomer(
  scope: Scope,
  { turn, messages, prompt }: Planning,
  message: { kind: 'question' | 'refusal' | 'handOff'; text: string },
): Promise<{ outboxId: string }> {
  return planMessage(scope, {
    chatId: turn.chatId,
    contactId: turn.contactId,
    turnId: turn.turnId,
    origin: { kind: 'plan', id: turn.turnId },
    isTainted: prompt.isTainted,
    answersMessageId: messages.at(-1)?.messageId,
    ...message,
  });
}
