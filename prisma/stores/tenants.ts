// Tenants and their accounts, as configuration names them.
import { randomUUID } from 'node:crypto';
import type { Database, Tx } from '../database.js';
import { tenantBySlug } from '../functions.js';

export interface NewTenant {
  slug: string;
  name: string;
  accounts: { channel: 'web' | 'whatsapp-cloud' | 'whatsapp-web'; accountKey: string }[];
}

/**
 * Makes a tenant and its accounts, or finds the one that is there. An account that configuration has added since is added,
 * one that it no longer names takes no messages any more; its chats stay.
 */
export async function registerTenant(
  database: Database,
  tenant: NewTenant,
): Promise<{ tenantId: string; isNew: boolean }> {
  const known = await tenantBySlug(database.prisma, tenant.slug);
  const tenantId = known ?? randomUUID();
  await database.inTenant(tenantId, async (tx) => {
    if (known === undefined)
      await tx.tenant.create({ data: { id: tenantId, slug: tenant.slug, name: tenant.name } });
    await keepAccounts(tx, tenantId, tenant.accounts);
  });
  return { tenantId, isNew: known === undefined };
}

async function keepAccounts(tx: Tx, tenantId: string, named: NewTenant['accounts']): Promise<void> {
  const stored = await tx.channelAccount.findMany();
  const isSame = (
    one: NewTenant['accounts'][number],
    other: { channel: string; accountKey: string },
  ): boolean => one.channel === other.channel && one.accountKey === other.accountKey;
  for (const account of named) {
    const row = stored.find((known) => isSame(account, known));
    if (!row) {
      await tx.channelAccount.create({ data: { id: randomUUID(), tenantId, ...account } });
    } else if (row.disabledAt !== null) {
      await tx.channelAccount.update({ where: { id: row.id }, data: { disabledAt: null } });
    }
  }
  for (const row of stored) {
    if (row.disabledAt !== null || named.some((account) => isSame(account, row))) continue;
    await tx.channelAccount.update({ where: { id: row.id }, data: { disabledAt: new Date() } });
  }
}
