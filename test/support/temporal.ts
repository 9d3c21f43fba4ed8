// One real Temporal server for the whole run, started by the first test that asks. Every desk takes a namespace of its
// own from it, so that no worker ever sees another test's workflows.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { openDataDirectory } from '../../local/data-directory.js';
import { holdDirectory } from '../../local/hold.js';
import { findPort } from '../../local/ports.js';
import { findTemporalCli } from '../../local/temporal/cli.js';
import { startTemporal } from '../../local/temporal/start.js';

interface Server {
  address: string;
  stop(): Promise<void>;
}

const silent = (): void => undefined;
const noProgress = (): { update(): void; done(): void } => ({ update: silent, done: silent });
let server: Promise<Server> | undefined;

async function startServer(): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'aroko-test-'));
  const directory = openDataDirectory(join(folder, 'data'));
  const hold = await holdDirectory({ directory, say: silent });
  const cli = await findTemporalCli({ directory, progress: noProgress });
  const ports = {
    server: await findPort({ wanted: 0, purpose: 'Temporal', say: silent }),
    ui: await findPort({ wanted: 0, purpose: 'its UI', say: silent }),
  };
  const temporal = await startTemporal({ directory, cli, ports, hold });
  return {
    address: temporal.address,
    async stop() {
      await temporal.stop(5_000);
      hold.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

after('stop Temporal', async function () {
  this.timeout(20_000);
  await (await server)?.stop();
});

/** A fresh namespace. The server takes a moment until its caches know it. */
export async function freshNamespace(): Promise<{ address: string; namespace: string }> {
  server ??= startServer();
  const { address } = await server;
  const connection = await Connection.connect({ address });
  const namespace = `test-${randomBytes(5).toString('hex')}`;
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    await untilKnown(connection, namespace);
  } finally {
    await connection.close();
  }
  return { address, namespace };
}

async function untilKnown(connection: Connection, namespace: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await connection.workflowService.listWorkflowExecutions({ namespace, pageSize: 1 });
      return;
    } catch {
      await sleep(100);
    }
  }
  throw new Error(`the namespace ${namespace} did not come up`);
}
