// The gateway process: reads the environment, opens what the routes need, listens, and ends when it is told to. Exit 78:
// the configuration has to be mended first, a restart can't help.
import { accountsOf } from '../config/accounts.js';
import type { TenantConfiguration } from '../config/configuration.js';
import { gatewayEnvironment } from '../config/environment.js';
import { readToken } from '../config/bearer.js';
import { ConfigurationError } from '../config/load.js';
import { createLogger, errorFacts, type Logger } from '../config/logger.js';
import { observedLog } from '../config/observed-log.js';
import { retryUntil } from '../config/patience.js';
import { runProcess, type Close, type RunningProcess } from '../config/process.js';
import { createCurrentConfiguration, type CurrentConfiguration } from '../config/reload.js';
import { createSecrets } from '../config/secrets.js';
import { connectTemporal } from '../config/temporal.js';
import { createContentCipher } from '../prisma/content.js';
import { openDatabase, type Database } from '../prisma/database.js';
import { createKeyring, MasterKeyFileError, readMasterKeys } from '../prisma/keys.js';
import { noteConfigurations } from '../prisma/stores/active-configuration.js';
import { createInScope } from '../prisma/stores/scope.js';
import { createLoginLink } from '../prisma/stores/sessions.js';
import { registerTenant } from '../prisma/stores/tenants.js';
import { createAnchors } from './anchors.js';
import { readApiToken, TokenFileError } from './api/token.js';
import { createChanges } from './changes.js';
import { createConversations } from './conversations.js';
import type { Desk } from './deps.js';
import { createHistoryKeeper } from './history-keeper.js';
import { createGatewayMetrics } from './metrics.js';
import { createOperatorClock } from './operator-clock.js';
import { createServer } from './server.js';
import { createSweep } from './sweep.js';

const LOGIN_LINK_MINUTES = 12 * 60;

async function startGateway(opened: (close: Close) => void): Promise<RunningProcess> {
  const environment = gatewayEnvironment(process.env);
  const metrics = createGatewayMetrics();
  const logger = observedLog(createLogger({ process: 'gateway', level: environment.logLevel }), metrics.hear);
  opened(() => Promise.resolve(logger.event('gateway.ended')));
  const configuration = createCurrentConfiguration({
    directory: environment.configDirectory,
    log: logger,
    // What a person should read and no log may hold: the problems in full.
    say: (text) => void process.stderr.write(text),
  });
  const content = createContentCipher({
    keyring: createKeyring({ masterKeys: await readMasterKeys(environment.masterKeyFile) }),
  });
  const apiToken = await readApiToken(environment.apiTokenFile);
  const { metricsTokenFile } = environment;
  const metricsToken =
    metricsTokenFile && (await readToken({ path: metricsTokenFile, variable: 'AROKO_METRICS_TOKEN_FILE' }));

  const database = openDatabase({ url: environment.databaseUrl });
  opened(() => database.close());
  const [first] = configuration.tenants.values();
  if (!first) throw new ConfigurationError([]);
  const tenantIds = new Map<string, string>();
  for (const tenant of configuration.tenants.values())
    tenantIds.set(tenant.slug, await keepTenant(database, tenant, logger));
  const desk: Desk = {
    tenantId: tenantIds.get(first.slug) ?? '',
    get configuration() {
      return configuration.tenants.get(first.slug) ?? first;
    },
  };
  await noteConfigurations(database, { tenants: configuration.tenants.values(), actor: 'gateway' });

  const temporal = await connectTemporal(environment.temporal, {
    onWait: ({ attempt }) =>
      logger.warn('temporal.waiting', { attempt, address: environment.temporal.address }),
  });
  opened(() => temporal.close());
  const conversations = createConversations({ client: temporal.client, logger });
  const changes = createChanges({ databaseUrl: environment.databaseUrl, logger });
  opened(() => changes.close());

  const sweep = createSweep({ database, conversations, logger });
  const { uiUrl, namespace } = environment.temporal;
  const app = await createServer({
    database,
    content,
    conversations,
    changes,
    desk,
    logger,
    apiToken,
    temporalUi: uiUrl === undefined ? undefined : { url: uiUrl, namespace },
    modelLabel: environment.modelLabel,
    webhooks: {
      businesses: () => configuration.tenants.values(),
      secrets: createSecrets({ directory: environment.secretsDirectory }),
    },
    metrics,
    metricsToken,
    vitals: { sweepMovedAt: () => sweep.movedAt(), configuration: () => configuration.state },
  });
  opened(() => app.close());
  const url = await app.listen({ host: environment.host, port: environment.port });

  opened(() => sweep.stop());
  sweep.start();
  const anchors = createAnchors({ database, tenants: () => configuration.tenants.keys(), logger });
  opened(() => anchors.stop());
  anchors.start();
  const slugOf = (tenantId: string) => [...tenantIds].find(([, id]) => id === tenantId)?.[0] ?? '';
  const operators = createOperatorClock({
    database,
    inScope: createInScope(database, content),
    conversations,
    configurationOf: (tenantId) => configuration.tenants.get(slugOf(tenantId)),
    logger,
  });
  opened(() => operators.stop());
  operators.start();
  const histories = createHistoryKeeper({ database, client: temporal.client, logger });
  opened(() => histories.stop());
  histories.start();
  const loginUrl = environment.issueLoginLink ? await loginUrlOf(database, desk, url) : undefined;
  logger.event('gateway.ready', { tenant: desk.configuration.slug });
  followConfiguration(configuration, { database, tenantIds, logger });
  return {
    ready: { url, ...(loginUrl !== undefined && { loginUrl }) },
    reload: () => configuration.reload(),
  };
}

/** After a reload: new accounts get their rows, and the audit notes what is active from now on. */
function followConfiguration(
  configuration: CurrentConfiguration,
  { database, tenantIds, logger }: { database: Database; tenantIds: Map<string, string>; logger: Logger },
): void {
  const note = async (changed: TenantConfiguration[]): Promise<void> => {
    for (const tenant of changed) tenantIds.set(tenant.slug, await keepTenant(database, tenant, logger));
    await noteConfigurations(database, { tenants: changed, actor: 'gateway' });
  };
  configuration.onChange((changed) => {
    note(changed).catch((error: unknown) => logger.error('configuration.not_noted', errorFacts(error)));
  });
}

/** The row of the business, made where it is new, once the migrations have been there; its accounts as configured. */
async function keepTenant(database: Database, tenant: TenantConfiguration, logger: Logger): Promise<string> {
  return retryUntil({
    what: `the row of the business ${tenant.slug} in Postgres`,
    attempt: async () => {
      const { tenantId } = await registerTenant(database, {
        slug: tenant.slug,
        name: tenant.business.name,
        accounts: accountsOf(tenant),
      });
      return tenantId;
    },
    patience: { onWait: ({ attempt }) => logger.warn('database.waiting', { attempt }) },
  });
}

async function loginUrlOf(database: Database, desk: Desk, url: string): Promise<string | undefined> {
  const [owner] = desk.configuration.owners;
  if (!owner) return undefined;
  const link = await createLoginLink(database, {
    tenantId: desk.tenantId,
    ownerId: owner.id,
    validMinutes: LOGIN_LINK_MINUTES,
  });
  return `${url}/console/login/${link.token}`;
}

await runProcess(startGateway, { configurationErrors: [MasterKeyFileError, TokenFileError] });
