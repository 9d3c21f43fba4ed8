// The run's last word (spec A8): from stored results only. "Booked" is said because a row says so, never because a model
// does; when no model answers, the result's own summary is good enough.
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { lastDecisionOfTurn } from '../../prisma/stores/approvals.js';
import { keepContext } from '../../prisma/stores/contexts.js';
import { findByOrigin, planMessage, type OutboxKind } from '../../prisma/stores/outbox.js';
import { closeRun, moveRun, type ClosedRunState } from '../../prisma/stores/runs.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { lockStep, refuseStep, stepsOfTurn, type Step } from '../../prisma/stores/steps.js';
import { messagesOfTurn, turnById, type TurnMessage, type TurnRow } from '../../prisma/stores/turns.js';
import type { ToolRunActivities } from '../../workflows/activity-ports.js';
import type { ErrorCode } from '../../workflows/domain/failures.js';
import type { SayKind } from '../../workflows/domain/message.js';
import { askModel } from '../claude/ask.js';
import type { ActivityDeps } from '../deps.js';
import { contextOf, writeContext } from './context-content.js';
import { summaryPrompt } from './prompt.js';
import { say } from '../sentences.js';
import { logStage } from '../stages.js';
import type { Tenant } from '../tenants.js';

/** From this attempt on the customer gets the result's own summary: what was done is told, whoever writes the sentence. */
const MODEL_ATTEMPTS = 2;

interface Ending {
  kind: OutboxKind;
  text: string;
  /** The words come of untrusted content. Absent: they are fixed ones. */
  isTainted?: boolean;
  state: ClosedRunState;
  code?: ErrorCode;
  /** Nobody waits for these words: they are kept and not sent. */
  isUnsaid?: boolean;
}

interface Run {
  turn: TurnRow;
  messages: TurnMessage[];
  /** The last step that was reached. */
  step: Step;
}

export function createSummarizationActivities(deps: ActivityDeps): Pick<ToolRunActivities, 'summarize'> {
  return {
    async summarize({ tenantId, turnId }) {
      const tenant = await deps.tenants.byId(tenantId);
      const begun = await deps.inScope(tenantId, (scope) => begin(scope, tenant, turnId));
      if ('said' in begun) return begun.said;
      const { run } = begun;
      const ending = begun.ending ?? (await tellResult(deps, tenant, run));
      const said = await deps.inScope(tenantId, (scope) => conclude(scope, deps, tenant, run, ending));
      deps.log.event('run.concluded', {
        tenantId,
        correlationId: turnId,
        state: ending.state,
        code: ending.code,
      });
      return said;
    },
  };
}

async function begin(
  scope: Scope,
  tenant: Tenant,
  turnId: string,
): Promise<{ said: { outboxId: string; kind: SayKind } } | { run: Run; ending?: Ending }> {
  const known = await findByOrigin(scope, { kind: 'summary', id: turnId });
  if (known) return { said: { outboxId: known.outboxId, kind: sayKindOf(known.kind) } };
  const turn = await turnById(scope, turnId);
  const steps = await stepsOfTurn(scope, turnId);
  const step = steps.findLast((each) => each.state !== 'proposed') ?? steps[0];
  if (!step) throw new Error('a run without steps has nothing to summarize');
  await moveRun(scope, { turnId, chatId: turn.chatId, to: 'summarizing' });
  const run = { turn, messages: await messagesOfTurn(scope, turnId), step };
  const ending = await fixedEnding(scope, tenant, step);
  return { run, ...(ending && { ending }) };
}

/** Everything but a result is said in fixed words. */
async function fixedEnding(scope: Scope, tenant: Tenant, step: Step): Promise<Ending | undefined> {
  switch (step.state) {
    case 'succeeded':
      // A person has found out that it happened: there is no result that could be told.
      return step.result === undefined
        ? { kind: 'answer', state: 'succeeded', text: say(tenant, 'unknownHappened') }
        : undefined;
    case 'failed': {
      if (step.settledBy !== null) {
        return { kind: 'answer', state: 'failed', text: say(tenant, 'unknownNotHappened') };
      }
      const code = step.code ?? 'TOOL_PROVIDER_ERROR';
      return { kind: 'refusal', state: 'failed', code, text: say(tenant, code) };
    }
    case 'unknown':
    case 'started':
      return { kind: 'answer', state: 'unknown', text: say(tenant, 'unknownOutcome') };
    case 'proposed':
    case 'rejected':
    case 'accepted':
    case 'refused':
      return refusalEnding(scope, tenant, step);
  }
}

async function refusalEnding(scope: Scope, tenant: Tenant, step: Step): Promise<Ending> {
  // Declined or expired: the step is closed for good, so that nothing finds it waiting later.
  await refuseStep(scope, { stepId: step.stepId });
  const decision = await lastDecisionOfTurn(scope, step.turnId);
  const code: ErrorCode = 'TOOL_POLICY_DENIED';
  const ending = { kind: 'refusal', state: 'refused', code } as const;
  // Switched off meanwhile, whoever had said yes: asking again would not help.
  if (step.code === 'TOOL_DISABLED') return { ...ending, code: step.code, text: say(tenant, step.code) };
  // Somebody said yes, and what they said yes to has changed since: nothing was done, and asking again may help.
  if (decision?.state === 'approved') return { ...ending, text: say(tenant, 'could_not_start') };
  if (decision?.gate === 'confirm') {
    const key = decision.state === 'expired' ? 'confirmExpired' : 'notConfirmed';
    return { ...ending, text: say(tenant, key), isUnsaid: decision.isSuperseded };
  }
  if (decision?.state === 'expired') {
    return decision.onExpiry === 'handOff'
      ? { ...ending, kind: 'handOff', text: say(tenant, 'approvalExpiredHandOff') }
      : { ...ending, text: say(tenant, 'approvalExpired') };
  }
  if (decision?.state === 'rejected') {
    return { ...ending, text: say(tenant, 'notApproved', { reason: decision.reason }) };
  }
  return { ...ending, text: say(tenant, code) };
}

async function tellResult(deps: ActivityDeps, tenant: Tenant, run: Run): Promise<Ending> {
  const { turn, step, messages } = run;
  const prompt = summaryPrompt({
    configuration: tenant.configuration,
    messages,
    // Whatever taints a result has tainted its turn before it was stored.
    result: { tool: step.tool, value: step.result ?? {}, isTainted: turn.isTainted },
  });
  const ending = { kind: 'answer', state: 'succeeded', isTainted: prompt.isTainted } as const;
  try {
    const reply = await askModel(
      deps,
      { tenantId: tenant.tenantId, chatId: turn.chatId, turnId: turn.turnId, purpose: 'summarize' },
      {
        use: tenant.configuration.models.summarizer,
        system: prompt.system,
        messages: prompt.messages,
      },
    );
    if (reply.text !== '' && reply.stopReason === 'end_turn')
      return { ...ending, text: tenant.scrubber.scrubText(reply.text).text };
    return { ...ending, text: ownSummary(tenant, step) };
  } catch (error) {
    const isFinal = error instanceof ApplicationFailure && error.nonRetryable === true;
    if (!isFinal && Context.current().info.attempt < MODEL_ATTEMPTS) throw error;
    return { ...ending, text: ownSummary(tenant, step) };
  }
}

function ownSummary(tenant: Tenant, step: Step): string {
  const summary = step.result?.['summary'];
  return typeof summary === 'string' ? summary : say(tenant, 'TOOL_RESULT_INVALID');
}

async function conclude(
  scope: Scope,
  deps: ActivityDeps,
  tenant: Tenant,
  { turn, step: seen, messages }: Run,
  decided: Ending,
): Promise<{ outboxId: string; kind: SayKind }> {
  const { turnId, chatId, contactId } = turn;
  // Whoever settles an unknown effect meanwhile waits for this lock, and then tells the customer what they have found out.
  const step = await lockStep(scope, seen.stepId);
  const ending = step.state === seen.state ? decided : ((await fixedEnding(scope, tenant, step)) ?? decided);
  const isTainted = ending.isTainted === true;
  if (step.result !== undefined && ending.state === 'succeeded') {
    const contextId = await keepContext(scope, {
      chatId,
      contactId,
      turnId,
      stepId: step.stepId,
      tool: step.tool,
      content: writeContext(contextOf(step.result, ending.text)),
      isTainted,
      expiresAt: new Date(Date.now() + tenant.configuration.limits.contextMinutes * 60_000),
    });
    logStage(deps, 'AgentToolContextStored', { tenantId: tenant.tenantId, turnId }, { contextId });
  }
  await closeRun(scope, { turnId, chatId, to: ending.state, code: ending.code });
  const { outboxId } = await planMessage(scope, {
    chatId,
    contactId,
    turnId,
    origin: { kind: 'summary', id: turnId },
    kind: ending.kind,
    text: ending.text,
    isTainted,
    ...(ending.isUnsaid && { state: 'discarded' }),
    answersMessageId: messages.at(-1)?.messageId,
  });
  return { outboxId, kind: sayKindOf(ending.kind) };
}

/** A hand-off ends a run as a refusal does; the row itself says that a person takes over. */
function sayKindOf(kind: OutboxKind): SayKind {
  return kind === 'handOff' ? 'refusal' : kind;
}
