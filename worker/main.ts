// The worker process: runs workflows and activities. The only place where their parts are put together.
import Anthropic from '@anthropic-ai/sdk';
import { createModel } from '../activities/claude/model.js';
import { createActivities } from '../activities/index.js';
import { createTenantDirectory } from '../activities/tenants.js';
import { createBookings } from '../activities/tools/bookings.js';
import { workerEnvironment } from '../config/environment.js';
import { loadConfiguration } from '../config/load.js';
import { createLogger } from '../config/logger.js';
import { runProcess } from '../config/process.js';
import { connectTemporalWorker } from '../config/temporal-worker.js';
import { createContentCipher } from '../prisma/content.js';
import { openDatabase } from '../prisma/database.js';
import { createKeyring, readMasterKeys } from '../prisma/keys.js';
import { createInScope } from '../prisma/stores/scope.js';
import { createWorker, POOL_SIZE } from './create-worker.js';
import { installRuntime } from './telemetry.js';

/** Providers answer within this or not at all; the activity's own time-out is a little longer. */
const MODEL_TIMEOUT_MS = 45_000;

await runProcess(async () => {
  const environment = workerEnvironment(process.env);
  const log = createLogger({ process: 'worker', level: environment.logLevel });
  const configuration = loadConfiguration({ directory: environment.configDirectory });
  const keyring = createKeyring({ masterKeys: await readMasterKeys(environment.masterKeyFile) });
  installRuntime({ log });

  const database = openDatabase({ url: environment.databaseUrl, poolSize: POOL_SIZE });
  const inScope = createInScope(database, createContentCipher({ keyring }));
  const connection = await connectTemporalWorker(environment.temporal);
  const activities = createActivities({
    inScope,
    tenants: createTenantDirectory({ database, configuration }),
    model: createModel(
      new Anthropic({
        apiKey: environment.anthropic.apiKey,
        ...(environment.anthropic.baseUrl && { baseURL: environment.anthropic.baseUrl }),
        maxRetries: 0,
        timeout: MODEL_TIMEOUT_MS,
      }),
    ),
    providers: { bookings: createBookings(database) },
    log,
  });
  const { namespace } = environment.temporal;
  const worker = await createWorker({ connection, namespace, activities, inScope, log });
  const ended = worker.run();
  log.event('worker.ready');
  return {
    ended,
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
      await connection.close();
      await database.close();
      log.event('worker.stopped');
    },
  };
});
