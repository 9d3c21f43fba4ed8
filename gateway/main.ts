// The gateway process: reads the environment, opens what the routes need, listens, and ends when it is told to. Exit 78:
// the configuration has to be mended first, a restart can't help.
import { gatewayEnvironment } from '../config/environment.js';
import { ConfigurationError, loadConfiguration } from '../config/load.js';
import { createLogger, type Logger } from '../config/logger.js';
import { retryUntil } from '../config/patience.js';
import { runProcess, type Close, type RunningProcess } from '../config/process.js';
import { connectTemporal } from '../config/temporal.js';
import { createContentCipher } from '../prisma/content.js';
import { openDatabase, type Database } from '../prisma/database.js';
import { tenantBySlug } from '../prisma/functions.js';
import { createKeyring, MasterKeyFileError, readMasterKeys } from '../prisma/keys.js';
import { createLoginLink } from '../prisma/stores/sessions.js';
import { readApiToken, TokenFileError } from './api/token.js';
import { createChanges } from './changes.js';
import { createConversations } from './conversations.js';
import type { Desk } from './deps.js';
import { createServer } from './server.js';
import { createSweep } from './sweep.js';

const LOGIN_LINK_MINUTES = 12 * 60;

async function startGateway(opened: (close: Close) => void): Promise<RunningProcess> {
  const environment = gatewayEnvironment(process.env);
  const logger = createLogger({ process: 'gateway', level: environment.logLevel });
  opened(() => Promise.resolve(logger.event('gateway.ended')));
  const configuration = loadConfiguration({ directory: environment.configDirectory });
  const content = createContentCipher({
    keyring: createKeyring({ masterKeys: await readMasterKeys(environment.masterKeyFile) }),
  });
  const apiToken = await readApiToken(environment.apiTokenFile);

  const database = openDatabase({ url: environment.databaseUrl });
  opened(() => database.close());
  const [first] = configuration.tenants.values();
  if (!first) throw new ConfigurationError([]);
  const desk: Desk = { configuration: first, tenantId: await findTenant(database, first.slug, logger) };

  const temporal = await connectTemporal(environment.temporal, {
    onWait: ({ attempt }) => logger.warn('temporal.waiting', { attempt }),
  });
  opened(() => temporal.close());
  const conversations = createConversations({ client: temporal.client, logger });
  const changes = createChanges({ databaseUrl: environment.databaseUrl, logger });
  opened(() => changes.close());

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
  });
  opened(() => app.close());
  const url = await app.listen({ host: environment.host, port: environment.port });

  const sweep = createSweep({ database, conversations, logger });
  opened(() => sweep.stop());
  sweep.start();
  const loginUrl = environment.issueLoginLink ? await loginUrlOf(database, desk, url) : undefined;
  logger.event('gateway.ready', { tenant: desk.configuration.slug });
  return { ready: { url, ...(loginUrl !== undefined && { loginUrl }) } };
}

/** The row of the business, once the migrations and the seed have been there. */
async function findTenant(database: Database, slug: string, logger: Logger): Promise<string> {
  return retryUntil({
    what: `the row of the business ${slug} in Postgres`,
    attempt: async () => {
      const tenantId = await tenantBySlug(database.prisma, slug);
      if (tenantId === undefined) throw new Error('not seeded');
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
