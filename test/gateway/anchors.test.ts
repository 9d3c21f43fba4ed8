// The gateway has the audit anchored: at once, then hour by hour, and it ends cleanly in the middle of it.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { transports } from 'winston';
import { Writable } from 'node:stream';
import { createLogger } from '../../config/logger.js';
import { createAnchors } from '../../gateway/anchors.js';
import { openDatabase, type Database } from '../../prisma/database.js';
import { appendAudit } from '../../prisma/functions.js';
import { connected, freshDatabase, type TestDatabase } from '../support/postgres.js';
import { addTenant, type TestTenant } from '../support/tenants.js';

describe('anchors', function () {
  this.timeout(60_000);
  let urls: TestDatabase;
  let database: Database;
  let tenants: TestTenant[];
  let logLines: string[];

  const logger = createLogger({
    process: 'gateway',
    level: 'info',
    destination: new transports.Stream({
      stream: new Writable({
        write(chunk: Buffer, _encoding, done) {
          logLines.push(chunk.toString());
          done();
        },
      }),
    }),
  });

  beforeEach(async () => {
    urls = await freshDatabase();
    database = openDatabase({ url: urls.applicationUrl, poolSize: 4 });
    tenants = [await addTenant(database), await addTenant(database)];
    logLines = [];
    for (const { tenantId } of tenants) await append(tenantId);
  });
  afterEach(() => database.close());

  const append = (tenantId: string) =>
    database.inTenant(tenantId, (tx) =>
      appendAudit(tx, { stream: 'tenant', event: 'noted', actor: 'system', facts: {} }),
    );
  const anchors = (everyMs?: number) =>
    createAnchors({
      database,
      tenants: () => ['not-seeded-yet', ...tenants.map(({ slug }) => slug)],
      logger,
      ...(everyMs !== undefined && { everyMs }),
    });
  const numbers = async (): Promise<number[]> => {
    const found = await Promise.all(
      tenants.map(({ tenantId }) => database.inTenant(tenantId, (tx) => tx.auditAnchor.count())),
    );
    return found;
  };
  const anHourLater = () =>
    connected(urls.superuserUrl, async (client) => {
      await client.query('set session_replication_role = replica');
      await client.query("update audit_anchors set hour = hour - interval '1 hour'");
    });

  it('are made for every business, once an hour, by however many gateways', async () => {
    const gateways = [anchors(), anchors(), anchors()];
    const rounds = await Promise.all(gateways.map((gateway) => gateway.anchorOnce()));
    assert.equal(
      rounds.reduce((sum, { anchored }) => sum + anchored, 0),
      2,
    );
    assert.deepEqual(await numbers(), [1, 1]);
    await anHourLater();
    for (const { tenantId } of tenants) await append(tenantId);
    await gateways[0]?.anchorOnce();
    assert.deepEqual(await numbers(), [2, 2]);
  });

  it('leave their root in the log, where a later one can be held against it', async () => {
    await anchors().anchorOnce();
    const logged = logLines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'audit.anchored');
    const stored = await database.inTenant(tenants[0]?.tenantId ?? '', (tx) =>
      tx.auditAnchor.findFirstOrThrow(),
    );
    const own = logged.find(({ tenantId }) => tenantId === tenants[0]?.tenantId);
    assert.equal(own.root, Buffer.from(stored.root).toString('hex'));
    assert.deepEqual([own.number, own.streams, own.moved], [1, 1, 1]);
  });

  it('are asked for by a ticker that stops, and lets nothing begin after that', async () => {
    const ticker = anchors(20);
    ticker.start();
    await sleep(100);
    assert.deepEqual(await numbers(), [1, 1]);
    await ticker.stop();
    await anHourLater();
    for (const { tenantId } of tenants) await append(tenantId);
    await sleep(100);
    assert.deepEqual(await numbers(), [1, 1]);
  });

  it('come later where the database was away, and say so', async () => {
    const away = openDatabase({ url: 'postgres://aroko_app:no@127.0.0.1:1/none', poolSize: 1 });
    const ticker = createAnchors({ database: away, tenants: () => tenants.map(({ slug }) => slug), logger });
    assert.deepEqual(await ticker.anchorOnce(), { anchored: 0 });
    assert.equal(logLines.filter((line) => line.includes('audit.anchor_failed')).length, 2);
    await away.close();
  });
});
