import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { openDatabase, type Database } from '../../prisma/database.js';
import {
  chatsBehind,
  decisionsUnheard,
  saysWaiting,
  tenantBySlug,
  tenantOfAccount,
  tenantOfLoginLink,
  tenantOfSession,
} from '../../prisma/functions.js';
import { connected, freshDatabase, type TestDatabase } from '../support/postgres.js';
import { acceptText, addTenant, testContent } from '../support/tenants.js';

const POOL_SIZE = 5;

describe('the door to the database', () => {
  let urls: TestDatabase;
  let database: Database;

  before(async () => {
    urls = await freshDatabase();
    // Another clock face than ours, to show that times survive it.
    await connected(urls.superuserUrl, (client) =>
      client.query("alter role aroko_app set timezone to 'Asia/Tokyo'"),
    );
    database = openDatabase({ url: urls.applicationUrl, poolSize: POOL_SIZE });
  });
  after(async () => {
    await database.close();
    await connected(urls.superuserUrl, (client) => client.query('alter role aroko_app reset timezone'));
  });

  const settingNow = async () => {
    const [row] = await database.prisma.$queryRaw<
      { tenant: string | null }[]
    >`select current_setting('app.tenant', true) as tenant`;
    return row?.tenant ?? '';
  };

  it('keeps 40 tenants apart that write and read at once over five connections', async () => {
    const tenants = await Promise.all(Array.from({ length: 40 }, () => addTenant(database)));
    const writeAndRead = async (tenantId: string, round: number) => {
      const id = randomUUID();
      await database.inTenant(tenantId, (tx) =>
        tx.switch.create({
          data: { id, tenantId, name: `marker-${round}`, value: tenantId, changedBy: 'test' },
        }),
      );
      const seen = await database.inTenant(tenantId, (tx) => tx.switch.findMany());
      assert.equal(seen.length, round);
      assert.ok(seen.every((row) => row.tenantId === tenantId && row.value === tenantId));
    };
    await Promise.all(
      tenants.map(async ({ tenantId }) => {
        for (let round = 1; round <= 10; round += 1) await writeAndRead(tenantId, round);
      }),
    );
    for (const { tenantId } of tenants) {
      assert.equal(await database.inTenant(tenantId, (tx) => tx.switch.count()), 10);
    }
    const settings = await Promise.all(Array.from({ length: 4 * POOL_SIZE }, settingNow));
    assert.ok(settings.every((tenant) => tenant === ''));
    assert.equal(await database.prisma.switch.count(), 0);
  });

  it('refuses a row for another tenant and leaves nothing of that transaction', async () => {
    const [ours, theirs] = [await addTenant(database), await addTenant(database)];
    const marker = (tenantId: string) => ({
      id: randomUUID(),
      tenantId,
      name: 'marker',
      value: 'on',
      changedBy: 'test',
    });
    await assert.rejects(
      database.inTenant(ours.tenantId, async (tx) => {
        await tx.switch.create({ data: marker(ours.tenantId) });
        await tx.switch.create({ data: marker(theirs.tenantId) });
      }),
      { code: 'P2039' },
    );
    assert.equal(await database.inTenant(ours.tenantId, (tx) => tx.switch.count()), 0);
    assert.equal(await database.inTenant(theirs.tenantId, (tx) => tx.switch.count()), 0);
  });

  it('takes nothing but the id of a tenant', async () => {
    for (const wrong of ['', 'desk', `${randomUUID()}' or true`]) {
      await assert.rejects(
        database.inTenant(wrong, () => Promise.resolve()),
        TypeError,
      );
    }
  });

  it('leaves no tenant behind on the connection when a message is accepted', async () => {
    const single = openDatabase({ url: urls.applicationUrl, poolSize: 1 });
    try {
      const account = await addTenant(single);
      const desk = { prisma: single.prisma, content: testContent(), account };
      const accepted = await acceptText(desk, { externalId: 'm1', text: 'hello', address: 'anna' });
      assert.equal(accepted.outcome, 'accepted');
      const [row] = await single.prisma.$queryRaw<
        { tenant: string }[]
      >`select current_setting('app.tenant', true) as tenant`;
      assert.equal(row?.tenant, '');
      assert.equal(await single.prisma.inbox.count(), 0);
      // Inside a tenant's transaction it would change the tenant unseen, and is refused.
      await assert.rejects(
        single.inTenant(account.tenantId, (tx) =>
          acceptText({ ...desk, prisma: tx }, { externalId: 'm2', text: 'hello', address: 'anna' }),
        ),
        /accept is called without a tenant/,
      );
    } finally {
      await single.close();
    }
  });

  it('goes on after the server has cut every connection', async () => {
    const { tenantId } = await addTenant(database);
    await connected(urls.superuserUrl, async (client) => {
      const { rowCount } = await client.query(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'aroko_app' and datname = current_database()",
      );
      assert.ok(rowCount);
    });
    assert.equal(await database.inTenant(tenantId, (tx) => tx.channelAccount.count()), 1);
  });

  it('keeps times exact whatever the time zone of the server', async () => {
    const { tenantId } = await addTenant(database);
    const startsAt = new Date('2026-12-05T09:30:00.123Z');
    const endsAt = new Date('2026-12-05T10:00:00Z');
    await database.inTenant(tenantId, async (tx) => {
      const id = randomUUID();
      const before = Date.now();
      await tx.booking.create({ data: { id, tenantId, resource: 'desk', startsAt, endsAt } });
      const row = await tx.booking.findUniqueOrThrow({ where: { id } });
      assert.deepEqual([row.startsAt, row.endsAt], [startsAt, endsAt]);
      assert.ok(Math.abs(row.createdAt.getTime() - before) < 60_000);
      const [raw] = await tx.$queryRaw<{ iso: string; at: Date }[]>`
        select to_char(starts_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as iso, starts_at as at from bookings where id = ${id}::uuid`;
      assert.deepEqual(raw, { iso: startsAt.toISOString(), at: startsAt });
    });
  });

  it('lets no slot be taken twice, however many ask at once', async () => {
    const { tenantId } = await addTenant(database);
    const startsAt = new Date('2026-12-05T09:30:00Z');
    const endsAt = new Date('2026-12-05T10:00:00Z');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        database.inTenant(tenantId, (tx) =>
          tx.booking.create({ data: { id: randomUUID(), tenantId, resource: 'desk', startsAt, endsAt } }),
        ),
      ),
    );
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal(await database.inTenant(tenantId, (tx) => tx.booking.count()), 1);
  });

  it('finds a tenant by account, slug, login link and open session', async () => {
    const tenant = await addTenant(database);
    const { tenantId, accountId, slug } = tenant;
    const token = (byte: number) => new Uint8Array(32).fill(byte);
    const expiresAt = new Date(Date.now() + 60_000);
    await database.inTenant(tenantId, async (tx) => {
      await tx.loginLink.create({ data: { tokenHash: token(1), tenantId, ownerId: 'o', expiresAt } });
      await tx.session.create({ data: { tokenHash: token(2), tenantId, ownerId: 'o', expiresAt } });
      await tx.session.create({
        data: { tokenHash: token(3), tenantId, ownerId: 'o', expiresAt: new Date(Date.now() - 1) },
      });
    });
    const { prisma } = database;
    assert.deepEqual(await tenantOfAccount(prisma, tenant), { tenantId, accountId });
    assert.equal(await tenantOfAccount(prisma, { channel: 'web', accountKey: 'nobody' }), undefined);
    assert.equal(await tenantBySlug(prisma, slug), tenantId);
    assert.equal(await tenantBySlug(prisma, 'nobody'), undefined);
    assert.equal(await tenantOfLoginLink(prisma, token(1)), tenantId);
    assert.equal(await tenantOfLoginLink(prisma, token(9)), undefined);
    assert.equal(await tenantOfSession(prisma, token(2)), tenantId);
    assert.equal(await tenantOfSession(prisma, token(3)), undefined);
  });

  it('tells the sweep which chats, says and decisions have been left waiting', async () => {
    const account = await addTenant(database);
    const { tenantId } = account;
    const desk = { prisma: database.prisma, content: testContent(), account };
    const accepted = await acceptText(desk, { externalId: 'm1', text: 'hello', address: 'anna' });
    assert.ok(accepted.outcome === 'accepted');
    const { chatId, contactId } = accepted;
    const { prisma } = database;
    const of = <Row extends { tenantId: string }>(rows: Row[]) =>
      rows.filter((row) => row.tenantId === tenantId);
    assert.deepEqual(of(await chatsBehind(prisma, { olderThanMs: 0, limit: 1000 })), [
      { tenantId, chatId, upTo: 1 },
    ]);
    assert.deepEqual(of(await chatsBehind(prisma, { olderThanMs: 60_000, limit: 1000 })), []);

    const [turnId, stepId, approvalId, outboxId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    await database.inTenant(tenantId, async (tx) => {
      await tx.turn.create({
        data: { id: turnId, tenantId, chatId, firstSequence: 1, upTo: 1, state: 'running' },
      });
      await tx.inbox.updateMany({ data: { turnId } });
      await tx.toolRun.create({
        data: { turnId, tenantId, chatId, contactId, state: 'waiting', configHash: 'c' },
      });
      await tx.step.create({
        data: {
          ...{
            id: stepId,
            tenantId,
            turnId,
            ordinal: 1,
            tool: 'look',
            state: 'accepted',
            keyId: randomUUID(),
          },
          ...{ argumentsCipher: new Uint8Array(1), argumentsHash: 'h', idempotencyKey: 'i' },
        },
      });
      await tx.approval.create({
        data: {
          ...{
            id: approvalId,
            tenantId,
            chatId,
            turnId,
            stepId,
            ref: 'K-7Q2F',
            gate: 'approve',
            rule: 'r',
            tool: 'look',
          },
          ...{
            argumentsHash: 'h',
            configHash: 'c',
            state: 'approved',
            expiresAt: new Date(),
            decidedAt: new Date(),
          },
        },
      });
      await tx.outbox.create({
        data: {
          id: outboxId,
          tenantId,
          chatId,
          turnId,
          originKind: 'run',
          originId: turnId,
          kind: 'question',
        },
      });
    });
    const range = { olderThanMs: 0, limit: 1000 };
    assert.deepEqual(of(await chatsBehind(prisma, range)), []);
    assert.deepEqual(of(await saysWaiting(prisma, range)), [
      { tenantId, chatId, turnId, outboxId, kind: 'question' },
    ]);
    assert.deepEqual(of(await decisionsUnheard(prisma, range)), [{ tenantId, approvalId, turnId }]);
  });
});
