// From a tenant's id, which is all that Temporal holds, to its configuration and what is built from that.
import type { Configuration, TenantConfiguration } from '../config/configuration.js';
import type { Database } from '../prisma/database.js';
import type { ToolDefinition } from '../workflows/domain/tool.js';
import type { Detector } from './detection/detector.js';
import { createScrubber, type Scrubber } from './scrubbing/scrubber.js';
import { createLexicalDetector } from './detection/lexical-detector.js';

export interface Tenant {
  tenantId: string;
  configuration: TenantConfiguration;
  detector: Detector;
  /** Takes secrets out of what tools and models bring back. */
  scrubber: Scrubber;
  tool(name: string): ToolDefinition | undefined;
}

export interface TenantDirectory {
  /** Throws when the tenant has no configuration folder: that is the operator's to mend. */
  byId(tenantId: string): Promise<Tenant>;
}

/** Reads the slug once per tenant; configuration doesn't change while a process lives. */
export function createTenantDirectory(options: {
  database: Database;
  configuration: Configuration;
}): TenantDirectory {
  const known = new Map<string, Promise<Tenant>>();
  return {
    byId(tenantId) {
      const tenant = known.get(tenantId) ?? load(options, tenantId);
      known.set(tenantId, tenant);
      // A failed read isn't remembered: Postgres may only have been away.
      tenant.catch(() => known.delete(tenantId));
      return tenant;
    },
  };
}

async function load(
  { database, configuration }: { database: Database; configuration: Configuration },
  tenantId: string,
): Promise<Tenant> {
  const row = await database.inTenant(tenantId, (tx) => tx.tenant.findUnique({ where: { id: tenantId } }));
  const own = row && configuration.tenants.get(row.slug);
  if (!own) throw new Error('this tenant has no folder below config/tenants');
  const tools = new Map(own.tools.map((tool) => [tool.name, tool]));
  return {
    tenantId,
    configuration: own,
    detector: createLexicalDetector(
      own,
      own.tools.filter((tool) => tool.enabled),
    ),
    scrubber: createScrubber(own.scrubbing),
    tool: (name) => tools.get(name),
  };
}
