// The run's first activity: registers the run and writes the ranking with its reasons into the history.
import { registerRun } from '../../prisma/stores/runs.js';
import { markRunning, messagesOfTurn, turnById } from '../../prisma/stores/turns.js';
import type { ToolRunActivities } from '../../workflows/activity-ports.js';
import type { ActivityDeps } from '../deps.js';
import { logStage } from '../stages.js';

export function createDetectionActivities(deps: ActivityDeps): Pick<ToolRunActivities, 'detect'> {
  return {
    async detect({ tenantId, turnId }) {
      const tenant = await deps.tenants.byId(tenantId);
      const candidates = await deps.inScope(tenantId, async (scope) => {
        const turn = await turnById(scope, turnId);
        const { route, configHash } = turn.decision;
        if (route.kind !== 'tools') throw new Error('only a flagged turn becomes a run');
        const messages = await messagesOfTurn(scope, turnId);
        const text = messages.map((message) => message.text).join('\n');
        const ranked = tenant.detector.detect({ text, recentTools: [] }).candidates;
        // A gate may have chosen a tool that the words alone don't point to: an open question, a follow-up.
        const chosen = route.candidates.map(
          (tool) =>
            ranked.find((candidate) => candidate.tool === tool) ?? { tool, score: 0, because: route.because },
        );
        await registerRun(scope, {
          turnId,
          chatId: turn.chatId,
          contactId: turn.contactId,
          configHash,
          candidates: chosen,
        });
        await markRunning(scope, turnId);
        return chosen;
      });
      logStage(deps, 'AgentToolJobEnqueued', { tenantId, turnId }, { candidates: candidates.length });
      return { candidates };
    },
  };
}
