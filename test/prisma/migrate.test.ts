import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { migrate, MigrationError } from '../../prisma/migrate.js';
import { connected, freshDatabase } from '../support/postgres.js';

describe('the migration runner', () => {
  let directory: string;
  let ownerUrl: string;

  const write = async (name: string, sql: string) => {
    await mkdir(join(directory, name), { recursive: true });
    await writeFile(join(directory, name, 'migration.sql'), sql);
  };
  const run = () => migrate({ ownerUrl, directory });
  const query = (sql: string) => connected(ownerUrl, async (client) => (await client.query(sql)).rows);
  const tables = async () =>
    (
      await query(
        "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1",
      )
    )
      .map(({ relname }: { relname: string }) => relname)
      .filter((name) => name !== '_prisma_migrations');

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'aroko-migrations-'));
    ({ ownerUrl } = await freshDatabase({ migrated: false }));
    await write('1_first', 'create table one (id int); insert into one values (1);');
    await write('2_second', 'create table two (id int);');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('applies everything in the order of the names, once, and tells of each', async () => {
    const lines: string[] = [];
    const { applied } = await migrate({ ownerUrl, directory, log: (line) => lines.push(line) });
    assert.deepEqual(applied, ['1_first', '2_second']);
    assert.deepEqual(lines, ['applied migration 1_first', 'applied migration 2_second']);
    assert.deepEqual((await run()).applied, []);
    await write('3_third', 'create table three (id int);');
    assert.deepEqual((await run()).applied, ['3_third']);
    assert.deepEqual(await tables(), ['one', 'three', 'two']);
  });

  it("keeps account in the shape of Prisma's own table", async () => {
    await run();
    const [row] = await query('select * from _prisma_migrations order by started_at');
    assert.match(row.id, /^[0-9a-f-]{36}$/);
    assert.equal(
      row.checksum,
      createHash('sha256').update('create table one (id int); insert into one values (1);').digest('hex'),
    );
    assert.ok(row.started_at <= row.finished_at);
    assert.deepEqual(
      [row.migration_name, row.logs, row.rolled_back_at, row.applied_steps_count],
      ['1_first', null, null, 1],
    );
    const columns = await query(
      `select column_name, data_type, character_maximum_length as length, is_nullable from information_schema.columns
       where table_name = '_prisma_migrations' order by ordinal_position`,
    );
    assert.deepEqual(
      columns.map((column) => Object.values(column).join(' ')),
      [
        'id character varying 36 NO',
        'checksum character varying 64 NO',
        'finished_at timestamp with time zone  YES',
        'migration_name character varying 255 NO',
        'logs text  YES',
        'rolled_back_at timestamp with time zone  YES',
        'started_at timestamp with time zone  NO',
        'applied_steps_count integer  NO',
      ],
    );
  });

  it('refuses a file that was changed after it was applied, and applies nothing then', async () => {
    await run();
    await write('1_first', 'create table one (id int); -- now with a comment');
    await write('3_third', 'create table three (id int);');
    await assert.rejects(run(), (error) => {
      assert.ok(error instanceof MigrationError);
      assert.equal(error.migration, '1_first');
      assert.match(error.message, /changed since.*as a new migration/);
      return true;
    });
    assert.deepEqual(await tables(), ['one', 'two']);
  });

  it('refuses when an applied migration is missing on disk', async () => {
    await run();
    await rm(join(directory, '1_first'), { recursive: true });
    await assert.rejects(run(), /Migration 1_first is applied in this database and missing on disk/);
  });

  it('refuses what another tool has begun and not finished, and applies again what was rolled back', async () => {
    await run();
    await query("update _prisma_migrations set finished_at = null where migration_name = '2_second'");
    await assert.rejects(run(), /Migration 2_second was begun by another tool and never finished/);
    await query("update _prisma_migrations set rolled_back_at = now() where migration_name = '2_second'");
    await query('drop table two');
    assert.deepEqual((await run()).applied, ['2_second']);
  });

  it('leaves nothing of a migration that fails, keeps those before it, and names the line', async () => {
    await write(
      '3_third',
      'create table three (id int);\ninsert into three values (1);\ninsert into nowhere values (1);',
    );
    await assert.rejects(
      run(),
      /Migration 3_third failed in line 3 and left nothing: relation "nowhere" does not exist/,
    );
    assert.deepEqual(await tables(), ['one', 'two']);
    await write('3_third', 'create table three (id int);');
    assert.deepEqual((await run()).applied, ['3_third']);
  });

  it('lets two runners at once apply each migration once', async () => {
    const results = await Promise.all([run(), run(), run()]);
    assert.deepEqual(results.flatMap(({ applied }) => applied).sort(), ['1_first', '2_second']);
  });

  it('can be repeated over the real migrations', async () => {
    const real = await freshDatabase();
    assert.deepEqual((await migrate({ ownerUrl: real.ownerUrl })).applied, []);
  });

  it('runs as a command', async () => {
    const real = await freshDatabase({ migrated: false });
    const command = fileURLToPath(new URL('../../prisma/setup-main.ts', import.meta.url));
    const start = (env: NodeJS.ProcessEnv) =>
      promisify(execFile)(process.execPath, ['--import', 'tsx', command], {
        env: { PATH: process.env.PATH, ...env },
      });
    assert.match(
      (await start({ AROKO_OWNER_DATABASE_URL: real.ownerUrl })).stdout,
      /^applied migration \d+_first\n/,
    );
    assert.equal((await start({ AROKO_OWNER_DATABASE_URL: real.ownerUrl })).stdout, 'nothing to apply\n');
    await assert.rejects(start({}), { code: 78 });
  });
});
