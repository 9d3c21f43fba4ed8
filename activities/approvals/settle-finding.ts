// A person has found out whether an effect happened of which nobody knew, and says so on whatever surface: once, and never back.
import { auditRefusal } from '../../prisma/stores/approval-refusals.js';
import type { Scope } from '../../prisma/stores/scope.js';
import type { SettledUnknown } from '../../prisma/stores/unknown-steps.js';
import type { Approver } from '../../workflows/domain/approval.js';
import { settleUnknown } from '../execution/settle-unknown.js';
import type { Tenant } from '../tenants.js';

export interface Found {
  stepId: string;
  finding: 'happened' | 'notHappened';
  /** An owner, by id. */
  approver: Approver;
  /** For the audit of what is refused: the chat in which it was said, or `tenant`. */
  stream: string;
  /** Absent: looked up for the audit. */
  ref?: string | undefined;
}

/** `surface_not_allowed`: policy doesn't let owners decide there. */
export type Settling = SettledUnknown | { outcome: 'surface_not_allowed' };

/** Settles it, and gives the customer, who was told that somebody looks into it, an honest word; or audits why not. */
export async function settleFinding(
  scope: Scope,
  tenant: Pick<Tenant, 'configuration'>,
  { stepId, finding, approver, stream, ref }: Found,
): Promise<Settling> {
  const by = `owner:${approver.id}`;
  const isOpen = tenant.configuration.policy.surfaces.some((listed) => listed === approver.surface);
  const settled: Settling = isOpen
    ? await settleUnknown(scope, tenant, { stepId, happened: finding === 'happened', by })
    : { outcome: 'surface_not_allowed' };
  if (settled.outcome !== 'settled') {
    const meant = ref ?? (await refOfStep(scope, stepId));
    await auditRefusal(scope, { stream, ref: meant, approver, decision: finding, outcome: settled.outcome });
  }
  return settled;
}

async function refOfStep(scope: Scope, stepId: string): Promise<string | undefined> {
  const step = await scope.tx.step.findUnique({ where: { id: stepId }, select: { ref: true } });
  return step?.ref ?? undefined;
}
