// What the run asks of its approval when it is woken, and a decision typed into the Temporal UI or CLI.
import { decide, settle } from '../../prisma/stores/approvals.js';
import type { ToolRunActivities } from '../../workflows/activity-ports.js';
import type { ActivityDeps } from '../deps.js';

export function createApprovalActivities(
  deps: ActivityDeps,
): Pick<ToolRunActivities, 'settleApproval' | 'decideFromTemporal'> {
  return {
    async settleApproval({ tenantId, approvalId }) {
      const settlement = await deps.inScope(tenantId, (scope) => settle(scope, approvalId));
      deps.log.event('approval.settled', { tenantId, approvalId, settlement });
      return { settlement };
    },

    async decideFromTemporal({ tenantId, turnId, ref, decision }) {
      const tenant = await deps.tenants.byId(tenantId);
      if (!tenant.configuration.policy.surfaces.includes('temporal')) {
        deps.log.warn('approval.surface_not_allowed', { tenantId, turnId, surface: 'temporal' });
        return { accepted: false };
      }
      return deps.inScope(tenantId, async (scope) => {
        // The signal was sent to this run, so only an approval of this run can be meant.
        const own = await scope.tx.approval.findFirst({ where: { turnId, ref }, select: { id: true } });
        if (!own) return { accepted: false };
        const { outcome } = await decide(scope.tx, scope.content, {
          tenantId,
          key: { approvalId: own.id },
          decision,
          approver: { surface: 'temporal', id: 'temporal' },
        });
        return { accepted: outcome === 'decided' };
      });
    },
  };
}
