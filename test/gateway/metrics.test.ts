// What the gateway tells Prometheus and whoever keeps it running, over a real Postgres.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../../config/logger.js';
import { observedLog } from '../../config/observed-log.js';
import { createGatewayMetrics, type GatewayMetrics } from '../../gateway/metrics.js';
import { createServer } from '../../gateway/server.js';
import { openDatabase } from '../../prisma/database.js';
import { missingMigrations } from '../../prisma/measures.js';
import { asTenant, connected } from '../support/postgres.js';
import { answerRun, API_TOKEN, askForApproval, startGateway, type TestGateway } from './gateway.js';

const nothing = (): void => undefined;
const silent: Logger = { event: nothing, debug: nothing, warn: nothing, error: nothing, child: () => silent };

const METRICS_TOKEN = 'a-token-for-whoever-collects-metrics';

describe('the gateway’s metrics', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  let app: FastifyInstance;
  let metrics: GatewayMetrics;
  let sweepMovedAt = Date.now();

  before(async () => {
    gateway = await startGateway();
    metrics = createGatewayMetrics({ settleLagMs: 200 });
    const { database, content, conversations, changes, configuration, tenantId } = gateway;
    app = await createServer({
      database,
      content,
      conversations,
      changes,
      desk: { tenantId, configuration },
      logger: observedLog(silent, metrics.hear),
      apiToken: API_TOKEN,
      metrics,
      metricsToken: METRICS_TOKEN,
      vitals: { sweepMovedAt: () => sweepMovedAt, configuration: () => 'newer_rejected' },
    });
  });
  after(async () => {
    await app.close();
    await gateway.stop();
  });

  /** The series by name and labels. */
  async function scrape(): Promise<Map<string, number>> {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const { statusCode, body, headers: answered } = await app.inject({ url: '/metrics', headers });
    assert.equal(statusCode, 200, body);
    assert.match(String(answered['content-type']), /^text\/plain; version=0\.0\.4/);
    return new Map(
      body
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
  }
  const settle = (sql: string, values: unknown[] = []) =>
    connected(gateway.urls.superuserUrl, (client) => client.query(sql, values));

  it('are for whoever has a token, and a connection from this machine is none', async () => {
    for (const authorization of [
      undefined,
      'Bearer wrong-token-wrong-token-wrong',
      `Basic ${METRICS_TOKEN}`,
    ]) {
      const headers = authorization === undefined ? {} : { authorization };
      const { statusCode, body } = await app.inject({ url: '/metrics', headers, remoteAddress: '127.0.0.1' });
      assert.equal(statusCode, 401);
      assert.doesNotMatch(body, /aroko_/);
    }
    for (const token of [API_TOKEN, METRICS_TOKEN]) {
      const headers = { authorization: `Bearer ${token}` };
      assert.equal((await app.inject({ url: '/metrics', headers })).statusCode, 200);
    }
    // The token of the metrics opens nothing else.
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    assert.equal((await app.inject({ url: '/api/approvals', headers })).statusCode, 401);
  });

  it('count what is open and how old it is, and approvals beside', async () => {
    const before = await scrape();
    assert.equal(before.get('aroko_messages_open'), 0);
    assert.equal(before.get('aroko_oldest_open_message_seconds'), 0);
    const asked = await askForApproval(gateway, {
      chat: 'c1',
      text: 'please',
      arguments: { date: '2027-01-04' },
    });
    await settle("update inbox set received_at = now() - interval '300 seconds' where turn_id = $1", [
      asked.turnId,
    ]);
    const open = await scrape();
    assert.equal(open.get('aroko_messages_open'), 1);
    assert.ok(Math.abs((open.get('aroko_oldest_open_message_seconds') ?? 0) - 300) < 20);
    assert.equal(
      open.get('aroko_oldest_waiting_message_seconds'),
      0,
      'it waits for an owner, and not for us',
    );
    assert.equal(open.get('aroko_approvals_open'), 1);
    assert.equal(open.get('aroko_postgres_up'), 1);

    await answerRun(gateway, asked, 'done');
    const after = await scrape();
    assert.equal(after.get('aroko_messages_open'), 0);
  });

  it('tell how long the oldest has waited for us: for no owner, no person, and no report of a send', async () => {
    const waiting = async () => {
      const seconds = (await scrape()).get('aroko_oldest_waiting_message_seconds') ?? Number.NaN;
      return Math.round(seconds / 100) * 100;
    };
    const asked = await askForApproval(gateway, {
      chat: 'c4',
      text: 'please',
      arguments: { date: '2027-01-06' },
    });
    await settle("update inbox set received_at = now() - interval '900 seconds' where turn_id = $1", [
      asked.turnId,
    ]);
    const { messageId, chatId } = await gateway.write('c5', 'hello');
    await settle("update inbox set received_at = now() - interval '600 seconds' where id = $1", [messageId]);
    assert.equal(await waiting(), 600);
    await settle('update chats set paused_at = now() where id = $1', [chatId]);
    assert.equal(await waiting(), 0);
    await settle("update approvals set state = 'approved', decided_at = now() where turn_id = $1", [
      asked.turnId,
    ]);
    assert.equal(await waiting(), 900);
    await settle(
      `insert into outbox (id, tenant_id, chat_id, turn_id, origin_kind, origin_id, kind, state)
        select gen_random_uuid(), tenant_id, chat_id, turn_id, 'test', gen_random_uuid(), 'answer', 'unknown'
        from inbox where turn_id = $1`,
      [asked.turnId],
    );
    assert.equal(await waiting(), 0);
    await settle("delete from outbox where state = 'unknown'");
    await settle(
      "update inbox set state = 'handed_off', settled_at = received_at where turn_id = $1 or id = $2",
      [asked.turnId, messageId],
    );
  });

  it('measure what a customer waited once, when it is over, by how it ended', async () => {
    const text = 'aroko_message_duration_seconds';
    const { messageId } = await gateway.write('c2', 'hello');
    await settle(
      `update inbox set state = 'handed_off', received_at = now() - interval '90 seconds', settled_at = now() where id = $1`,
      [messageId],
    );
    await setTimeout(400);
    const again = await scrape();
    assert.equal(again.get(`${text}_count{state="handed_off"}`), 1, 'and never twice');
    assert.ok(Math.abs((again.get(`${text}_sum{state="handed_off"}`) ?? 0) - 90) < 2);
    assert.equal(again.get(`${text}_bucket{le="60",state="handed_off"}`), 0);
    assert.equal(again.get(`${text}_bucket{le="300",state="handed_off"}`), 1);
  });

  it('show what nobody knows: sends and effects of unknown fate', async () => {
    const asked = await askForApproval(gateway, {
      chat: 'c3',
      text: 'please',
      arguments: { date: '2027-01-05' },
    });
    await settle("update outbox set state = 'unknown' where turn_id = $1", [asked.turnId]);
    await settle("update steps set state = 'unknown' where id = $1", [asked.stepId]);
    const seen = await scrape();
    assert.equal(seen.get('aroko_outbox_messages{state="unknown"}'), 1);
    assert.equal(seen.get('aroko_effects_unknown'), 1);
  });

  it('count what is accepted and how requests fare, by the pattern of their route', async () => {
    const headers = { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' };
    const payload = JSON.stringify({ id: randomUUID(), text: 'hello' });
    const url = '/api/chats/a-private-name/messages';
    assert.equal((await app.inject({ method: 'POST', url, headers, payload })).statusCode, 202);
    assert.equal((await app.inject({ method: 'POST', url, headers, payload })).statusCode, 202);
    assert.equal((await app.inject({ url: '/nowhere/a-private-name' })).statusCode, 404);
    const seen = await scrape();
    assert.equal(seen.get('aroko_messages_accepted_total{outcome="accepted"}'), 1);
    assert.equal(seen.get('aroko_messages_accepted_total{outcome="duplicate"}'), 1);
    const route = 'method="POST",route="/api/chats/:chat/messages",status="2xx"';
    assert.equal(seen.get(`aroko_http_request_duration_seconds_count{${route}}`), 2);
    assert.ok(
      ![...seen.keys()].some((series) => series.includes('a-private-name')),
      'no address in any label',
    );
  });

  it('take nothing for a label that is no code', async () => {
    metrics.hear('message.accepted', { outcome: 'a sentence of somebody' });
    metrics.hear('no.such_event', { outcome: 'accepted' });
    metrics.hear('toString', {});
    const accepted = [...(await scrape()).keys()].filter((series) =>
      series.startsWith('aroko_messages_accepted'),
    );
    assert.deepEqual(accepted.map((series) => /outcome="(.*)"/.exec(series)?.[1]).sort(), [
      'accepted',
      'duplicate',
      'other',
    ]);
  });

  it('leave out what can’t be read while Postgres is away, and say so', async () => {
    const away = createGatewayMetrics();
    const database = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/nowhere' });
    const { body } = await away.text(database);
    assert.match(body, /^aroko_postgres_up 0$/m);
    assert.doesNotMatch(body, /^aroko_messages_open/m);
    assert.match((await away.text(gateway.database)).body, /^aroko_messages_open \d+$/m);
    const { body: later } = await away.text(database);
    assert.doesNotMatch(later, /^aroko_(messages_open|outbox_messages)/m, 'no figure from before');
    await database.close();
  });

  it('have figures of all tenants for the application’s role, which sees no row of them', async () => {
    await connected(gateway.urls.applicationUrl, async (client) => {
      const rows = await client.query('select id from inbox');
      assert.equal(rows.rowCount, 0);
      const { rows: open } = await client.query('select messages, unknown_effects from aroko_open_work()');
      assert.ok(open[0].messages > 0 && open[0].unknown_effects === 1);
      await asTenant(client, randomUUID(), async () => {
        assert.equal((await client.query('select id from steps')).rowCount, 0, 'another tenant sees none');
      });
    });
  });

  describe('health', () => {
    const look = async (url: string) => {
      const { statusCode, body } = await app.inject({ url });
      return { statusCode, ...JSON.parse(body) };
    };

    it('is alive as long as the sweep moves', async () => {
      sweepMovedAt = Date.now() - 10_000;
      assert.deepEqual(await look('/health/live'), { statusCode: 200, status: 'live', sweepSeconds: 10 });
      sweepMovedAt = Date.now() - 600_000;
      assert.deepEqual(await look('/health/live'), { statusCode: 503, status: 'stuck', sweepSeconds: 600 });
      sweepMovedAt = Date.now();
    });

    it('is ready with Postgres, Temporal and every migration; an older configuration is told, and works', async () => {
      assert.deepEqual(await look('/health/ready'), {
        statusCode: 200,
        status: 'ready',
        postgres: 'reachable',
        temporal: 'reachable',
        migrations: 'applied',
        configuration: 'newer_rejected',
      });
      gateway.conversations.isAway = true;
      const away = await look('/health/ready');
      assert.deepEqual([away.statusCode, away.temporal], [503, 'unreachable']);
      gateway.conversations.isAway = false;
    });

    it('is not ready over a database that lacks a migration', async () => {
      const name = '20261201137000_measures';
      assert.deepEqual(await missingMigrations(gateway.database.prisma), []);
      await settle("update _prisma_migrations set migration_name = 'other' where migration_name = $1", [
        name,
      ]);
      assert.deepEqual(await missingMigrations(gateway.database.prisma), [name]);
      const seen = await look('/health/ready');
      assert.deepEqual([seen.statusCode, seen.migrations], [503, 'missing']);
      await settle("update _prisma_migrations set migration_name = $1 where migration_name = 'other'", [
        name,
      ]);
      assert.equal((await look('/health/ready')).statusCode, 200);
    });
  });
});
