// What activities are given: made once in `worker/main.ts`, handed to each factory. No container, no import-time client.
import type { Logger } from '../config/logger.js';
import type { InScope } from '../prisma/stores/scope.js';
import type { Model } from './claude/model.js';
import type { TenantDirectory } from './tenants.js';
import type { ProviderRegistry } from './tools/provider.js';
import type { GraphClient } from './whatsapp-cloud/graph.js';

export interface ActivityDeps {
  inScope: InScope;
  tenants: TenantDirectory;
  model: Model;
  providers: ProviderRegistry;
  /** WhatsApp numbers, for sending and for media. */
  graph: GraphClient;
  log: Logger;
}
