// A worker's part in one send, as a process that is killed at a named point: `before` or `after` the call, once its fence is
// committed. Started by killed.test.ts.
import { createDeliveryActivities } from '../../../activities/delivery/deliver.js';
import { createTenantDirectory } from '../../../activities/tenants.js';
import { createGraphClient } from '../../../activities/whatsapp-cloud/graph.js';
import { loadConfiguration } from '../../../config/load.js';
import { createLogger } from '../../../config/logger.js';
import { createSecrets } from '../../../config/secrets.js';
import { createContentCipher } from '../../../prisma/content.js';
import { openDatabase } from '../../../prisma/database.js';
import { createKeyring } from '../../../prisma/keys.js';
import { createInScope } from '../../../prisma/stores/scope.js';
import { ACCOUNT } from './account.js';

const [
  dies = '',
  databaseUrl = '',
  masterKey = '',
  graphUrl = '',
  secrets = '',
  tenantId = '',
  outboxId = '',
] = process.argv.slice(2);

const database = openDatabase({ url: databaseUrl });
const key = new Uint8Array(Buffer.from(masterKey, 'hex'));
const content = createContentCipher({ keyring: createKeyring({ masterKeys: [{ version: 1, key }] }) });
const [shipped] = loadConfiguration({ directory: 'config' }).tenants.values();
if (!shipped) throw new Error('the shipped configuration has no tenant');
const configuration = { ...shipped, channels: { ...shipped.channels, whatsapp: [ACCOUNT] } };
const graph = createGraphClient({ secrets: createSecrets({ directory: secrets }), baseUrl: graphUrl });
const activities = createDeliveryActivities({
  inScope: createInScope(database, content),
  tenants: createTenantDirectory({
    database,
    configuration: { tenants: new Map([[shipped.slug, configuration]]) },
  }),
  graph: {
    ...graph,
    async send(...send) {
      if (dies === 'after') await graph.send(...send);
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => undefined);
    },
  },
  log: createLogger({ process: 'worker', level: 'error' }),
});
await activities.deliver({ tenantId, outboxId });
