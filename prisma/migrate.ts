// Applies prisma/migrations/<name>/migration.sql in the order of their names, each in one transaction, and keeps account
// in Prisma's own table and under Prisma's own lock, so that Prisma's tools and this runner can follow one another.
// Prisma's runner isn't used because it downloads an engine.

import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, DatabaseError } from 'pg';

/** A migration that was refused or failed. The message names it and says what to do; nothing of it was applied. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  constructor(
    readonly migration: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`Migration ${migration} ${message}`, options);
  }
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

interface AppliedRow {
  migration_name: string;
  checksum: string;
  finished: boolean;
}

/** The number that Prisma's own migrate commands lock. */
const LOCK = 72_707_369;

const TABLE = `create table if not exists _prisma_migrations (
  id varchar(36) primary key not null,
  checksum varchar(64) not null,
  finished_at timestamptz,
  migration_name varchar(255) not null,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz not null default now(),
  applied_steps_count integer not null default 0
)`;

/**
 * Brings the database up to what lies on disk and answers the names that were applied now, in order. Waits for another
 * runner that is at work. Throws MigrationError, before anything is applied, where disk and database disagree about
 * what was applied; and for the migration whose SQL fails, which then leaves nothing (those before it stay).
 */
export async function migrate({
  ownerUrl,
  directory = fileURLToPath(new URL('./migrations', import.meta.url)),
  log = () => undefined,
}: {
  ownerUrl: string;
  directory?: string;
  log?: (line: string) => void;
}): Promise<{ applied: string[] }> {
  const onDisk = await readMigrations(directory);
  const client = new Client({ connectionString: ownerUrl, options: '-c client_min_messages=warning' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await client.query(TABLE);
    const { rows } = await client.query<AppliedRow>(
      `select migration_name, checksum, finished_at is not null as finished from _prisma_migrations
       where rolled_back_at is null order by started_at, migration_name`,
    );
    const problem = accountProblem(rows, onDisk);
    if (problem) throw problem;

    const known = new Set(rows.map((row) => row.migration_name));
    const pending = onDisk.filter(({ name }) => !known.has(name));
    for (const migration of pending) {
      await apply(client, migration);
      log(`applied migration ${migration.name}`);
    }
    return { applied: pending.map(({ name }) => name) };
  } finally {
    // The lock goes with the connection.
    await client.end();
  }
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.toSorted().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'));
      return { name, sql: sql.toString('utf8'), checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

function accountProblem(applied: AppliedRow[], onDisk: Migration[]): MigrationError | undefined {
  for (const row of applied) {
    const name = row.migration_name;
    const file = onDisk.find((migration) => migration.name === name);
    if (!row.finished) {
      return new MigrationError(
        name,
        'was begun by another tool and never finished. Put the database right by hand, then set rolled_back_at ' +
          '(to apply it again) or finished_at (if all of it is there) in its row of _prisma_migrations.',
      );
    }
    if (!file) {
      return new MigrationError(
        name,
        'is applied in this database and missing on disk. Is this an older version of the program? ' +
          'Use the one that brought it, or bring the folder back.',
      );
    }
    if (file.checksum !== row.checksum) {
      return new MigrationError(
        name,
        'is applied already and its file has been changed since. Bring the file back as it was, and write the ' +
          'change as a new migration.',
      );
    }
  }
  return undefined;
}

async function apply(client: Client, { name, sql, checksum }: Migration): Promise<void> {
  const startedAt = new Date();
  await client.query('begin');
  try {
    await client.query(sql);
    await client.query(
      `insert into _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count)
       values ($1, $2, clock_timestamp(), $3, $4, 1)`,
      [randomUUID(), checksum, name, startedAt],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    if (!(error instanceof DatabaseError)) throw error;
    const position = Number(error.position);
    const line = position ? ` in line ${sql.slice(0, position).split('\n').length}` : '';
    throw new MigrationError(name, `failed${line} and left nothing: ${error.message}`, { cause: error });
  }
}
