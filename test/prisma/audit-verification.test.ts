// The audit is computed again, and whatever somebody with every right on the database has done to it is found and named.
import { strict as assert } from 'node:assert';
import { createHash, randomUUID } from 'node:crypto';
import { openDatabase, type Database } from '../../prisma/database.js';
import { anchorHeads, appendAudit } from '../../prisma/functions.js';
import { verifyAudit, type AuditReport } from '../../prisma/stores/audit-verification.js';
import { connected, freshDatabase, type TestDatabase } from '../support/postgres.js';
import { addTenant } from '../support/tenants.js';

const LINES = 12;

describe('the verification of the audit', () => {
  let urls: TestDatabase;
  let database: Database;
  let tenantId: string;
  /** Sorted, so that the first is found first. */
  let streams: string[];
  const verify = (knownRoot?: string): Promise<AuditReport> => verifyAudit(database, { tenantId, knownRoot });
  const anchor = () => database.inTenant(tenantId, anchorHeads);

  const append = (stream: string, count: number) =>
    database.inTenant(tenantId, async (tx) => {
      for (let line = 0; line < count; line++) {
        await appendAudit(tx, {
          stream,
          event: 'step_started',
          subjectId: line % 2 === 0 ? randomUUID() : undefined,
          actor: 'owner:ayşe',
          facts: { tool: 'look', count: line, nested: { b: 1, aa: 'ü "quoted" \\ ' } },
        });
      }
    });

  /** What nobody can do but a superuser who has switched the triggers off. */
  const tamper = (...statements: string[]) =>
    connected(urls.superuserUrl, async (client) => {
      for (const table of ['audit', 'audit_anchors', 'audit_anchor_heads']) {
        await client.query(`alter table ${table} disable trigger user`);
      }
      for (const sql of statements) {
        const { rowCount } = await client.query(sql);
        assert.ok(sql.startsWith('do ') || rowCount !== 0, `nothing was changed by ${sql}`);
      }
      for (const table of ['audit', 'audit_anchors', 'audit_anchor_heads']) {
        await client.query(`alter table ${table} enable trigger user`);
      }
    });

  /** Anchors of the past: each is moved back an hour, as if the clock had gone on. */
  const anHourLater = () =>
    tamper(
      `update audit_anchors set hour = hour - interval '1 hour' where tenant_id = '${tenantId}'
       and number = (select max(number) from audit_anchors where tenant_id = '${tenantId}')`,
    );

  before(async () => {
    urls = await freshDatabase();
    database = openDatabase({ url: urls.applicationUrl, poolSize: 3 });
  });
  after(() => database.close());

  /** A desk with three chats and its own stream, before anybody lays hands on it. */
  beforeEach(async () => {
    ({ tenantId } = await addTenant(database));
    streams = [randomUUID(), randomUUID(), randomUUID()].toSorted();
    for (const stream of streams) await append(stream, LINES);
    await append('tenant', 3);
  });

  const only = (report: AuditReport) => {
    assert.equal(report.findings.length, 1, JSON.stringify(report.findings));
    const [finding] = report.findings;
    assert.ok(finding);
    return { stream: finding.stream, number: finding.number, kind: finding.kind };
  };
  const at = (number: number, stream = streams[1] ?? '') =>
    `where stream = '${stream}' and number = ${number}`;

  it('finds nothing in what was written, and counts it', async () => {
    const report = await verify();
    assert.deepEqual(report, {
      streams: 4,
      rows: 3 * LINES + 3,
      findings: [],
      anchors: { count: 0, findings: [] },
      unguarded: [],
    });
    await anchor();
    const anchored = await verify();
    assert.deepEqual([anchored.findings, anchored.anchors.findings, anchored.anchors.count], [[], [], 1]);
  });

  it('goes on while lines are written', async () => {
    const writing = Promise.all(streams.map((stream) => append(stream, 40)));
    const reports = [];
    for (let round = 0; round < 5; round++) reports.push(await verify());
    await writing;
    reports.push(await verify());
    assert.deepEqual(
      reports.flatMap((report) => report.findings),
      [],
    );
    assert.equal(reports.at(-1)?.rows, 3 * (LINES + 40) + 3);
  });

  it('walks thousands of lines in batches and misses none', async () => {
    await connected(urls.applicationUrl, async (client) => {
      await client.query("select set_config('app.tenant', $1, false)", [tenantId]);
      await client.query(
        `select aroko_audit(stream, 'turn_decided', null, 'assistant', '{}')
         from (select 'chat-' || n % 450 as stream from generate_series(1, 4700) n) s`,
      );
    });
    const clean = await verify();
    assert.deepEqual([clean.streams, clean.rows, clean.findings], [4 + 450, 3 * LINES + 3 + 4700, []]);
    await tamper(`update audit set actor = 'mallory' where stream = 'chat-449' and number = 10`);
    assert.deepEqual(only(await verify()), { stream: 'chat-449', number: 10, kind: 'changed' });
  });

  for (const [what, change] of Object.entries({
    'the actor': "actor = 'owner:mallory'",
    'the event': "event = 'step_failed'",
    'the subject': 'subject_id = gen_random_uuid()',
    'one fact': `facts = jsonb_set(facts, '{count}', '99')`,
    'the time': "happened_at = happened_at + interval '1 millisecond'",
    'the hash': "hash = sha256('x')",
  })) {
    it(`names the line of which ${what} was changed`, async () => {
      await tamper(`update audit set ${change} ${at(7)}`);
      assert.deepEqual(only(await verify()), { stream: streams[1], number: 7, kind: 'changed' });
    });
  }

  it('names the line that was dropped', async () => {
    await tamper(`delete from audit ${at(5)}`);
    assert.deepEqual(only(await verify()), { stream: streams[1], number: 5, kind: 'missing' });
  });

  it('names the place where lines were dropped and the rest moved up', async () => {
    await tamper(
      `delete from audit ${at(5)}`,
      `update audit set number = -number where stream = '${streams[1]}' and number > 5`,
      `update audit set number = -number - 1 where stream = '${streams[1]}' and number < 0`,
      `update audit_heads set last_number = ${LINES - 1} where stream = '${streams[1]}'`,
    );
    assert.deepEqual(only(await verify()), { stream: streams[1], number: 5, kind: 'changed' });
  });

  it('names the first of two lines that changed places', async () => {
    await tamper(
      `update audit set number = 1000 ${at(3)}`,
      `update audit set number = 3 ${at(4)}`,
      `update audit set number = 4 ${at(1000)}`,
    );
    assert.deepEqual(only(await verify()), { stream: streams[1], number: 3, kind: 'changed' });
  });

  it('names a line that was put in at the end, in the middle or before the beginning', async () => {
    const insert = (number: number) =>
      `insert into audit select tenant_id, stream, ${number}, event, subject_id, actor, facts, happened_at, previous_hash, hash
       from audit ${at(LINES)}`;
    await tamper(insert(LINES + 1));
    assert.deepEqual(only(await verify()), { stream: streams[1], number: LINES + 1, kind: 'changed' });
    await tamper(`delete from audit ${at(LINES + 1)}`, insert(0));
    assert.deepEqual(only(await verify()), { stream: streams[1], number: 0, kind: 'unlinked' });
    await tamper(
      `delete from audit ${at(0)}`,
      `update audit set number = -number where stream = '${streams[1]}' and number >= 6`,
      `update audit set number = -number + 1 where stream = '${streams[1]}' and number < 0`,
      `insert into audit select tenant_id, stream, 6, event, subject_id, actor, facts, happened_at, previous_hash, hash
       from audit ${at(3)}`,
    );
    assert.deepEqual(only(await verify()), { stream: streams[1], number: 6, kind: 'changed' });
  });

  it('names a line put in at the end with a hash of its own, because the head doesn’t know it', async () => {
    const { previous, hash, text } = await forged(LINES + 1);
    await tamper(
      `insert into audit select tenant_id, stream, ${LINES + 1}, event, subject_id, actor, facts, '${text}', '\\x${previous}', '\\x${hash}'
       from audit ${at(LINES)}`,
    );
    assert.deepEqual(only(await verify()), { stream: streams[1], number: LINES + 1, kind: 'beyond_head' });
  });

  it('names the first line that is missing of a tail that was cut off', async () => {
    await tamper(`delete from audit where stream = '${streams[1]}' and number > 9`);
    assert.deepEqual(only(await verify()), { stream: streams[1], number: 10, kind: 'cut_off' });
  });

  it('finds a head that was replaced or deleted', async () => {
    await tamper(`update audit_heads set last_hash = sha256('x') where stream = '${streams[1]}'`);
    assert.deepEqual(only(await verify()), { stream: streams[1], number: LINES, kind: 'head_replaced' });
    await tamper(`delete from audit_heads where stream = '${streams[1]}'`);
    assert.deepEqual(only(await verify()), { stream: streams[1], number: LINES, kind: 'no_head' });
  });

  it('names the first wrong line of each stream, and of each only one', async () => {
    await tamper(
      `update audit set actor = 'mallory' ${at(2, streams[0])}`,
      `update audit set actor = 'mallory' ${at(8, streams[0])}`,
      `delete from audit ${at(11, streams[2])}`,
      `update audit set actor = 'mallory' where stream = 'tenant' and number = 3 and tenant_id = '${tenantId}'`,
    );
    const { findings } = await verify();
    assert.deepEqual(
      findings.map(({ stream, number, kind }) => [stream, number, kind]),
      [
        [streams[0], 2, 'changed'],
        [streams[2], 11, 'missing'],
        ['tenant', 3, 'changed'],
      ],
    );
  });

  it('says that the triggers which guard the lines are off', async () => {
    const asSuperuser = (sql: string) => connected(urls.superuserUrl, (client) => client.query(sql));
    await asSuperuser('alter table audit disable trigger audit_is_final');
    assert.deepEqual((await verify()).unguarded, ['audit']);
    await asSuperuser('alter table audit enable trigger audit_is_final');
    await asSuperuser('drop trigger anchors_are_not_emptied on audit_anchors');
    assert.deepEqual((await verify()).unguarded, ['audit_anchors']);
    await asSuperuser(`create trigger anchors_are_not_emptied before truncate on audit_anchors
      for each statement execute function aroko_audit_is_final()`);
    assert.deepEqual((await verify()).unguarded, []);
  });

  /** A line of the tampered stream that somebody who knows the algorithm has made himself. */
  async function forged(number: number): Promise<{ previous: string; hash: string; text: string }> {
    const [row] = await connected(urls.superuserUrl, async (client) => {
      const { rows } = await client.query(
        `select encode(hash, 'hex') as hash, event, coalesce(subject_id::text, '-') as subject, actor, facts::text as facts
         from audit ${at(LINES)}`,
      );
      return rows;
    });
    const text = '2026-12-01T10:00:00.000Z';
    const hash = createHash('sha256')
      .update(Buffer.from(row.hash, 'hex'))
      .update([number, row.event, row.subject, row.actor, row.facts, text].join('\n'))
      .digest('hex');
    return { previous: row.hash, hash, text };
  }

  /** Changes a line and computes all that follows and the head anew, as aroko_audit would have. */
  const rewrite = (number: number) =>
    tamper(
      `update audit set actor = 'mallory' ${at(number)}`,
      `do $$ declare r audit; h bytea; begin
         select case when ${number} = 1 then sha256(convert_to('${tenantId}/${streams[1]}', 'UTF8')) else
           (select hash from audit ${at(number - 1)}) end into h;
         for r in select * from audit where stream = '${streams[1]}' and number >= ${number} order by number loop
           update audit set previous_hash = h, hash = sha256(h || convert_to(concat_ws(E'\\n', r.number, r.event,
             coalesce(r.subject_id::text, '-'), r.actor, r.facts::text,
             to_char(r.happened_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), 'UTF8'))
             where tenant_id = r.tenant_id and stream = r.stream and number = r.number returning hash into h;
         end loop;
         update audit_heads set last_hash = h where stream = '${streams[1]}';
       end $$`,
    );

  it('finds by an anchor a stream that was written anew as a whole, which its own chain can’t show', async () => {
    await rewrite(4);
    assert.deepEqual((await verify()).findings, [], 'a chain alone is only as good as its head');
    await anchor();
    await rewrite(2);
    assert.deepEqual(only(await verify()), {
      stream: streams[1],
      number: LINES,
      kind: 'differs_from_anchor',
    });
  });

  it('finds by an anchor a tail that was cut off together with its head', async () => {
    await anchor();
    await append(streams[1] ?? '', 5);
    await tamper(
      `delete from audit where stream = '${streams[1]}' and number > 8`,
      `update audit_heads h set last_number = 8, last_hash = (select hash from audit a ${at(8)} and a.tenant_id = h.tenant_id)
       where stream = '${streams[1]}'`,
    );
    assert.deepEqual(only(await verify()), {
      stream: streams[1],
      number: LINES,
      kind: 'cut_off_since_anchor',
    });
    // Also once later anchors have taken the shorter stream for the truth.
    await anHourLater();
    assert.equal((await anchor())?.number, 2);
    assert.equal(only(await verify()).kind, 'cut_off_since_anchor');
  });

  it('finds by an anchor a stream that is gone without a trace', async () => {
    await anchor();
    await tamper(
      `delete from audit where stream = '${streams[1]}'`,
      `delete from audit_heads where stream = '${streams[1]}'`,
    );
    assert.deepEqual(only(await verify()), {
      stream: streams[1],
      number: LINES,
      kind: 'cut_off_since_anchor',
    });
  });

  it('anchors what has moved once an hour, and each root stands on the one before', async () => {
    const first = await anchor();
    assert.deepEqual([first?.number, first?.streams, first?.moved], [1, 4, 4]);
    await append('tenant', 1);
    assert.equal(await anchor(), undefined, 'in the same hour');
    await anHourLater();
    await append(randomUUID(), 1);
    const second = await anchor();
    assert.deepEqual([second?.number, second?.streams, second?.moved], [2, 5, 2]);
    assert.notEqual(second?.root, first?.root);
  });

  it('makes no anchor while nothing moves', async () => {
    await anchor();
    await anHourLater();
    assert.equal(await anchor(), undefined);
  });

  it('is anchored once, however many ask at the same time', async () => {
    const asked = await Promise.all(Array.from({ length: 6 }, anchor));
    assert.equal(asked.filter((one) => one !== undefined).length, 1);
  });

  it('finds an anchor that was changed, one that was deleted, and heads of it that were', async () => {
    const [root] = [await anchor()];
    await tamper(`update audit_anchors set hour = hour - interval '3 hours' where tenant_id = '${tenantId}'`);
    assert.match(
      String((await verify()).anchors.findings[0]?.what),
      /changed/,
      'the hour is part of the root',
    );
    await tamper(`update audit_anchors set hour = hour + interval '3 hours' where tenant_id = '${tenantId}'`);
    assert.deepEqual((await verify(root?.root)).anchors.findings, []);

    await tamper(`update audit_anchor_heads set last_number = 11 where stream = '${streams[1]}'`);
    assert.deepEqual((await verify()).anchors.findings[0]?.anchor, 1);
    await tamper(`update audit_anchor_heads set last_number = ${LINES} where stream = '${streams[1]}'`);

    await tamper(`delete from audit_anchors where tenant_id = '${tenantId}'`);
    assert.match(String((await verify()).anchors.findings[0]?.what), /deleted/);
  });

  it('finds that all anchors were made anew, by a root that was written down', async () => {
    const noted = await anchor();
    assert.ok(noted);
    assert.deepEqual((await verify(noted.root)).anchors.findings, []);
    await rewrite(3);
    await tamper(
      `delete from audit_anchor_heads where tenant_id = '${tenantId}'`,
      `delete from audit_anchors where tenant_id = '${tenantId}'`,
    );
    await anchor();
    const blind = await verify();
    assert.deepEqual([blind.findings, blind.anchors.findings], [[], []], 'the database alone can’t tell');
    assert.match(String((await verify(noted.root)).anchors.findings[0]?.what), /made anew/);
  });
});
