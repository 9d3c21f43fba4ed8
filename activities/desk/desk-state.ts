// The desk as its conversation sees it: who has the chat, where the session stands, and what may go on.
import { awaitedUntil, currentSession, resolveSession } from '../../prisma/stores/chat-sessions.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { lockChat, waitingRuns } from '../../prisma/stores/turns.js';
import { profileOf } from '../../config/accounts.js';
import type { DeskActivities } from '../../workflows/activity-ports.js';
import type { DeskNow } from '../../workflows/domain/session.js';
import type { ActivityDeps } from '../deps.js';
import type { Tenant } from '../tenants.js';
import { currentLease } from './lease.js';

export function createDeskActivities(deps: ActivityDeps): DeskActivities {
  return {
    async deskState({ tenantId, chatId }) {
      const tenant = await deps.tenants.byId(tenantId);
      const found = await deps.inScope(tenantId, (scope) => look(scope, tenant, chatId));
      const { session, lease, runs } = found;
      deps.log.event('desk.looked', {
        tenantId,
        chatId,
        session: session?.state ?? 'none',
        isTaken: lease !== undefined,
        runs: runs.length,
      });
      return found;
    },

    async resolveSession({ tenantId, chatId, sessionId, by }) {
      const awaited = await deps.inScope(tenantId, async (scope) => {
        await lockChat(scope, chatId);
        const until = by === 'timeout' ? await awaitedUntil(scope, chatId) : undefined;
        if (!until) await resolveSession(scope, { chatId, sessionId, by });
        return until;
      });
      if (awaited) return { awaitedUntil: awaited.getTime() };
      deps.log.event('session.resolved', { tenantId, chatId, sessionId, by });
      return {};
    },
  };
}

async function look(scope: Scope, tenant: Tenant, chatId: string): Promise<DeskNow> {
  const chat = await lockChat(scope, chatId);
  const open = await currentSession(scope, chatId);
  const lease = await currentLease(scope, tenant, chat);
  if (lease && open?.state === 'waiting') {
    await resolveSession(scope, { chatId, sessionId: open.sessionId, by: 'human' });
    return { lease, runs: [] };
  }
  const session = open && { session: open, pace: profileOf(tenant.configuration, chat) };
  if (lease) return { ...session, lease, runs: [] };
  return { ...session, runs: await waitingRuns(scope, chatId) };
}
