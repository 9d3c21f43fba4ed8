// The run's first activity: registers the run and writes the ranking that decided, with its reasons, into the history.
import { registerRun } from '../../prisma/stores/runs.js';
import { markRunning, turnById } from '../../prisma/stores/turns.js';
import type { ToolRunActivities } from '../../workflows/activity-ports.js';
import type { ActivityDeps } from '../deps.js';
import { logStage } from '../stages.js';

export function createDetectionActivities(deps: ActivityDeps): Pick<ToolRunActivities, 'detect'> {
  return {
    async detect({ tenantId, turnId }) {
      const candidates = await deps.inScope(tenantId, async (scope) => {
        const turn = await turnById(scope, turnId);
        const { route, configHash } = turn.decision;
        if (route.kind !== 'tools') throw new Error('only a flagged turn becomes a run');
        // Nothing is ranked again: contexts have come and gone since. Gates before the detector choose without a score.
        const chosen = route.candidates.map(
          (tool) =>
            route.ranking?.find((ranked) => ranked.tool === tool) ?? {
              tool,
              score: 0,
              because: route.because,
            },
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
