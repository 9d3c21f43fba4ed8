// Puts a worker's parts together: the composition root behind `main.ts`. The crash kit of the tests starts the same worker
// with one part wrapped, which is why it is a function.
import Anthropic from '@anthropic-ai/sdk';
import type { WorkerOptions as TemporalWorkerOptions } from '@temporalio/worker';
import { createModel } from '../activities/claude/model.js';
import type { ActivityDeps } from '../activities/deps.js';
import { createActivities } from '../activities/index.js';
import { createTenantDirectory } from '../activities/tenants.js';
import { createProviders } from '../activities/tools/index.js';
import { createGraphClient } from '../activities/whatsapp-cloud/graph.js';
import { readToken } from '../config/bearer.js';
import type { WorkerEnvironment } from '../config/environment.js';
import { createLogger, errorFacts, type Logger } from '../config/logger.js';
import { observedLog } from '../config/observed-log.js';
import { retryUntil } from '../config/patience.js';
import type { Close, RunningProcess } from '../config/process.js';
import { createCurrentConfiguration, type CurrentConfiguration } from '../config/reload.js';
import { createSecrets } from '../config/secrets.js';
import { connectTemporalWorker } from '../config/temporal-worker.js';
import { createContentCipher } from '../prisma/content.js';
import { openDatabase, type Database } from '../prisma/database.js';
import { createKeyring, readMasterKeys } from '../prisma/keys.js';
import { noteConfigurations } from '../prisma/stores/active-configuration.js';
import { createInScope } from '../prisma/stores/scope.js';
import type { Activities } from '../workflows/activity-ports.js';
import { TASK_QUEUE } from '../workflows/domain/ids.js';
import { createWorker, POOL_SIZE } from './create-worker.js';
import { serveHealth } from './health.js';
import { createWorkerMetrics } from './metrics.js';
import { createPolls, lastPollSeenBy, type Polls } from './polls.js';
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
  wrapOptions?: (options: TemporalWorkerOptions) => TemporalWorkerOptions;
}

/** Starts the worker; resolves when it polls. */
export async function startWorker(options: WorkerOptions): Promise<RunningProcess> {
  const {
    environment,
    opened,
    wrapDeps = (deps) => deps,
    wrapActivities = (activities) => activities,
  } = options;
  const metrics = createWorkerMetrics();
  const log = observedLog(createLogger({ process: 'worker', level: environment.logLevel }), metrics.hear);
  const configuration = createCurrentConfiguration({ directory: environment.configDirectory, log, say });
  const metricsToken = await readMetricsToken(environment.metricsTokenFile);
  const keyring = createKeyring({ masterKeys: await readMasterKeys(environment.masterKeyFile) });
  const runtime = await installRuntime({ log, withMetrics: environment.health !== undefined });

  const database = openDatabase({ url: environment.databaseUrl, poolSize: POOL_SIZE });
  opened(() => database.close());
  const started: { polls?: Polls } = {};
  // Before the rest, so that a worker that waits for Temporal says so.
  const health =
    environment.health &&
    (await serveHealth(
      {
        polls: () => started.polls,
        database,
        metrics,
        temporalMetricsUrl: runtime.metricsUrl,
        configuration,
        metricsToken,
      },
      environment.health,
    ));
  if (health) opened(() => health.close());
  // Beside the start: a database that is away for a moment must not keep the worker from polling.
  noteConfiguration(database, configuration, log);
  configuration.onChange(() => noteConfiguration(database, configuration, log));
  const inScope = createInScope(database, createContentCipher({ keyring }));
  const { address } = environment.temporal;
  const connection = await connectTemporalWorker(environment.temporal, {
    onWait: ({ attempt }) => log.warn('temporal.waiting', { attempt, address }),
  });
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
    graph: createGraphClient({
      secrets: createSecrets({ directory: environment.secretsDirectory }),
      baseUrl: environment.graphUrl,
    }),
    log,
  });
  const activities = wrapActivities(createActivities(deps));
  const { namespace } = environment.temporal;
  const worker = await createWorker({
    connection,
    namespace,
    activities,
    inScope,
    log,
    ...(options.wrapOptions && { wrapOptions: options.wrapOptions }),
  });
  const ended = worker.run();
  const { identity } = worker.options;
  started.polls = createPolls({
    isRunning: () => worker.getState() === 'RUNNING',
    lastPoll: lastPollSeenBy(connection, { namespace, taskQueue: TASK_QUEUE, identity }),
  });
  opened(async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await ended;
    log.event('worker.stopped');
  });
  log.event('worker.ready');
  return { ended, reload: () => configuration.reload(), ...(health && { ready: { healthUrl: health.url } }) };
}

/** What a person should read and no log may hold: the configuration's problems in full. */
function say(text: string): void {
  process.stderr.write(text);
}

async function readMetricsToken(path: string | undefined): Promise<string | undefined> {
  return path === undefined ? undefined : readToken({ path, variable: 'AROKO_METRICS_TOKEN_FILE' });
}

/** Waits for a database that is away; not noted at all is said in the log. */
function noteConfiguration(database: Database, { tenants }: CurrentConfiguration, log: Logger): void {
  retryUntil({
    what: 'Postgres',
    attempt: () => noteConfigurations(database, { tenants: tenants.values(), actor: 'worker' }),
    patience: { onWait: ({ attempt }) => log.warn('database.waiting', { attempt }) },
  }).catch((error: unknown) => log.warn('configuration.not_noted', errorFacts(error)));
}
