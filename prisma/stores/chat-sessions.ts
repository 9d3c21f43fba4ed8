// Sessions of a desk's chats: when one began, who has answered it, and how it ended. At most one of a chat is open. Whoever
// changes one holds the chat's lock (`lockChat`).
import { randomUUID } from 'node:crypto';
import type { OpenSession, ResolvedBy, SessionNow } from '../../workflows/domain/session.js';
import { FIRST_MESSAGE } from './deliveries.js';
import { notify, type Scope } from './scope.js';
import { releaseChat } from './takeover.js';
import { lockChat } from './turns.js';

/** The session of this chat that is open now. */
export async function currentSession(scope: Scope, chatId: string): Promise<OpenSession | undefined> {
  const row = await scope.tx.chatSession.findFirst({
    where: { chatId, state: { not: 'resolved' } },
    select: { id: true, state: true, graceUntil: true },
  });
  if (!row) return undefined;
  const state = row.state === 'waiting' ? 'waiting' : 'active';
  return { sessionId: row.id, state, graceUntil: row.graceUntil.getTime() };
}

/**
 * Opens one. Without a grace the assistant has it at once. `debounceMaxMs`: as long as that messages may wait for more of the
 * same turn, and nobody rings for them.
 */
export async function openSession(
  scope: Scope,
  { chatId, graceMs, debounceMaxMs }: { chatId: string; graceMs: number; debounceMaxMs: number },
): Promise<OpenSession> {
  const sessionId = randomUUID();
  const now = new Date();
  const graceUntil = new Date(now.getTime() + graceMs);
  const state = graceMs > 0 ? 'waiting' : 'active';
  await scope.tx.chatSession.create({
    data: {
      id: sessionId,
      tenantId: scope.tenantId,
      chatId,
      state,
      openedAt: now,
      graceUntil,
      debounceMaxMs,
      activeAt: state === 'active' ? now : null,
    },
  });
  await notify(scope, { chatId, what: 'run' });
  return { sessionId, state, graceUntil: graceUntil.getTime() };
}

/** Nobody at the desk has answered: the assistant does. */
export async function activateSession(
  scope: Scope,
  { chatId, sessionId }: { chatId: string; sessionId: string },
): Promise<void> {
  await scope.tx.chatSession.updateMany({
    where: { id: sessionId, state: 'waiting' },
    data: { state: 'active', activeAt: new Date() },
  });
  await notify(scope, { chatId, what: 'run' });
}

/** Ends it, once: a session that is resolved stays as it is. A greeting that nobody has sent by then would be out of place. */
export async function resolveSession(
  scope: Scope,
  { chatId, sessionId, by }: { chatId: string; sessionId: string; by: ResolvedBy },
): Promise<void> {
  const { count } = await scope.tx.chatSession.updateMany({
    where: { id: sessionId, chatId, state: { not: 'resolved' } },
    data: { state: 'resolved', resolvedBy: by, resolvedAt: new Date() },
  });
  if (count === 0) return;
  const { kind, id } = firstMessageOf({ sessionId });
  await scope.tx.outbox.updateMany({
    where: { originKind: kind, originId: id, state: 'planned' },
    data: { state: 'discarded', code: 'session_over', settledAt: new Date() },
  });
  await notify(scope, { chatId, what: 'run' });
}

/**
 * Somebody at the desk says that the matter is done: the session ends, and the chat is the assistant's again. The caller
 * tells the conversation, by `deskChanged`.
 */
export async function resolveByHand(
  scope: Scope,
  { chatId, by }: { chatId: string; by: string },
): Promise<{ outcome: 'resolved' | 'released' | 'nothing_open' }> {
  await lockChat(scope, chatId);
  const session = await currentSession(scope, chatId);
  if (session) await resolveSession(scope, { chatId, sessionId: session.sessionId, by: 'manual' });
  const { outcome } = await releaseChat(scope, { chatId, by });
  if (session) return { outcome: 'resolved' };
  return { outcome: outcome === 'released' ? 'released' : 'nothing_open' };
}

/** The origin of a session's fixed first message (spec B11): one per session, whatever happens. */
export function firstMessageOf({ sessionId }: Pick<OpenSession, 'sessionId'>): { kind: string; id: string } {
  return { kind: FIRST_MESSAGE, id: sessionId };
}

/** The outbox row of the first message, as long as nobody has sent it. */
export async function firstMessageToSend(
  scope: Scope,
  session: Pick<OpenSession, 'sessionId'>,
): Promise<string | undefined> {
  const { kind, id } = firstMessageOf(session);
  const row = await scope.tx.outbox.findFirst({
    where: { originKind: kind, originId: id, state: 'planned' },
    select: { id: true },
  });
  return row?.id;
}

/** Where a session stands, also when it is over. Undefined: there is none of this id in the chat. */
export async function sessionNow(
  scope: Scope,
  { chatId, sessionId }: { chatId: string; sessionId: string },
): Promise<SessionNow | undefined> {
  const row = await scope.tx.chatSession.findFirst({ where: { id: sessionId, chatId } });
  if (!row) return undefined;
  if (row.state === 'resolved') return { sessionId, state: 'resolved', by: row.resolvedBy as ResolvedBy };
  const state = row.state === 'waiting' ? 'waiting' : 'active';
  return { sessionId, state, graceUntil: row.graceUntil.getTime() };
}

/** When something was last said or settled in this chat; what still waits for its answer doesn't count. */
export async function lastSettledAt(scope: Scope, chatId: string): Promise<Date | undefined> {
  const [row] = await scope.tx.$queryRaw<{ at: Date | null }[]>`
    select greatest(
      (select settled_at from outbox where tenant_id = aroko_tenant() and chat_id = ${chatId}::uuid and sequence is not null
        order by sequence desc limit 1),
      (select settled_at from inbox where tenant_id = aroko_tenant() and chat_id = ${chatId}::uuid and settled_at is not null
        order by sequence desc limit 1)) as at`;
  return row?.at ?? undefined;
}

/** Until when somebody behind the desk may still answer a question of this chat. Undefined: nobody is being asked. */
export async function awaitedUntil(scope: Scope, chatId: string): Promise<Date | undefined> {
  const row = await scope.tx.operatorRequest.findFirst({
    where: { chatId, state: 'open', expiresAt: { gt: new Date() } },
    orderBy: { expiresAt: 'desc' },
    select: { expiresAt: true },
  });
  return row?.expiresAt;
}
