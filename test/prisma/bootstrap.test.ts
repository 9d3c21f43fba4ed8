import { strict as assert } from 'node:assert';
import { bootstrapDatabase } from '../../prisma/bootstrap.js';
import { migrate } from '../../prisma/migrate.js';
import { connected, freshDatabase, testServer } from '../support/postgres.js';

describe('bootstrapDatabase', () => {
  it('can be repeated over a database in use, and two at once take turns', async () => {
    const { superuserUrl, passwords } = await testServer();
    const { ownerUrl } = await freshDatabase();
    const database = new URL(ownerUrl).pathname.slice(1);
    const again = () => bootstrapDatabase({ superuserUrl, passwords, database });
    const [urls] = await Promise.all([again(), again(), again()]);
    assert.equal(urls.ownerUrl, ownerUrl);
    assert.deepEqual((await migrate(urls)).applied, []);
  });

  it('answers addresses whose roles can connect, and escapes what a password holds', async () => {
    const { superuserUrl, passwords } = await testServer();
    const database = new URL((await freshDatabase({ migrated: false })).ownerUrl).pathname.slice(1);
    const odd = "p'w/@:?#% \\";
    try {
      const urls = await bootstrapDatabase({
        superuserUrl,
        passwords: { ...passwords, read: odd },
        database,
      });
      const who = (url: string) =>
        connected(url, async (client) =>
          Object.values((await client.query('select current_user, current_database()')).rows[0]),
        );
      assert.deepEqual(await who(urls.ownerUrl), ['aroko_owner', database]);
      assert.deepEqual(await who(urls.applicationUrl), ['aroko_app', database]);
      assert.deepEqual(await who(urls.readOnlyUrl), ['aroko_read', database]);
    } finally {
      await bootstrapDatabase({ superuserUrl, passwords, database });
    }
  });

  it('keeps tables to the owner and the database to the three roles', async () => {
    const { superuserUrl, applicationUrl } = await freshDatabase();
    await connected(applicationUrl, async (client) => {
      await assert.rejects(client.query('create table mine (id int)'), { code: '42501' });
      await assert.rejects(client.query('create temporary table mine (id int)'), { code: '42501' });
    });
    await connected(superuserUrl, async (client) => {
      const { rows } = await client.query(
        `select has_database_privilege('public', d.oid, 'connect') as connect, pg_encoding_to_char(encoding) as encoding, rolname
         from pg_database d join pg_roles r on r.oid = datdba where datname = current_database()`,
      );
      assert.deepEqual({ ...rows[0] }, { connect: false, encoding: 'UTF8', rolname: 'aroko_owner' });
    });
  });
});
