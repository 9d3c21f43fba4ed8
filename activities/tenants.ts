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

/**
 * Reads the slug once per tenant, and the configuration each time: whoever asks after a reload gets the new one, and an
 * activity that is under way keeps what it began with.
 */
export function createTenantDirectory(options: {
  database: Database;
  configuration: Configuration;
}): TenantDirectory {
  const { database, configuration } = options;
  const slugs = new Map<string, Promise<string>>();
  const built = new Map<string, Tenant>();
  return {
    async byId(tenantId) {
      const read = slugs.get(tenantId) ?? slugOf(database, tenantId);
      slugs.set(tenantId, read);
      // A failed read isn't remembered: Postgres may only have been away.
      read.catch(() => slugs.delete(tenantId));
      const own = configuration.tenants.get(await read);
      if (!own) throw new Error('this tenant has no folder below config/tenants');
      const known = built.get(tenantId);
      if (known?.configuration === own) return known;
      const tenant = build(tenantId, own);
      built.set(tenantId, tenant);
      return tenant;
    },
  };
}

async function slugOf(database: Database, tenantId: string): Promise<string> {
  const row = await database.inTenant(tenantId, (tx) => tx.tenant.findUnique({ where: { id: tenantId } }));
  if (!row) throw new Error('there is no such tenant');
  return row.slug;
}

/** The detector's index and the scrubber's patterns take their time, so they are made once per configuration. */
function build(tenantId: string, own: TenantConfiguration): Tenant {
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
