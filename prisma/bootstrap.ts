// Roles and the database, made by a superuser before the migrations run. Safe to repeat.

import { Client } from 'pg';

export interface DatabaseUrls {
  /** Owns the tables; for migrations only. */
  ownerUrl: string;
  /** What worker and gateway work with: row-level security holds it. */
  applicationUrl: string;
  /** For people and reports: reads one tenant at a time. */
  readOnlyUrl: string;
}

const ROLES = { owner: 'aroko_owner', app: 'aroko_app', read: 'aroko_read' } as const;

/** Two bootstraps of one cluster take turns. Any number that nobody else uses. */
const LOCK = 4_027_261;

/**
 * Makes the three roles, none of which may pass row-level security by, sets their passwords, and makes the database
 * `database` (`aroko` by default) which `aroko_owner` owns and the public may not enter. `superuserUrl` may name any database.
 */
export async function bootstrapDatabase({
  superuserUrl,
  passwords,
  database = 'aroko',
}: {
  superuserUrl: string;
  passwords: { owner: string; app: string; read: string };
  database?: string;
}): Promise<DatabaseUrls> {
  await asSuperuser(superuserUrl, async (client) => {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await makeRole(client, ROLES.owner, passwords.owner);
    await makeRole(client, ROLES.app, passwords.app);
    await makeRole(client, ROLES.read, passwords.read);
    await makeDatabase(client, database);
  });
  await asSuperuser(urlOf(superuserUrl, { database }), async (client) => {
    // What Postgres before 15 leaves open, and what a database that was there already may lack.
    await client.query('revoke create on schema public from public');
    await client.query(`grant usage, create on schema public to ${ROLES.owner} with grant option`);
  });
  return {
    ownerUrl: urlOf(superuserUrl, { database, user: ROLES.owner, password: passwords.owner }),
    applicationUrl: urlOf(superuserUrl, { database, user: ROLES.app, password: passwords.app }),
    readOnlyUrl: urlOf(superuserUrl, { database, user: ROLES.read, password: passwords.read }),
  };
}

async function asSuperuser(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function makeRole(client: Client, role: string, password: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role]);
  await client.query(
    `${rowCount ? 'alter' : 'create'} role ${role} with login nosuperuser nobypassrls nocreatedb nocreaterole noreplication
     password ${client.escapeLiteral(password)}`,
  );
}

async function makeDatabase(client: Client, database: string): Promise<void> {
  const name = client.escapeIdentifier(database);
  const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
  if (rowCount) {
    await client.query(`alter database ${name} owner to ${ROLES.owner}`);
  } else {
    // template0, because a cluster made under the locale C has templates of another encoding.
    await client.query(`create database ${name} owner ${ROLES.owner} template template0 encoding 'UTF8'`);
  }
  await client.query(`revoke all on database ${name} from public`);
  await client.query(`grant connect on database ${name} to ${ROLES.app}, ${ROLES.read}`);
}

function urlOf(base: string, to: { database: string; user?: string; password?: string }): string {
  const url = new URL(base);
  url.pathname = `/${encodeURIComponent(to.database)}`;
  if (to.user !== undefined) url.username = encodeURIComponent(to.user);
  if (to.password !== undefined) url.password = encodeURIComponent(to.password);
  return url.href;
}
