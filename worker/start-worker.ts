// Puts a worker's parts together: the composition root behind `main.ts`. The crash kit of the tests starts the same worker
// with one part wrapped, which is why it is a function.
import Anthropic from '@anthropic-ai/sdk';
import { createModel } from '../activities/claude/model.js';
import type { ActivityDeps } from '../activities/deps.js';
import { createActivities } from '../activities/index.js';
import { createTenantDirectory } from '../activities/tenants.js';
import { createProviders } from '../activities/tools/index.js';
import type { WorkerEnvironment } from '../config/environment.js';
import { loadConfiguration } from '../config/load.js';
import { createLogger } from '../config/logger.js';
import type { Close, RunningProcess } from '../config/process.js';
import { connectTemporalWorker } from '../config/temporal-worker.js';
import { createContentCipher } from '../prisma/content.js';
import { openDatabase } from '../prisma/database.js';
import { createKeyring, readMasterKeys } from '../prisma/keys.js';
import { createInScope } from '../prisma/stores/scope.js';
import type { Activities } from '../workflows/activity-ports.js';
import { createWorker, POOL_SIZE } from './create-worker.js';
import { installRuntime } from './telemetry.js';

/** Providers answer within this or not at all; the activity's own time-out is a little longer. */
const MODEL_TIMEOUT_MS = 45_000;

export interface WorkerOptions {
  environment: WorkerEnvironment;
  /** Takes note of what has to be closed in the end. */
  opened: (close: Close) => void;
  /** Replaces parts before the activities are made of them; absent: the parts as they are. */
  wrapDeps?: (deps: ActivityDeps) => ActivityDeps;
  wrapActivities?: (activities: Activities) => Activities;
}

/** Starts the worker; resolves when it polls. */
export async function startWorker(options: WorkerOptions): Promise<RunningProcess> {
  const {
    environment,
    opened,
    wrapDeps = (deps) => deps,
    wrapActivities = (activities) => activities,
  } = options;
  const log = createLogger({ process: 'worker', level: environment.logLevel });
  const configuration = loadConfiguration({ directory: environment.configDirectory });
  const keyring = createKeyring({ masterKeys: await readMasterKeys(environment.masterKeyFile) });
  installRuntime({ log });

  const database = openDatabase({ url: environment.databaseUrl, poolSize: POOL_SIZE });
  opened(() => database.close());
  const inScope = createInScope(database, createContentCipher({ keyring }));
  const connection = await connectTemporalWorker(environment.temporal);
  opened(() => connection.close());
  const deps = wrapDeps({
    inScope,
    tenants: createTenantDirectory({ database, configuration }),
    model: createModel(
      new Anthropic({
        apiKey: environment.anthropic.apiKey,
        ...(environment.anthropic.baseUrl && { baseURL: environment.anthropic.baseUrl }),
        maxRetries: 0,
        timeout: MODEL_TIMEOUT_MS,
      }),
      { label: environment.modelLabel },
    ),
    providers: createProviders({ inScope, configDirectory: environment.configDirectory }),
    log,
  });
  const activities = wrapActivities(createActivities(deps));
  const { namespace } = environment.temporal;
  const worker = await createWorker({ connection, namespace, activities, inScope, log });
  const ended = worker.run();
  opened(async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await ended;
    log.event('worker.stopped');
  });
  log.event('worker.ready');
  return { ended };
}
