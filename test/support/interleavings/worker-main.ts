// A worker that kills itself with -9 right before or right after an effect, when it is told to. Started by
// interleavings.test.ts, which tells it when to begin.
import Anthropic from '@anthropic-ai/sdk';
import { NativeConnection } from '@temporalio/worker';
import { z } from 'zod';
import { createModel } from '../../../activities/claude/model.js';
import { createActivities } from '../../../activities/index.js';
import { createTenantDirectory } from '../../../activities/tenants.js';
import { createProviders } from '../../../activities/tools/index.js';
import { createGraphClient } from '../../../activities/whatsapp-cloud/graph.js';
import { installQuietRuntime } from '../../../bench/desk.js';
import { loadConfiguration } from '../../../config/load.js';
import { createLogger } from '../../../config/logger.js';
import { createSecrets } from '../../../config/secrets.js';
import { createContentCipher } from '../../../prisma/content.js';
import { openDatabase } from '../../../prisma/database.js';
import { createKeyring } from '../../../prisma/keys.js';
import { createInScope } from '../../../prisma/stores/scope.js';
import { createWorker } from '../../../worker/create-worker.js';
import { ownersDecide, withLedger } from './ledger.js';

const where = z
  .object({
    databaseUrl: z.string(),
    masterKey: z.string(),
    modelUrl: z.string(),
    ledger: z.string(),
    bundle: z.string(),
    temporal: z.object({ address: z.string(), namespace: z.string() }),
  })
  .parse(JSON.parse(process.argv[2] ?? ''));
const told = z.union([z.literal('begin'), z.object({ die: z.enum(['before', 'after']) })]);

installQuietRuntime();
let dieAt: 'before' | 'after' | undefined;
const database = openDatabase({ url: where.databaseUrl, poolSize: 20 });
const key = new Uint8Array(Buffer.from(where.masterKey, 'hex'));
const content = createContentCipher({ keyring: createKeyring({ masterKeys: [{ version: 1, key }] }) });
const inScope = createInScope(database, content);
const [shipped] = loadConfiguration({ directory: 'config' }).tenants.values();
if (!shipped) throw new Error('the shipped configuration has no tenant');
const log = createLogger({ process: 'worker', level: 'error' });
const worker = await createWorker({
  connection: await NativeConnection.connect({ address: where.temporal.address }),
  namespace: where.temporal.namespace,
  activities: createActivities({
    inScope,
    tenants: createTenantDirectory({
      database,
      configuration: { tenants: new Map([[shipped.slug, ownersDecide(shipped)]]) },
    }),
    model: createModel(new Anthropic({ apiKey: 'local', baseURL: where.modelUrl, maxRetries: 0 })),
    providers: withLedger(createProviders({ inScope, configDirectory: 'config' }), {
      file: where.ledger,
      pass: (point) => {
        if (point === dieAt) process.kill(process.pid, 'SIGKILL');
      },
    }),
    graph: createGraphClient({ secrets: createSecrets({}) }),
    log,
  }),
  inScope,
  log,
  // Bundled once for all of them.
  workflows: { workflowBundle: { codePath: where.bundle } },
  // Who comes after a killed one isn't kept waiting for what lay in its own queue.
  wrapOptions: (options) => ({ ...options, stickyQueueScheduleToStartTimeout: '1s' }),
});
process.once('disconnect', () => process.exit(0));
process.on('message', (message) => {
  const order = told.parse(message);
  if (order === 'begin') void worker.run();
  else dieAt = order.die;
});
process.send?.({ ready: true });
