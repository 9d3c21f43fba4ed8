// Claims what waits in the inbox and decides its route, in one transaction: no model is asked and nothing is sent here.
import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { profileOf } from '../../config/accounts.js';
import { liveContexts } from '../../prisma/stores/contexts.js';
import { planMessage } from '../../prisma/stores/outbox.js';
import { currentQuestion } from '../../prisma/stores/questions.js';
import type { Scope } from '../../prisma/stores/scope.js';
import {
  claimTurn,
  lockChat,
  messagesOfTurn,
  prepared,
  storeDecision,
  unfinishedTurn,
  type ChatRow,
  type ClaimedTurn,
} from '../../prisma/stores/turns.js';
import type { TurnActivities } from '../../workflows/activity-ports.js';
import type { PreparedTurn, TurnDecision, TurnRoute } from '../../workflows/domain/turn.js';
import { FAILURE_TYPES } from '../../workflows/domain/failures.js';
import type { ActivityDeps } from '../deps.js';
import { failureTypeOf } from '../failure-type.js';
import { say } from '../sentences.js';
import { logStage } from '../stages.js';
import type { Tenant } from '../tenants.js';
import { TURN_GATES } from './gates/index.js';
import type { GateOutcome, TurnContext } from './turn-context.js';

/** From this attempt on a turn that can't be decided gets an apology: one broken message must not block its chat. */
const ATTEMPTS_BEFORE_APOLOGY = 5;

/** What a debounce may merge: more than a person types in a minute. */
const MOST_MESSAGES_PER_TURN = 200;

export function createTurnActivities(deps: ActivityDeps): TurnActivities {
  return {
    async prepareTurn({ tenantId, chatId, after }) {
      const tenant = await deps.tenants.byId(tenantId);
      try {
        const turn = await deps.inScope(tenantId, (scope) => prepare(scope, tenant, { chatId, after }));
        if (turn) logDecision(deps, tenantId, turn);
        return turn;
      } catch (error) {
        const isAway = failureTypeOf(error) === FAILURE_TYPES.database;
        if (isAway || Context.current().info.attempt < ATTEMPTS_BEFORE_APOLOGY) throw error;
        deps.log.error('turn.undecidable', { tenantId, chatId, errorName: nameOf(error) });
        return deps.inScope(tenantId, (scope) => apologizeInstead(scope, tenant, { chatId, after }));
      }
    },
  };
}

async function prepare(
  scope: Scope,
  tenant: Tenant,
  { chatId, after }: { chatId: string; after: number },
): Promise<PreparedTurn | null> {
  const chat = await lockChat(scope, chatId);
  const claimed = await claim(scope, tenant, { chat, after });
  if (!claimed) return null;
  if (claimed.decision) return prepared({ ...claimed, decision: claimed.decision });
  const turn = await readTurn(scope, tenant, chat, claimed);
  // Erased while it waited: there is nothing to answer, and somebody still has to be told.
  if (turn.messages.some((message) => message.text === ''))
    return store(turn, claimed, unreadable(tenant), 'unreadable');
  for (const gate of TURN_GATES) {
    const outcome = await gate.decide(turn);
    if (outcome) return store(turn, claimed, outcome, gate.name);
  }
  throw new Error('the last gate has to decide');
}

async function claim(
  scope: Scope,
  tenant: Tenant,
  { chat, after }: { chat: ChatRow; after: number },
): Promise<ClaimedTurn | undefined> {
  const { chatId } = chat;
  const unfinished = await unfinishedTurn(scope, { chatId, after });
  if (unfinished) return unfinished;
  // Without a debounce every message is a turn of its own; with one, all that has come meanwhile is answered together.
  const limit = profileOf(tenant.configuration, chat).debounceMs === 0 ? 1 : MOST_MESSAGES_PER_TURN;
  return claimTurn(scope, { chatId, limit });
}

async function readTurn(
  scope: Scope,
  tenant: Tenant,
  chat: ChatRow,
  claimed: ClaimedTurn,
): Promise<TurnContext> {
  const messages = await messagesOfTurn(scope, claimed.turnId);
  return {
    scope,
    tenant,
    chat,
    turnId: claimed.turnId,
    // Owners are recognised by gateway-verified identities; none of the channels of today carries one.
    actor: chat.kind === 'group' ? 'group' : 'customer',
    messages,
    text: messages.map((message) => message.text).join('\n'),
    question: await currentQuestion(scope, chat.chatId),
    contexts: await liveContexts(scope, chat.chatId),
  };
}

async function store(
  turn: TurnContext,
  claimed: ClaimedTurn,
  outcome: GateOutcome,
  gate: string,
): Promise<PreparedTurn> {
  const { scope, tenant, turnId } = turn;
  const { configuration } = tenant;
  const decision: TurnDecision = {
    decisionId: randomUUID(),
    turnId,
    roleId: configuration.assistant.roleId,
    effort: configuration.models.effort,
    actor: turn.actor,
    configHash: configuration.hash,
    profile: profileOf(configuration, turn.chat),
    expiresAt: Date.now() + configuration.limits.decisionMinutes * 60_000,
    route: await toRoute(turn, outcome, gate),
  };
  await storeDecision(scope, { decision, gate, because: outcome.because });
  return prepared({ ...claimed, decision });
}

async function toRoute(turn: TurnContext, outcome: GateOutcome, gate: string): Promise<TurnRoute> {
  switch (outcome.kind) {
    case 'answer':
      return { kind: 'answer' };
    case 'silent':
      return { kind: 'silent', reason: gate };
    case 'decided':
      return { kind: 'decided', approvalId: outcome.approvalId, runId: outcome.runId };
    case 'tools': {
      const { candidates, contextIds, questionId, because, ranking } = outcome;
      return {
        kind: 'tools',
        candidates,
        contextIds,
        because,
        ...(questionId !== undefined && { questionId }),
        ...(ranking && { ranking: ranking.filter(({ tool }) => candidates.includes(tool)) }),
      };
    }
    case 'fixed':
    case 'handOff': {
      const { chat, turnId, messages } = turn;
      const { outboxId } = await planMessage(turn.scope, {
        chatId: chat.chatId,
        contactId: chat.contactId,
        turnId,
        origin: { kind: 'gate', id: turnId },
        kind: outcome.kind === 'handOff' ? 'handOff' : outcome.as,
        text: outcome.text,
        answersMessageId: messages.at(-1)?.messageId,
      });
      return outcome.kind === 'handOff'
        ? { kind: 'handOff', outboxId, reason: gate }
        : { kind: 'fixed', outboxId, gate };
    }
  }
}

/** Decides without reading: the messages of this turn can't be opened, or a gate fails on them each time. */
async function apologizeInstead(
  scope: Scope,
  tenant: Tenant,
  { chatId, after }: { chatId: string; after: number },
): Promise<PreparedTurn | null> {
  const chat = await lockChat(scope, chatId);
  const claimed = await claim(scope, tenant, { chat, after });
  if (!claimed) return null;
  const turn: TurnContext = {
    scope,
    tenant,
    chat,
    turnId: claimed.turnId,
    actor: 'customer',
    messages: [],
    text: '',
    question: undefined,
    contexts: [],
  };
  return store(turn, claimed, unreadable(tenant), 'unreadable');
}

function unreadable(tenant: Tenant): GateOutcome {
  const text = say(tenant, 'assistant_unavailable');
  return { kind: 'fixed', as: 'refusal', text, because: 'unreadable' };
}

function logDecision(deps: ActivityDeps, tenantId: string, turn: PreparedTurn): void {
  const { turnId, upTo, decision } = turn;
  const { route, actor } = decision;
  deps.log.event('turn.prepared', {
    tenantId,
    correlationId: turnId,
    upTo,
    route: route.kind,
    actorRole: actor,
  });
  // The detector flagged it, and the very same words are being worked on.
  if (route.kind === 'fixed' && route.gate === 'detector') {
    logStage(deps, 'AgentToolJobDedupe', { tenantId, turnId });
  }
  if (route.kind !== 'tools') return;
  const facts = { candidates: route.candidates.length, actorRole: actor };
  logStage(deps, 'AgentToolCandidate', { tenantId, turnId }, facts);
  const [contextId] = route.contextIds;
  if (contextId !== undefined)
    logStage(deps, 'AgentToolFollowupResolved', { tenantId, turnId }, { contextId });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
