// The practice's worker as a process that is killed at a point that the test chooses. Started by killed.test.ts, which tells it
// when to begin and where to stop; where it stops it hangs until it is killed.
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
import { createContentCipher } from '../../../prisma/content.js';
import { openDatabase } from '../../../prisma/database.js';
import { createKeyring } from '../../../prisma/keys.js';
import { createInScope } from '../../../prisma/stores/scope.js';
import { createWorker } from '../../../worker/create-worker.js';
import { practice, TOKEN } from './practice.js';

const where = z
  .object({
    databaseUrl: z.string(),
    masterKey: z.string(),
    graphUrl: z.string(),
    modelUrl: z.string(),
    temporal: z.object({ address: z.string(), namespace: z.string() }),
    bundle: z.string(),
  })
  .parse(JSON.parse(process.argv[2] ?? ''));
const told = z.discriminatedUnion('what', [
  z.object({ what: z.literal('begin') }),
  /** `decided`: a turn of this chat is stored, and Temporal hasn't heard of it. `planned`: its words are written, and not sent. */
  z.object({ what: z.literal('stop'), when: z.enum(['decided', 'planned']), chatId: z.string() }),
]);

installQuietRuntime();
const stops = new Map<string, 'decided' | 'planned'>();
const stopAt = async (when: 'decided' | 'planned', chatId: string | undefined): Promise<void> => {
  if (chatId === undefined || stops.get(chatId) !== when) return;
  process.send?.({ stopped: chatId });
  await new Promise(() => undefined);
};

const database = openDatabase({ url: where.databaseUrl, poolSize: 20 });
const key = new Uint8Array(Buffer.from(where.masterKey, 'hex'));
const content = createContentCipher({ keyring: createKeyring({ masterKeys: [{ version: 1, key }] }) });
const inScope = createInScope(database, content);
const [shipped] = loadConfiguration({ directory: 'config' }).tenants.values();
if (!shipped) throw new Error('the shipped configuration has no tenant');
const log = createLogger({ process: 'worker', level: 'error' });
const activities = createActivities({
  inScope,
  tenants: createTenantDirectory({
    database,
    configuration: { tenants: new Map([[shipped.slug, practice(shipped)]]) },
  }),
  model: createModel(new Anthropic({ apiKey: 'local', baseURL: where.modelUrl, maxRetries: 0 })),
  providers: createProviders({ inScope, configDirectory: 'config' }),
  graph: createGraphClient({ secrets: { get: () => TOKEN }, baseUrl: where.graphUrl }),
  log,
});
const worker = await createWorker({
  connection: await NativeConnection.connect({ address: where.temporal.address }),
  namespace: where.temporal.namespace,
  activities: {
    ...activities,
    async prepareTurn(input) {
      const prepared = await activities.prepareTurn(input);
      await stopAt('decided', input.chatId);
      return prepared;
    },
    async deliver(input) {
      const row = await database.inTenant(input.tenantId, (tx) =>
        tx.outbox.findUnique({ where: { id: input.outboxId }, select: { chatId: true } }),
      );
      await stopAt('planned', row?.chatId);
      return activities.deliver(input);
    },
  },
  inScope,
  log,
  // Who comes after a killed one isn't kept waiting for what lay in its own queue.
  wrapOptions: (options) => ({
    ...options,
    // Counts instead of the path.
    workflowBundle: { codePath: where.bundle },
    stickyQueueScheduleToStartTimeout: '1s',
  }),
});
process.once('disconnect', () => process.exit(0));
process.on('message', (message) => {
  const order = told.parse(message);
  if (order.what === 'stop') stops.set(order.chatId, order.when);
  else void worker.run();
});
process.send?.({ ready: true });
