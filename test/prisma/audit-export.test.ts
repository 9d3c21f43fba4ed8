import { strict as assert } from 'node:assert';
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, type Database } from '../../prisma/database.js';
import { appendAudit } from '../../prisma/functions.js';
import { startOfTail } from '../../prisma/stores/audit.js';
import { exportAudit, type AuditExport } from '../../prisma/stores/audit-export.js';
import { connected, freshDatabase, type TestDatabase } from '../support/postgres.js';
import { addTenant } from '../support/tenants.js';

interface Line {
  at: string;
  stream: string;
  number: number;
  event: string;
  subjectId: string | null;
  actor: string;
  facts: { count: number };
  previousHash: string;
  hash: string;
}

describe('the export of the audit', function () {
  this.timeout(60_000);
  let urls: TestDatabase;
  let database: Database;
  let tenantId: string;
  const streams = [randomUUID(), randomUUID(), 'tenant'];

  const append = (stream: string, count: number) =>
    database.inTenant(tenantId, (tx) =>
      appendAudit(tx, { stream, event: 'noted', actor: 'system', facts: { count, b: 'ü', aa: [1] } }),
    );

  beforeEach(async () => {
    urls = await freshDatabase();
    database = openDatabase({ url: urls.applicationUrl, poolSize: 4 });
    ({ tenantId } = await addTenant(database));
    for (let count = 0; count < 30; count++) await append(streams[count % 3] ?? '', count);
  });
  afterEach(() => database.close());

  async function all(options: AuditExport = {}): Promise<string[]> {
    const lines = [];
    for await (const line of exportAudit({ database, tenantId }, options)) lines.push(line);
    return lines;
  }
  const parsed = (lines: string[]): Line[] => lines.map((line) => JSON.parse(line));
  const counts = (lines: string[]): number[] => parsed(lines).map((line) => line.facts.count);
  const UP_TO_30 = Array.from({ length: 30 }, (_, count) => count);

  it('is one JSON object a line, all streams in the order of time', async () => {
    const lines = await all();
    assert.ok(lines.every((line) => !line.includes('\n')));
    assert.deepEqual(counts(lines), UP_TO_30);
    const [first] = parsed(lines);
    assert.deepEqual(Object.keys(first ?? {}), [
      'at',
      'stream',
      'number',
      'event',
      'subjectId',
      'actor',
      'facts',
      'previousHash',
      'hash',
    ]);
  });

  it('can be verified from the file alone', async () => {
    const previous = new Map(
      streams.map((stream) => [stream, createHash('sha256').update(`${tenantId}/${stream}`).digest('hex')]),
    );
    for (const text of await all()) {
      const line: Line = JSON.parse(text);
      const facts = /"facts":(.*),"previousHash"/.exec(text)?.[1];
      assert.equal(line.previousHash, previous.get(line.stream));
      const hash = createHash('sha256')
        .update(Buffer.from(line.previousHash, 'hex'))
        .update([line.number, line.event, line.subjectId ?? '-', line.actor, facts, line.at].join('\n'))
        .digest('hex');
      assert.equal(hash, line.hash);
      previous.set(line.stream, hash);
    }
  });

  it('holds one stream, a range of time, or the last lines, and any of these together', async () => {
    const lines = parsed(await all());
    assert.deepEqual(counts(await all({ stream: 'tenant' })), [2, 5, 8, 11, 14, 17, 20, 23, 26, 29]);
    const [from, to] = [new Date(lines[10]?.at ?? ''), new Date(lines[20]?.at ?? '')];
    const inRange = lines.filter(({ at }) => at >= from.toISOString() && at < to.toISOString());
    assert.ok(inRange.length >= 5, 'the range holds some');
    assert.deepEqual(
      counts(await all({ from, to })),
      inRange.map((line) => line.facts.count),
    );
    const tail = (range: { stream?: string }, count: number) =>
      database.inTenant(tenantId, (tx) => startOfTail(tx, { count, ...range }));
    assert.deepEqual(counts(await all({ start: await tail({}, 4) })), [26, 27, 28, 29]);
    const stream = 'tenant';
    assert.deepEqual(counts(await all({ stream, start: await tail({ stream }, 2) })), [26, 29]);
    assert.deepEqual(counts(await all({ start: await tail({}, 1000) })), UP_TO_30);
  });

  it('reads any number of lines in batches', async () => {
    await connected(urls.applicationUrl, async (client) => {
      await client.query("select set_config('app.tenant', $1, false)", [tenantId]);
      // In one transaction: many lines of one millisecond, so that batches end in the middle of it.
      await client.query(
        `select aroko_audit('chat-' || n % 7, 'noted', null, 'system', json_build_object('count', n)::jsonb)
         from generate_series(30, 3529) n`,
      );
    });
    const found = counts(await all());
    assert.equal(found.length, 3530);
    assert.deepEqual(
      found.toSorted((a, b) => a - b),
      Array.from({ length: 3530 }, (_, count) => count),
    );
  });

  it('goes on with what is written, each line once, also one whose transaction ends late', async () => {
    const seen: number[] = [];
    const start = await database.inTenant(tenantId, (tx) => startOfTail(tx, { count: 2 }));
    const following = (async () => {
      for await (const line of exportAudit({ database, tenantId }, { start, follow: true })) {
        seen.push(...counts([line]));
        if (seen.length === 6) return;
      }
    })();
    // Written first and committed last: its time is older than that of lines that were told already.
    const late = database.inTenant(tenantId, async (tx) => {
      await appendAudit(tx, {
        stream: streams[0] ?? '',
        event: 'noted',
        actor: 'system',
        facts: { count: 100 },
      });
      await sleep(2_500);
    });
    await sleep(200);
    await append('tenant', 101);
    await append(streams[1] ?? '', 102);
    await late;
    await append('tenant', 103);
    await following;
    assert.deepEqual(seen.slice(0, 2), [28, 29]);
    assert.deepEqual(
      seen.toSorted((a, b) => a - b),
      [28, 29, 100, 101, 102, 103],
    );
  });
});
