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
  ref?: string | undefined;
}

/** Settles it, and gives the customer, who was told that somebody looks into it, an honest word; or audits why not. */
export async function settleFinding(
  scope: Scope,
  tenant: Pick<Tenant, 'configuration'>,
  { stepId, finding, approver, stream, ref }: Found,
): Promise<SettledUnknown> {
  const by = `owner:${approver.id}`;
  const settled = await settleUnknown(scope, tenant, { stepId, happened: finding === 'happened', by });
  if (settled.outcome !== 'settled') {
    await auditRefusal(scope, { stream, ref, approver, decision: finding, outcome: settled.outcome });
  }
  return settled;
}
