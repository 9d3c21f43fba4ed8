// What the gateway is made of. main.ts builds it for real; tests hand in a real database and a double of Conversations.
import type { TenantConfiguration } from '../config/configuration.js';
import type { Logger } from '../config/logger.js';
import type { CurrentConfiguration } from '../config/reload.js';
import type { ContentCipher } from '../prisma/content.js';
import type { Database } from '../prisma/database.js';
import { createInScope, type Scope } from '../prisma/stores/scope.js';
import type { Changes } from './changes.js';
import type { Conversations } from './conversations.js';
import { createDecisions, type Decisions } from './decisions.js';
import { createInbox, type Inbox } from './inbox.js';
import type { GatewayMetrics } from './metrics.js';
import type { OpenStreams } from './stream.js';
import type { Webhooks } from './whatsapp-cloud/webhooks.js';

/** The business whose page, console and API this gateway serves. */
export interface Desk {
  tenantId: string;
  configuration: TenantConfiguration;
}

/** What the process knows of itself, for /health. Absent parts aren't looked at. */
export interface Vitals {
  /** When the sweep last ended a round, or began its first (epoch milliseconds). */
  sweepMovedAt?: () => number;
  configuration?: () => CurrentConfiguration['state'];
}

export interface GatewayDeps {
  database: Database;
  content: ContentCipher;
  conversations: Conversations;
  changes: Changes;
  desk: Desk;
  logger: Logger;
  /** Bearer token of the headless API. */
  apiToken: string;
  /** Where a person can read the history of a run; absent: no links. */
  temporalUi?: { url: string; namespace: string } | undefined;
  /** Said beside every answer of a model that is not the real one. */
  modelLabel?: string | undefined;
  /** Absent: no platform calls here. */
  webhooks?: Webhooks | undefined;
  /** Absent: there is no /metrics. */
  metrics?: GatewayMetrics;
  /** Opens /metrics beside the API token. */
  metricsToken?: string | undefined;
  /** For /health. Absent: only Postgres and Temporal are looked at. */
  vitals?: Vitals;
}

/** The same, with what the gateway makes of it for its routes. */
export interface RouteDeps extends GatewayDeps {
  inbox: Inbox;
  decisions: Decisions;
  /** A transaction of the desk's tenant, for the read side. */
  inDesk: <Result>(work: (scope: Scope) => Promise<Result>) => Promise<Result>;
  streams: OpenStreams;
}

export function routeDeps(deps: GatewayDeps): RouteDeps {
  const { database, content, conversations, desk, logger } = deps;
  const inScope = createInScope(database, content);
  return {
    ...deps,
    inbox: createInbox({ database, content, conversations, logger }),
    decisions: createDecisions({
      database,
      content,
      conversations,
      configuration: () => desk.configuration,
      logger,
    }),
    inDesk: (work) => inScope(desk.tenantId, work),
    streams: new Set(),
  };
}
