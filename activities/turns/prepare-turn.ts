// Claims what waits in the inbox and decides its route, in one transaction: no model is asked and nothing is sent here.
import { Context } from '@temporalio/activity';
import { profileOf } from '../../config/accounts.js';
import { currentSession, sessionNow } from '../../prisma/stores/chat-sessions.js';
import { liveContexts } from '../../prisma/stores/contexts.js';
import { currentQuestion } from '../../prisma/stores/questions.js';
import type { Scope } from '../../prisma/stores/scope.js';
import {
  claimTurn,
  lockChat,
  messagesOfTurn,
  nextMessage,
  prepared,
  unfinishedTurn,
  type ChatRow,
  type ClaimedTurn,
  type TurnMessage,
} from '../../prisma/stores/turns.js';
import type { TurnActivities } from '../../workflows/activity-ports.js';
import { FAILURE_TYPES } from '../../workflows/domain/failures.js';
import type { Lease, OpenSession, SessionOpened } from '../../workflows/domain/session.js';
import type { Actor } from '../../workflows/domain/tool.js';
import type { PreparedTurn, Profile } from '../../workflows/domain/turn.js';
import { leaseOf } from '../desk/lease.js';
import { advanceSession, belongsToSession, enterSession, keepsSessions } from '../desk/sessions.js';
import type { ActivityDeps } from '../deps.js';
import { failureTypeOf } from '../failure-type.js';
import { say } from '../sentences.js';
import { logStage } from '../stages.js';
import type { Tenant } from '../tenants.js';
import { decideByArrival, isOwner, type ArrivalHandlers } from './arrivals.js';
import { TURN_GATES } from './gates/index.js';
import { storeTurn } from './store-turn.js';
import type { GateOutcome, TurnContext } from './turn-context.js';

/** From this attempt on a turn that can't be decided gets an apology: one broken message must not block its chat. */
const ATTEMPTS_BEFORE_APOLOGY = 5;

/** What a debounce may merge: more than a person types in a minute. */
const MOST_MESSAGES_PER_TURN = 200;

interface Asked {
  chatId: string;
  after: number;
  sessionId?: string;
}

export function createTurnActivities(deps: ActivityDeps, handlers: ArrivalHandlers = {}): TurnActivities {
  return {
    async prepareTurn({ tenantId, ...asked }) {
      const tenant = await deps.tenants.byId(tenantId);
      const { chatId } = asked;
      try {
        const turn = await deps.inScope(tenantId, (scope) => prepare(scope, tenant, asked, handlers));
        if (turn) log(deps, { tenantId, chatId }, turn);
        return turn;
      } catch (error) {
        const isAway = failureTypeOf(error) === FAILURE_TYPES.database;
        if (isAway || Context.current().info.attempt < ATTEMPTS_BEFORE_APOLOGY) throw error;
        deps.log.error('turn.undecidable', { tenantId, chatId, errorName: nameOf(error) });
        return deps.inScope(tenantId, (scope) => apologizeInstead(scope, tenant, asked));
      }
    },
  };
}

async function prepare(
  scope: Scope,
  tenant: Tenant,
  asked: Asked,
  handlers: ArrivalHandlers,
): Promise<PreparedTurn | SessionOpened | null> {
  const chat = await lockChat(scope, asked.chatId);
  const profile = profileOf(tenant.configuration, chat);
  const unfinished = await unfinishedTurn(scope, asked);
  if (unfinished?.decision) {
    const turn = prepared({ ...unfinished, decision: unfinished.decision });
    return again(scope, asked, { ...turn, ...leaseIn(tenant, chat) });
  }
  const entered = keepsSessions(tenant, profile)
    ? await enter(scope, tenant, { chat, profile, asked, isClaimed: unfinished !== undefined })
    : {};
  if ('opened' in entered) return entered;
  const claimed = unfinished ?? (await claim(scope, chat, profile));
  if (!claimed) return null;
  const turn = await readTurn(scope, tenant, { chat, claimed, session: entered.session });
  const { gate, outcome } = await decide(turn, handlers);
  const stored = await storeTurn({ turn, claimed, gate, outcome, profile: profileFor(turn, profile) });
  const session = entered.session && (await advanceSession(scope, chat, { session: entered.session, gate }));
  return {
    ...stored,
    ...(session && { session }),
    ...leaseIn(tenant, chat),
  };
}

function leaseIn(tenant: Tenant, { takeover }: ChatRow): { lease?: Lease } {
  return takeover ? { lease: leaseOf(tenant, takeover) } : {};
}

/** The session is told as it is now: it was moved on together with the decision. */
async function again(scope: Scope, { chatId, sessionId }: Asked, turn: PreparedTurn): Promise<PreparedTurn> {
  const session = sessionId === undefined ? undefined : await sessionNow(scope, { chatId, sessionId });
  return { ...turn, ...(session && { session }) };
}

async function enter(
  scope: Scope,
  tenant: Tenant,
  at: { chat: ChatRow; profile: Profile; asked: Asked; isClaimed: boolean },
): Promise<SessionOpened | { session?: OpenSession }> {
  const { chat, profile, asked, isClaimed } = at;
  if (isClaimed) {
    const session = await currentSession(scope, chat.chatId);
    return session ? { session } : {};
  }
  const next = await nextMessage(scope, chat.chatId);
  if (!next || !belongsToSession(next, chat)) return {};
  return enterSession({ scope, tenant, chat, profile }, asked);
}

async function claim(scope: Scope, { chatId }: ChatRow, profile: Profile): Promise<ClaimedTurn | undefined> {
  // Without a debounce every message is a turn of its own; with one, all that has come meanwhile is answered together.
  const isMerged = profile.debounceMs > 0 || (profile.graceMs ?? 0) > 0;
  return claimTurn(scope, { chatId, limit: isMerged ? MOST_MESSAGES_PER_TURN : 1 });
}

async function readTurn(
  scope: Scope,
  tenant: Tenant,
  of: { chat: ChatRow; claimed: ClaimedTurn; session?: OpenSession | undefined },
): Promise<TurnContext> {
  const { chat, claimed, session } = of;
  const all = await messagesOfTurn(scope, claimed.turnId);
  const messages = all.filter((message) => message.isRevoked !== true);
  return {
    scope,
    tenant,
    chat,
    turnId: claimed.turnId,
    actor: actorOf(tenant, chat, all),
    messages,
    text: messages.map((message) => message.text).join('\n'),
    question: await currentQuestion(scope, chat.chatId),
    contexts: await liveContexts(scope, chat.chatId),
    session,
  };
}

/** By the identity that the gateway has verified, never by what a message says. */
function actorOf(tenant: Tenant, { kind }: ChatRow, [first]: TurnMessage[]): Actor {
  if (kind === 'group') return 'group';
  return first && isOwner(tenant, first) ? 'owner' : 'customer';
}

async function decide(
  turn: TurnContext,
  handlers: ArrivalHandlers,
): Promise<{ gate: string; outcome: GateOutcome }> {
  if (turn.messages.length === 0) {
    return { gate: 'revoked', outcome: { kind: 'silent', because: 'the sender has taken it back' } };
  }
  // Erased while it waited: there is nothing to answer, and somebody still has to be told.
  if (turn.messages.some((message) => message.isUnreadable)) return unreadable(turn.tenant);
  const byArrival = await decideByArrival(turn, handlers);
  if (byArrival) return byArrival;
  for (const gate of TURN_GATES) {
    const outcome = await gate.decide(turn);
    if (outcome) return { gate: gate.name, outcome };
  }
  throw new Error('the last gate has to decide');
}

/** Owners and operators are answered at once, on whatever account they write. */
function profileFor({ messages: [first] }: TurnContext, profile: Profile): Profile {
  if (!first || first.speaker === 'customer') return profile;
  return { ...profile, graceMs: 0, debounceMs: 0, debounceMaxMs: 0 };
}

/** Decides without reading: the messages of this turn can't be opened, or a gate fails on them each time. */
async function apologizeInstead(scope: Scope, tenant: Tenant, asked: Asked): Promise<PreparedTurn | null> {
  const chat = await lockChat(scope, asked.chatId);
  const profile = profileOf(tenant.configuration, chat);
  const claimed = (await unfinishedTurn(scope, asked)) ?? (await claim(scope, chat, profile));
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
  const stored = await storeTurn({ turn, claimed, profile, ...unreadable(tenant) });
  return again(scope, asked, { ...stored, ...leaseIn(tenant, chat) });
}

function unreadable(tenant: Tenant): { gate: string; outcome: GateOutcome } {
  const text = say(tenant, 'assistant_unavailable');
  return { gate: 'unreadable', outcome: { kind: 'fixed', as: 'refusal', text, because: 'unreadable' } };
}

function log(
  deps: ActivityDeps,
  { tenantId, chatId }: { tenantId: string; chatId: string },
  turn: PreparedTurn | SessionOpened,
): void {
  if ('opened' in turn) {
    const { sessionId, state } = turn.opened;
    return deps.log.event('session.opened', { tenantId, chatId, sessionId, state });
  }
  const { turnId, upTo, decision, session } = turn;
  const { route, actor } = decision;
  deps.log.event('turn.prepared', {
    tenantId,
    correlationId: turnId,
    upTo,
    route: route.kind,
    actorRole: actor,
    ...(session && { session: session.state }),
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
