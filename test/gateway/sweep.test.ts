import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../config/logger.js';
import { parseChange } from '../../gateway/changes.js';
import { createLostRuns } from '../../gateway/lost-runs.js';
import { createSweep } from '../../gateway/sweep.js';
import { planMessage } from '../../prisma/stores/outbox.js';
import { connected } from '../support/postgres.js';
import { API_TOKEN, askForApproval, startGateway, type TestGateway } from './gateway.js';

describe('the sweep', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(async () => gateway.stop());

  const sweepOnce = () => {
    const { database, conversations } = gateway;
    const logger = createLogger({ process: 'gateway', level: 'error' });
    return createSweep({ database, conversations, logger }).sweepOnce();
  };
  const later = (sql: string) => connected(gateway.urls.superuserUrl, (client) => client.query(sql));

  it('rings again for a message that nobody has taken up, and leaves fresh ones alone', async () => {
    const { chatId, sequence } = await gateway.write('behind', 'Hello?');
    assert.equal((await sweepOnce()).rung, 0);
    await later(`update inbox set received_at = received_at - interval '6 seconds'`);
    gateway.conversations.calls.length = 0;
    assert.equal((await sweepOnce()).rung, 1);
    assert.deepEqual(gateway.conversations.calls, [{ what: 'ring', chatId, upTo: sequence }]);
  });

  it('hands words again that nobody has delivered, and knows whether they are the last', async () => {
    const { chatId, turnId } = await askForApproval(gateway, { chat: 'words', text: 'Book', arguments: {} });
    const plan = (id: string, kind: 'question' | 'answer') =>
      gateway.inScope(gateway.tenantId, async (scope) => {
        const { contactId } = await scope.tx.chat.findUniqueOrThrow({ where: { id: chatId } });
        return planMessage(scope, {
          chatId,
          contactId,
          turnId,
          origin: { kind: 'test', id },
          kind,
          text: kind,
        });
      });
    const question = await plan(randomUUID(), 'question');
    const answer = await plan(randomUUID(), 'answer');
    await later(`update outbox set planned_at = planned_at - interval '16 seconds' where state = 'planned'`);
    gateway.conversations.calls.length = 0;
    assert.equal((await sweepOnce()).said, 2);
    const said = new Map(
      gateway.conversations.calls.flatMap((call) =>
        call.what === 'say' ? [[call.outboxId, call.final]] : [],
      ),
    );
    assert.equal(said.get(question.outboxId), false);
    assert.equal(said.get(answer.outboxId), true);
  });

  it('wakes a run that has not heard the decision, until it has', async () => {
    const { ref, approvalId, turnId } = await askForApproval(gateway, {
      chat: 'deaf',
      text: 'Book',
      arguments: {},
    });
    await gateway.api('POST', `/api/approvals/${ref}`, { decision: 'approve' });
    await later(`update approvals set decided_at = decided_at - interval '6 seconds'`);
    gateway.conversations.calls.length = 0;
    assert.equal((await sweepOnce()).woken, 1);
    assert.ok(gateway.conversations.calls.some((call) => call.what === 'wake' && call.turnId === turnId));
    await later(`update approvals set heard_at = now() where id = '${approvalId}'`);
    assert.equal((await sweepOnce()).woken, 0);
  });

  it('tells the conversation of a lease that nobody has ended, and of no other', async () => {
    const { chatId } = await gateway.write('leased', 'Hello?');
    const { chatId: kept } = await gateway.write('kept', 'Hello?');
    const take = (id: string, until: string) =>
      later(
        `update chats set paused_at = now() - interval '1 hour', paused_until = ${until} where id = '${id}'`,
      );
    await take(chatId, `now() - interval '11 seconds'`);
    await take(kept, `now() + interval '1 hour'`);
    gateway.conversations.calls.length = 0;
    assert.equal((await sweepOnce()).returned, 1);
    assert.deepEqual(
      gateway.conversations.calls.filter(({ what }) => what === 'desk'),
      [{ what: 'desk', chatId }],
    );
    await later(`update chats set paused_at = null, paused_until = null`);
  });

  it('finds a run that was ended while nobody listened, once, and lets the others be', async () => {
    const request = { text: 'Book', arguments: {} };
    const gone = await askForApproval(gateway, { chat: 'gone', ...request });
    const alive = await askForApproval(gateway, { chat: 'alive', ...request });
    await later(`update tool_runs set started_at = now() - interval '4 minutes'
      where turn_id in ('${gone.turnId}', '${alive.turnId}')`);
    gateway.conversations.closedRuns.add(gone.turnId);
    gateway.conversations.calls.length = 0;
    const { database, conversations } = gateway;
    const lostRuns = createLostRuns({ database, conversations });
    assert.equal(await lostRuns.lookOnce(), 1);
    assert.deepEqual(gateway.conversations.calls, [{ what: 'run', turnId: gone.turnId }]);
    assert.equal(await lostRuns.lookOnce(), 0, 'at most once a minute');
  });

  describe('for a chat with a session', () => {
    /** How many chats are rung where one message has waited for so many seconds. */
    const rungFor = async (
      chat: string,
      { state, grace, waited }: { state: 'waiting' | 'active'; grace: string; waited: number },
    ): Promise<number> => {
      const { chatId } = await gateway.write(chat, 'Hello?');
      await later(`
        update inbox set state = 'ignored', settled_at = now() where state = 'accepted' and chat_id <> '${chatId}';
        update inbox set received_at = now() - interval '${waited} seconds' where chat_id = '${chatId}';
        insert into chat_sessions (id, tenant_id, chat_id, debounce_max_ms, state, grace_until)
          select gen_random_uuid(), tenant_id, id, 50000, '${state}', now() + interval '${grace}' from chats where id = '${chatId}'`);
      return (await sweepOnce()).rung;
    };

    it('does not ring before the grace is over', async () => {
      assert.equal(await rungFor('grace', { state: 'waiting', grace: '2 minutes', waited: 60 }), 0);
    });

    it('rings after the grace', async () => {
      assert.equal(await rungFor('graced', { state: 'waiting', grace: '-6 seconds', waited: 60 }), 1);
    });

    it('gives an active one the time in which more may come', async () => {
      assert.equal(await rungFor('young', { state: 'active', grace: '0 seconds', waited: 40 }), 0);
      assert.equal(await rungFor('old', { state: 'active', grace: '0 seconds', waited: 56 }), 1);
    });
  });
});

describe('health', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(async () => gateway.stop());

  it('is ready only while Temporal answers, and live all the time', async () => {
    assert.equal((await gateway.app.inject({ url: '/health/ready' })).statusCode, 200);
    gateway.conversations.isAway = true;
    const away = await gateway.app.inject({ url: '/health/ready' });
    assert.equal(away.statusCode, 503);
    assert.equal(away.json<{ temporal: string }>().temporal, 'unreachable');
    assert.equal((await gateway.app.inject({ url: '/health/live' })).statusCode, 200);
  });
});

describe('changes', function () {
  this.timeout(90_000);

  it('are heard again after the connection was cut, and everybody is told of the gap', async () => {
    const gateway = await startGateway();
    try {
      const heard: string[] = [];
      gateway.changes.subscribe({ tenantId: gateway.tenantId }, ({ what }) => heard.push(what));
      // The gateway connects in the background: until it has, there is nothing to cut.
      await connected(gateway.urls.superuserUrl, async (client) => {
        for (let cut = 0; cut === 0; await sleep(50)) {
          const { rowCount } = await client.query(
            `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'aroko changes'
              and datname = current_database() and query ilike 'listen%'`,
          );
          cut = rowCount ?? 0;
        }
      });
      for (let waited = 0; !heard.includes('gap') && waited < 30_000; waited += 100) await sleep(100);
      assert.ok(heard.includes('gap'));
      await gateway.write('anna', 'Hello');
      for (let waited = 0; !heard.includes('inbox') && waited < 30_000; waited += 50) await sleep(50);
      assert.ok(heard.includes('inbox'));
    } finally {
      await gateway.stop();
    }
  });

  it('of another form are not ours', () => {
    for (const payload of [undefined, '', '{}', '{"tenant":"x","what":"inbox"}', 'null', '[]']) {
      assert.equal(parseChange(payload), undefined);
    }
  });

  it('end with the server: an open stream does not keep it from closing', async () => {
    const gateway = await startGateway();
    const url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
    const response = await fetch(`${url}/api/chats/anna/events`, {
      headers: { authorization: `Bearer ${API_TOKEN}` },
    });
    const body = response.text();
    const startedAt = Date.now();
    await gateway.stop();
    await body;
    assert.ok(Date.now() - startedAt < 30_000);
  });
});
