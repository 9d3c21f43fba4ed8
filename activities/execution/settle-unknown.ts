// A person says whether an effect happened of which nobody knew. The words of the customer are the phrase files'; the rows and
// the rest are the store's.
import type { Scope } from '../../prisma/stores/scope.js';
import { closeUnknownStep, type SettledUnknown } from '../../prisma/stores/unknown-steps.js';
import { say } from '../sentences.js';
import type { Tenant } from '../tenants.js';

/** Settles the step once; whoever delivers rings with what comes back. `by`: `owner:<id>`, `cli` … */
export async function settleUnknown(
  scope: Scope,
  tenant: Pick<Tenant, 'configuration'>,
  { stepId, happened, by }: { stepId: string; happened: boolean; by: string },
): Promise<SettledUnknown> {
  const text = say(tenant, happened ? 'unknownHappened' : 'unknownNotHappened');
  return closeUnknownStep(scope, { stepId, happened, by, text });
}
