// One real Postgres for the whole run, started by the first test that asks and stopped after the last. Every test file
// takes a database of its own from it, made and migrated the way an installation's is.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { openDataDirectory, openSecrets, type DatabasePasswords } from '../../local/data-directory.js';
import { holdDirectory } from '../../local/hold.js';
import { findPort } from '../../local/ports.js';
import { startPostgres } from '../../local/postgres/start.js';
import { bootstrapDatabase, type DatabaseUrls } from '../../prisma/bootstrap.js';
import { migrate } from '../../prisma/migrate.js';

interface Server {
  superuserUrl: string;
  passwords: DatabasePasswords;
  stop(): Promise<void>;
}

export interface TestDatabase extends DatabaseUrls {
  /** Of this database, as the superuser: sees every tenant's rows. */
  superuserUrl: string;
}

const silent = (): void => undefined;
let server: Promise<Server> | undefined;

async function startServer(): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'aroko-test-'));
  const directory = openDataDirectory(join(folder, 'data'));
  const hold = await holdDirectory({ directory, say: silent });
  const passwords = openSecrets(directory);
  const port = await findPort({ wanted: 0, purpose: 'Postgres', say: silent });
  const postgres = await startPostgres({ directory, passwords, port, hold });
  return {
    superuserUrl: postgres.superuserUrl,
    passwords,
    async stop() {
      await postgres.stop(5_000);
      hold.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// At the root of the run, because every file that imports this module shares the one server.
after('stop Postgres', async function () {
  this.timeout(20_000);
  await (await server)?.stop();
});

/** The superuser's URL of the shared server, and the passwords that bootstrap gives the roles. */
export async function testServer(): Promise<Pick<Server, 'superuserUrl' | 'passwords'>> {
  server ??= startServer();
  return server;
}

/** A database of its own with its roles; `migrated: false` leaves it without a table. */
export async function freshDatabase({ migrated = true }: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const { superuserUrl, passwords } = await testServer();
  const database = `aroko_test_${randomBytes(6).toString('hex')}`;
  const urls = await bootstrapDatabase({ superuserUrl, passwords, database });
  if (migrated) await migrate({ ownerUrl: urls.ownerUrl });
  const url = new URL(superuserUrl);
  url.pathname = `/${database}`;
  return { ...urls, superuserUrl: url.href };
}

/** A plain connection, closed when `work` is done. */
export async function connected<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs `work` in a transaction of this tenant (undefined: of none) that is rolled back in the end. */
export async function asTenant<Result>(
  client: Client,
  tenantId: string | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query('begin');
  try {
    if (tenantId !== undefined) await client.query("select set_config('app.tenant', $1, true)", [tenantId]);
    return await work();
  } finally {
    await client.query('rollback');
  }
}
