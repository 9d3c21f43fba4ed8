// A worker that is killed with -9 in the middle of a send, once its fence is committed: before the call, and after it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { retryDelayOf, startSendKit, type SendKit } from './kit.js';

const GIVE_UP_MS = 15_000;

describe('a worker that is killed in the middle of a send', function () {
  this.timeout(180_000);
  let kit: SendKit;
  before(async () => {
    kit = await startSendKit();
  });
  after(() => kit.stop());
  beforeEach(() => kit.fake.forget());

  /** Resolves with the signal that ended it. */
  async function sendAndDie(dies: 'before' | 'after', outboxId: string): Promise<unknown> {
    const sender = spawn(
      process.execPath,
      [
        ...['--import', 'tsx', 'test/activities/delivery/sender-main.ts', dies, kit.urls.applicationUrl],
        ...[Buffer.from(kit.masterKey).toString('hex'), kit.fake.url, kit.secrets, kit.tenantId, outboxId],
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const [, signal] = (await once(sender, 'exit')) as [unknown, unknown];
    return signal;
  }

  const attempt = async (outboxId: string): Promise<unknown> =>
    kit.activities
      .deliver({ tenantId: kit.tenantId, outboxId })
      .catch((error: unknown) => retryDelayOf(error));

  async function makeOld(outboxId: string): Promise<void> {
    await kit.inTenant(({ tx }) =>
      tx.outbox.update({ where: { id: outboxId }, data: { sendingAt: new Date(Date.now() - GIVE_UP_MS) } }),
    );
  }

  for (const dies of ['before', 'after'] as const) {
    it(`${dies} the call leaves it under way; the next waits, gives up, and never calls again`, async () => {
      const turn = await kit.turn(await kit.chat());
      const outboxId = await kit.plan(turn);
      assert.equal(await sendAndDie(dies, outboxId), 'SIGKILL');
      const taken = dies === 'after' ? 1 : 0;
      assert.equal(kit.fake.taken().length, taken);
      assert.equal((await kit.row(outboxId)).state, 'sending');

      const delay = Number(await attempt(outboxId));
      assert.ok(delay > 0 && delay <= GIVE_UP_MS, `asked again in ${delay} ms`);
      assert.equal((await kit.row(outboxId)).state, 'sending');
      await makeOld(outboxId);
      assert.deepEqual(await attempt(outboxId), { state: 'unknown' });
      assert.deepEqual(await attempt(outboxId), { state: 'unknown' });
      assert.equal(kit.fake.taken().length, taken, 'no second send');
      assert.equal((await kit.ledger(turn.turnId)).state, 'accepted');
    });
  }

  it('after the call has it settled by the status, also where it was given up meanwhile', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    await sendAndDie('after', outboxId);
    await makeOld(outboxId);
    assert.deepEqual(await attempt(outboxId), { state: 'unknown' });
    const [taken] = kit.fake.taken();
    assert.ok(taken, 'the platform has it');
    await kit.fake.webhooks.reportNow(taken, 'sent');
    assert.deepEqual(await attempt(outboxId), { state: 'sent' });
    assert.equal((await kit.ledger(turn.turnId)).state, 'answered');
    assert.equal(kit.fake.taken().length, 1);
  });
});
