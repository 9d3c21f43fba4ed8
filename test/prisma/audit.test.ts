import { strict as assert } from 'node:assert';
import { createHash, randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { openDatabase, type Database } from '../../prisma/database.js';
import { appendAudit } from '../../prisma/functions.js';
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

  it('can be written by nobody but its function, and changed by nobody', async () => {
    const statements = [
      'update audit set actor = actor',
      'delete from audit',
      'truncate audit',
      'insert into audit select tenant_id, stream, number + 1000, event, subject_id, actor, facts, happened_at, previous_hash, hash from audit',
      'update audit_heads set last_number = 0',
      'delete from audit_heads',
      'truncate audit_anchors',
    ];
    const refused = async (url: string, sql: string) =>
      connected(url, (client) =>
        asTenant(client, tenantId, () =>
          assert.rejects(client.query(sql), { code: '42501' }, `${url.split(':')[1]} ${sql}`),
        ),
      );
    for (const sql of statements) await refused(urls.applicationUrl, sql);
    // Rights don't bind the owner, nor row-level security the superuser: there the trigger holds.
    for (const url of [urls.ownerUrl, urls.superuserUrl]) {
      for (const sql of [...statements.slice(0, 3), 'truncate audit_anchors']) await refused(url, sql);
    }
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
