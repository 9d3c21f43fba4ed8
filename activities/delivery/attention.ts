// What a customer on WhatsApp sees while their message is worked on: that it was read, and that somebody types. Nothing depends
// on it, so it is never waited for, never tried again, and its failure is only logged.
import { errorFacts } from '../../config/logger.js';
import { newestOnWhatsApp } from '../../prisma/stores/recipients.js';
import type { TurnActivities } from '../../workflows/activity-ports.js';
import type { TurnRoute } from '../../workflows/domain/turn.js';
import type { ActivityDeps } from '../deps.js';

type AttentionDeps = Pick<ActivityDeps, 'inScope' | 'tenants' | 'graph' | 'log'>;

/** Routes on which a model or a tool takes its time. */
const TAKES_TIME: TurnRoute['kind'][] = ['answer', 'tools'];

/** The same activities; a turn that will take its time is shown as read once it is decided. */
export function withAttention<Own extends TurnActivities>(deps: AttentionDeps, activities: Own): Own {
  return {
    ...activities,
    async prepareTurn(input: Parameters<TurnActivities['prepareTurn']>[0]) {
      const prepared = await activities.prepareTurn(input);
      if (prepared && 'decision' in prepared && TAKES_TIME.includes(prepared.decision.route.kind)) {
        const turn = { tenantId: input.tenantId, turnId: prepared.turnId };
        void showAttention(deps, turn).catch((error: unknown) => {
          deps.log.debug('attention.not_shown', { ...turn, ...errorFacts(error) });
        });
      }
      return prepared;
    },
  };
}

async function showAttention(
  { inScope, tenants, graph }: AttentionDeps,
  { tenantId, turnId }: { tenantId: string; turnId: string },
): Promise<void> {
  const { whatsapp } = (await tenants.byId(tenantId)).configuration.channels;
  if (whatsapp.length === 0) return;
  const newest = await inScope(tenantId, (scope) => newestOnWhatsApp(scope, turnId));
  const account = whatsapp.find(({ accountKey }) => accountKey === newest?.accountKey);
  if (account && newest) await graph.markRead(account, { externalId: newest.externalId, isTyping: true });
}
