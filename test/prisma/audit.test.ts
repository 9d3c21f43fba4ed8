import { strict as assert } from 'node:assert';
import { createHash, randomUUID } from 'node:crypto';
import { DatabaseError, type Client } from 'pg';
import { openDatabase, type Database } from '../../prisma/database.js';
import { anchorHeads, appendAudit } from '../../prisma/functions.js';
import { asTenant, connected, freshDatabase, type TestDatabase } from '../support/postgres.js';
import { addTenant } from '../support/tenants.js';

interface Line {
  number: number;
  event: string;
  subject_id: string | null;
  actor: string;
  facts: string;
  at: string;
  hash: Buffer;
}

/** Computes a stream again from its rows: the number of the first line that doesn't fit, 0 when all do. */
async function firstBrokenLine(client: Client, tenantId: string, stream: string): Promise<number> {
  const { rows } = await client.query<Line>(
    `select number, event, subject_id, actor, facts::text, hash,
       to_char(happened_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
     from audit where tenant_id = $1 and stream = $2 order by number`,
    [tenantId, stream],
  );
  let previous = createHash('sha256').update(`${tenantId}/${stream}`).digest();
  for (const [index, line] of rows.entries()) {
    const text = [line.number, line.event, line.subject_id ?? '-', line.actor, line.facts, line.at].join(
      '\n',
    );
    const hash = createHash('sha256').update(previous).update(text).digest();
    if (line.number !== index + 1 || !hash.equals(line.hash)) return index + 1;
    previous = hash;
  }
  const head = await client.query('select last_hash from audit_heads where tenant_id = $1 and stream = $2', [
    tenantId,
    stream,
  ]);
  return previous.equals(head.rows[0].last_hash) ? 0 : rows.length + 1;
}

describe('the audit', () => {
  let urls: TestDatabase;
  let database: Database;
  let tenantId: string;
  const chat: string = randomUUID();

  before(async () => {
    urls = await freshDatabase();
    database = openDatabase({ url: urls.applicationUrl });
    ({ tenantId } = await addTenant(database));
  });
  after(() => database.close());

  const append = (event: string, stream = chat) =>
    database.inTenant(tenantId, (tx) =>
      appendAudit(tx, {
        stream,
        event,
        subjectId: randomUUID(),
        actor: 'owner:ayşe',
        facts: { tool: 'look', count: 2 },
      }),
    );

  it('numbers every line of a stream without a gap, also when twenty are written at once', async () => {
    const numbers = await Promise.all(Array.from({ length: 20 }, () => append('approval.decided')));
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    assert.equal(await append('config.loaded', 'tenant'), 1);
  });

  it('takes a line back with the transaction that wrote it', async () => {
    const next = await append('turn.decided');
    await assert.rejects(
      database.inTenant(tenantId, async (tx) => {
        assert.equal(
          await appendAudit(tx, { stream: chat, event: 'turn.decided', actor: 'system', facts: {} }),
          next + 1,
        );
        throw new Error('no');
      }),
      /^Error: no$/,
    );
    assert.equal(await append('turn.decided'), next + 1);
  });

  it('needs a tenant', async () => {
    await assert.rejects(
      database.prisma.$transaction((tx) =>
        appendAudit(tx, { stream: chat, event: 'x', actor: 'system', facts: {} }),
      ),
      /audit needs a tenant/,
    );
  });

  const refused = async (url: string, sql: string) =>
    connected(url, (client) =>
      asTenant(client, tenantId, () =>
        assert.rejects(client.query(sql), { code: '42501' }, `${new URL(url).username}: ${sql}`),
      ),
    );

  const CHANGES = [
    'update audit set actor = actor',
    'delete from audit',
    'truncate audit',
    'update audit_anchors set streams = 0',
    'delete from audit_anchors',
    'truncate audit_anchors',
    'update audit_anchor_heads set last_number = 0',
    'delete from audit_anchor_heads',
    'truncate audit_anchor_heads',
  ];

  it('can be written by nobody but its function, and changed by nobody', async () => {
    await append('a line to change', 'tenant');
    await database.inTenant(tenantId, anchorHeads);
    const others = [
      'insert into audit select tenant_id, stream, number + 1000, event, subject_id, actor, facts, happened_at, previous_hash, hash from audit',
      "insert into audit_heads (tenant_id, stream, last_number, last_hash) values (aroko_tenant(), 'x', 1, '\\x00')",
      'update audit_heads set last_number = 0',
      'delete from audit_heads',
      'truncate audit_heads',
      `insert into audit_anchors (id, tenant_id, number, hour, root, streams)
         values (gen_random_uuid(), aroko_tenant(), 9, now(), '\\x00', 1)`,
      `insert into audit_anchor_heads (tenant_id, anchor, stream, last_number, last_hash)
         values (aroko_tenant(), 9, 'x', 1, '\\x00')`,
      'select * from audit for update',
      'merge into audit a using (select 1) o on true when matched then delete',
      'copy audit from stdin',
    ];
    for (const sql of [...CHANGES, ...others]) {
      await refused(urls.applicationUrl, sql);
      await refused(urls.readOnlyUrl, sql);
    }
    await refused(urls.readOnlyUrl, "select aroko_audit('tenant', 'x', null, 'x', '{}')");
    await refused(urls.readOnlyUrl, 'select * from aroko_anchor()');
    // Rights don't bind the owner, nor row-level security the superuser: there the triggers hold.
    for (const url of [urls.ownerUrl, urls.superuserUrl]) for (const sql of CHANGES) await refused(url, sql);
  });

  it('lets neither role of ours take its guards away', async () => {
    for (const url of [urls.applicationUrl, urls.readOnlyUrl]) {
      for (const sql of [
        'alter table audit disable trigger user',
        'alter table audit disable trigger audit_is_final',
        'alter table audit_anchors disable trigger all',
        'drop trigger audit_is_final on audit',
        'drop table audit',
        'alter table audit drop column hash',
        'alter table audit disable row level security',
        'alter table audit owner to current_user',
        'drop policy tenant_rows on audit',
        'create policy more on audit using (true)',
        'set session_replication_role = replica',
        'grant update on audit to current_user',
        'set role aroko_owner',
        'drop function aroko_audit(text, text, uuid, text, jsonb)',
        "create or replace function aroko_audit_is_final() returns trigger language plpgsql as 'begin return null; end'",
        "create or replace function aroko_anchor() returns int language sql as 'select 1'",
        'create rule quiet as on insert to audit do instead nothing',
        'create trigger first before insert on audit for each row execute function aroko_audit_is_final()',
      ]) {
        // A rule of the owner's for `grant`: it answers nothing but a warning, and gives nothing.
        if (sql.startsWith('grant ')) await grantsNothing(url, sql);
        else await refused(url, sql);
      }
    }
  });

  /** Postgres answers a grant by somebody without rights to give with a warning or with a refusal. */
  async function grantsNothing(url: string, sql: string): Promise<void> {
    await connected(url, async (client) => {
      await client.query(sql).catch((error: unknown) => {
        assert.ok(error instanceof DatabaseError && error.code === '42501', String(error));
      });
      const { rows } = await client.query("select has_table_privilege('audit', 'update') as may");
      assert.equal(rows[0].may, false);
    });
  }

  it('takes no line whose parts could be told apart in two ways', async () => {
    await assert.rejects(append('one\ntwo'), /audit_one_line/);
  });

  it('anchors nothing without a tenant, and nothing of another one', async () => {
    await assert.rejects(
      database.prisma.$transaction((tx) => anchorHeads(tx)),
      /an anchor needs a tenant/,
    );
    const other = await addTenant(database);
    assert.equal(await database.inTenant(other.tenantId, anchorHeads), undefined);
  });

  it('can be computed again from its rows, and a line that was changed behind the trigger shows', async () => {
    await connected(urls.superuserUrl, async (client) => {
      assert.equal(await firstBrokenLine(client, tenantId, chat), 0);
      assert.equal(await firstBrokenLine(client, tenantId, 'tenant'), 0);
      const tampered = (sql: string) =>
        asTenant(client, tenantId, async () => {
          await client.query('set local session_replication_role = replica');
          assert.equal((await client.query(sql)).rowCount, 1);
          return firstBrokenLine(client, tenantId, chat);
        });
      const line = `where stream = '${chat}' and number = 7`;
      assert.equal(await tampered(`update audit set actor = 'owner:mallory' ${line}`), 7);
      assert.equal(await tampered(`update audit set facts = '{"tool": "look", "count": 3}' ${line}`), 7);
      assert.equal(await tampered(`delete from audit ${line}`), 7);
      assert.equal(await tampered(`delete from audit where stream = '${chat}' and number = 22`), 22);
    });
  });
});
