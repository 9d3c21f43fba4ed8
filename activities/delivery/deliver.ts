// Sends. On the web chat and the API the commit is the delivery: the gateway hears of it and pushes it to whoever looks.
import { hasSpoken, planMessage, sendByCommit } from '../../prisma/stores/outbox.js';
import { lastMessageId, turnById } from '../../prisma/stores/turns.js';
import type { DeliveryActivities } from '../../workflows/activity-ports.js';
import type { ActivityDeps } from '../deps.js';
import { say } from '../sentences.js';
import { logStage } from '../stages.js';

export function createDeliveryActivities(deps: ActivityDeps): DeliveryActivities {
  return {
    async deliver({ tenantId, outboxId }) {
      const { state, turnId } = await deps.inScope(tenantId, (scope) => sendByCommit(scope, outboxId));
      deps.log.event('outbox.settled', { tenantId, correlationId: turnId ?? undefined, outboxId, state });
      return { state };
    },

    async acknowledge({ tenantId, turnId }) {
      const tenant = await deps.tenants.byId(tenantId);
      return deps.inScope(tenantId, async (scope) => {
        // The run has spoken meanwhile, and its words are on their way: no second "I'll check".
        if (await hasSpoken(scope, turnId)) return { state: 'unneeded' as const };
        const turn = await turnById(scope, turnId);
        const { outboxId } = await planMessage(scope, {
          chatId: turn.chatId,
          contactId: turn.contactId,
          turnId,
          origin: { kind: 'acknowledgement', id: turnId },
          kind: 'acknowledgement',
          text: say(tenant, 'acknowledgement'),
          answersMessageId: await lastMessageId(scope, turnId),
        });
        logStage(deps, 'AgentToolImmediateTimeout', { tenantId, turnId });
        const { state } = await sendByCommit(scope, outboxId);
        return { state };
      });
    },
  };
}
