// Tenants and their accounts, as configuration names them.
import { randomUUID } from 'node:crypto';
import type { Database } from '../database.js';
import { tenantBySlug } from '../functions.js';

export interface NewTenant {
  slug: string;
  name: string;
  accounts: { channel: 'web' | 'whatsapp-cloud' | 'whatsapp-web'; accountKey: string }[];
}

/** Makes a tenant and its accounts, or finds the one that is there. */
export async function registerTenant(
  database: Database,
  tenant: NewTenant,
): Promise<{ tenantId: string; isNew: boolean }> {
  const known = await tenantBySlug(database.prisma, tenant.slug);
  if (known !== undefined) return { tenantId: known, isNew: false };
  const tenantId = randomUUID();
  await database.inTenant(tenantId, async (tx) => {
    await tx.tenant.create({ data: { id: tenantId, slug: tenant.slug, name: tenant.name } });
    for (const account of tenant.accounts) {
      await tx.channelAccount.create({ data: { id: randomUUID(), tenantId, ...account } });
    }
  });
  return { tenantId, isNew: true };
}
