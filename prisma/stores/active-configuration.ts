// Which configuration a process works with is part of the audit: a decision names a hash, and here it says since when.
import type { Database, Tx } from '../database.js';
import { appendAudit, tenantBySlug } from '../functions.js';

export interface ActiveConfiguration {
  slug: string;
  hash: string;
}

/**
 * Notes for each business, in its tenant stream, which configuration `actor` works with from now on. One line per change: a
 * restart with the configuration that was noted last adds none. A business that the database doesn't know yet is passed over.
 */
export async function noteConfigurations(
  database: Database,
  { tenants, actor }: { tenants: Iterable<ActiveConfiguration>; actor: 'gateway' | 'worker' },
): Promise<{ noted: number }> {
  let noted = 0;
  for (const { slug, hash } of tenants) {
    const tenantId = await tenantBySlug(database.prisma, slug);
    if (tenantId === undefined) continue;
    noted += await database.inTenant(tenantId, (tx) => note(tx, { tenantId, hash, actor }));
  }
  return { noted };
}

async function note(
  tx: Tx,
  { tenantId, hash, actor }: { tenantId: string; hash: string; actor: string },
): Promise<0 | 1> {
  // Gateway and worker start together: one after the other they see each other's line.
  await tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${`aroko_configuration/${tenantId}`}, 0))::text`;
  const [newest] = await tx.$queryRaw<{ hash: string | null }[]>`
    select facts ->> 'configHash' as hash from audit
    where tenant_id = aroko_tenant() and stream = 'tenant' and event = 'configuration_active' order by number desc limit 1`;
  if (newest?.hash === hash) return 0;
  await appendAudit(tx, {
    stream: 'tenant',
    event: 'configuration_active',
    actor,
    facts: { configHash: hash },
  });
  return 1;
}
