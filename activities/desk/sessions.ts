// Where a customer's message meets the session of its chat (spec B1): which one it belongs to, and what becomes of that when
// the turn is decided.
import type { Profile } from '../../workflows/domain/turn.js';
import {
  hasSessions,
  type OpenSession,
  type SessionNow,
  type SessionOpened,
} from '../../workflows/domain/session.js';
import {
  activateSession,
  awaitedUntil,
  currentSession,
  firstMessageToSend,
  firstMessageOf,
  lastSettledAt,
  openSession,
  resolveSession,
} from '../../prisma/stores/chat-sessions.js';
import { planMessage } from '../../prisma/stores/outbox.js';
import type { Scope } from '../../prisma/stores/scope.js';
import type { ChatRow, NextMessage } from '../../prisma/stores/turns.js';
import type { Tenant } from '../tenants.js';

interface Place {
  scope: Scope;
  tenant: Tenant;
  chat: ChatRow;
  profile: Profile;
}

/** Whether customers of this account are answered within sessions: for the sake of its pace, or of a first message. */
export function keepsSessions({ configuration }: Tenant, profile: Profile): boolean {
  return hasSessions(profile) || configuration.assistant.firstMessage !== undefined;
}

/** Owners, operators and whoever isn't answered at all have no sessions. */
export function belongsToSession({ arrival, speaker }: NextMessage, chat: ChatRow): boolean {
  return arrival === 'turn' && speaker === 'customer' && chat.isBlocked !== true;
}

/**
 * The session that the next message belongs to. `opened`: it begins, or goes on after an interruption, and the conversation
 * has to hear of its grace and pace before a turn is taken. Nothing: none is open while a person has the chat.
 */
export async function enterSession(
  place: Place,
  known: { sessionId?: string | undefined },
): Promise<SessionOpened | { session?: OpenSession }> {
  const { scope, chat } = place;
  const session = await currentSession(scope, chat.chatId);
  if (chat.takeover || (session && session.sessionId === known.sessionId)) return session ? { session } : {};
  if (session && !(await isOver(place, session))) return opened(place, session);
  if (session)
    await resolveSession(scope, { chatId: chat.chatId, sessionId: session.sessionId, by: 'timeout' });
  return begin(place);
}

/** Nobody's timer has ended it: the conversation was interrupted, and much time has passed since anything was said. */
async function isOver({ scope, chat, profile }: Place, session: OpenSession): Promise<boolean> {
  const settledAt = (await lastSettledAt(scope, chat.chatId))?.getTime() ?? 0;
  const quietSince = Math.max(settledAt, session.graceUntil);
  if (Date.now() - quietSince <= profile.inactivityMs) return false;
  return (await awaitedUntil(scope, chat.chatId)) === undefined;
}

async function begin(place: Place): Promise<SessionOpened> {
  const { scope, tenant, chat, profile } = place;
  const { graceMs = 0, debounceMs, debounceMaxMs = debounceMs } = profile;
  const session = await openSession(scope, { chatId: chat.chatId, graceMs, debounceMaxMs });
  const { assistant, business } = tenant.configuration;
  const text = assistant.firstMessage?.[business.language] ?? Object.values(assistant.firstMessage ?? {})[0];
  if (text !== undefined) {
    await planMessage(scope, {
      chatId: chat.chatId,
      contactId: chat.contactId,
      turnId: null,
      origin: firstMessageOf(session),
      kind: 'acknowledgement',
      text,
    });
  }
  return opened(place, session);
}

/** Planned once per session; told for as long as nobody has delivered it. */
async function opened({ scope, profile }: Place, session: OpenSession): Promise<SessionOpened> {
  const { graceMs, debounceMs, debounceMaxMs, inactivityMs } = profile;
  const pace = { graceMs, debounceMs, debounceMaxMs, inactivityMs };
  const firstMessageId = await firstMessageToSend(scope, session);
  return { opened: session, pace, ...(firstMessageId !== undefined && { firstMessageId }) };
}

/** What becomes of the session by a turn of it: a person has it, the people at the desk have it, or the assistant does. */
export async function advanceSession(
  scope: Scope,
  chat: ChatRow,
  { session, gate }: { session: OpenSession; gate: string },
): Promise<SessionNow> {
  const { chatId } = chat;
  const { sessionId } = session;
  if (gate === 'shift') return end(scope, { chatId, sessionId, by: 'manual' });
  if (session.state === 'active') return session;
  // Somebody wrote before the grace was over.
  if (gate === 'takeover') return end(scope, { chatId, sessionId, by: 'human' });
  await activateSession(scope, { chatId, sessionId });
  return { ...session, state: 'active' };
}

async function end(
  scope: Scope,
  ended: { chatId: string; sessionId: string; by: 'human' | 'manual' },
): Promise<SessionNow> {
  await resolveSession(scope, ended);
  return { sessionId: ended.sessionId, state: 'resolved', by: ended.by };
}
