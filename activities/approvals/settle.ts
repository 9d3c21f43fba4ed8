// What the run asks of its approval when it is woken, the reminder at its time, and a decision typed into the Temporal UI or
// CLI.
import { auditRefusal } from '../../prisma/stores/approval-refusals.js';
import { markReminded, settle, type Settled } from '../../prisma/stores/approval-settlement.js';
import { decide } from '../../prisma/stores/approvals.js';
import type { Scope } from '../../prisma/stores/scope.js';
import type { ToolRunActivities } from '../../workflows/activity-ports.js';
import type { Approver } from '../../workflows/domain/approval.js';
import type { ActivityDeps } from '../deps.js';
import { auditHandOff } from '../desk/hand-off.js';
import type { Tenant } from '../tenants.js';
import { planNotices } from './notices.js';

const TEMPORAL: Approver = { surface: 'temporal', id: 'temporal' };

export function createApprovalActivities(
  deps: ActivityDeps,
): Pick<ToolRunActivities, 'settleApproval' | 'remindApprovers' | 'decideFromTemporal'> {
  return {
    async settleApproval({ tenantId, approvalId }) {
      const tenant = await deps.tenants.byId(tenantId);
      const { settled, notices } = await deps.inScope(tenantId, async (scope) => {
        const row = await settle(scope, approvalId);
        return { settled: row, notices: await noticesAfter(scope, tenant, { askedId: approvalId, row }) };
      });
      const { settlement, ref, expiresAt, remindAt } = settled;
      deps.log.event('approval.settled', { tenantId, approvalId, settlement });
      return {
        settlement,
        ...(settled.approvalId !== approvalId && {
          newer: {
            approvalId: settled.approvalId,
            ref,
            expiresAt: expiresAt.getTime(),
            ...(remindAt && { remindAt: remindAt.getTime() }),
          },
        }),
        ...(notices.length > 0 && { notices }),
      };
    },

    async remindApprovers({ tenantId, approvalId }) {
      const tenant = await deps.tenants.byId(tenantId);
      return deps.inScope(tenantId, async (scope) => {
        const reminded = await markReminded(scope, approvalId);
        if (reminded === 'too_late') return { notices: [] };
        const notices = await planNotices(scope, tenant, { approvalId, about: 'reminder' });
        deps.log.event('approval.reminded', {
          tenantId,
          approvalId,
          outcome: reminded,
          count: notices.length,
        });
        return { notices };
      });
    },

    async decideFromTemporal({ tenantId, turnId, ref, decision }) {
      const tenant = await deps.tenants.byId(tenantId);
      const isListed = tenant.configuration.policy.surfaces.includes('temporal');
      const { outcome, approvalId } = await deps.inScope(tenantId, async (scope) => {
        // The signal was sent to this run, so only an approval of this run can be meant: whatever else bears the code.
        const own = await scope.tx.approval.findFirst({
          where: { turnId, ref, gate: 'approve' },
          orderBy: { askedAt: 'desc' },
          select: { id: true, chatId: true },
        });
        const refused = !isListed ? 'surface_not_allowed' : !own ? 'not_of_this_run' : undefined;
        if (own && refused === undefined) {
          const { tx, content } = scope;
          return decide(tx, content, { tenantId, key: { approvalId: own.id }, decision, approver: TEMPORAL });
        }
        const run = await scope.tx.toolRun.findUniqueOrThrow({
          where: { turnId },
          select: { chatId: true },
        });
        await auditRefusal(scope, {
          stream: run.chatId,
          approvalId: own?.id,
          ref,
          approver: TEMPORAL,
          decision,
          outcome: refused ?? 'not_of_this_run',
        });
        return { outcome: refused, approvalId: own?.id };
      });
      const isAccepted = outcome === 'decided' || outcome === 'counted';
      if (!isAccepted) deps.log.warn('approval.refused', { tenantId, turnId, approvalId, outcome });
      return { accepted: isAccepted };
    },
  };
}

/** Written once each: with the edit or, where nobody answered and somebody has to get back to the customer, here. */
async function noticesAfter(
  scope: Scope,
  tenant: Tenant,
  { askedId, row }: { askedId: string; row: Settled },
): Promise<string[]> {
  const { approvalId, settlement, onExpiry } = row;
  if (settlement === 'expired' && onExpiry === 'handOff') {
    const notices = await planNotices(scope, tenant, { approvalId, about: 'expired' });
    const { chatId, turnId } = await scope.tx.approval.findUniqueOrThrow({
      where: { id: approvalId },
      select: { chatId: true, turnId: true },
    });
    await auditHandOff(scope, { chatId, turnId, reason: 'approval_expired', told: notices.length });
    return notices;
  }
  const isNewer = settlement === 'open' && approvalId !== askedId;
  return isNewer ? planNotices(scope, tenant, { approvalId, about: 'request' }) : [];
}
