// A person takes a chat over in the middle of everything, with real Temporal: the assistant is silent, what was planned waits, and
// goes on when the chat comes back. Never two voices.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLostRuns } from '../../../gateway/lost-runs.js';
import { conversationWorkflowId, toolRunWorkflowId } from '../../../workflows/domain/ids.js';
import { until } from '../../support/desk.js';
import { QUICK, startQuickDesk, type QuickDesk } from './kit.js';

describe('a chat that a person takes over', function () {
  this.timeout(180_000);
  let desk: QuickDesk;
  before(async () => {
    // The times of the session are other tests' business.
    desk = await startQuickDesk({
      profile: {
        graceMs: 0,
        debounceMs: 1,
        debounceMaxMs: 2,
        acknowledgeAfterMs: 60_000,
        inactivityMs: 60_000,
      },
    });
  });
  after(async () => {
    await desk?.stop();
  });

  const bookings = (): Promise<number> =>
    desk.database.inTenant(desk.tenantId, (tx) => tx.booking.count({ where: { state: 'reserved' } }));
  const auditOf = async (chat: string): Promise<string[]> => {
    const stream = await desk.chatId(chat);
    const rows = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.audit.findMany({ where: { stream }, orderBy: { number: 'asc' } }),
    );
    return rows.map(({ event }) => event);
  };
  const untilAudited = (chat: string, event: string): Promise<true> =>
    until(async () => ((await auditOf(chat)).includes(event) ? true : undefined), 60_000, event);
  /** What the assistant said while a person had the chat. */
  const spokenDuring = async (chat: string, from: Date, to: Date): Promise<number> => {
    const chatId = await desk.chatId(chat);
    return desk.database.inTenant(desk.tenantId, (tx) =>
      tx.outbox.count({ where: { chatId, state: 'sent', settledAt: { gt: from, lt: to } } }),
    );
  };

  it('hears nothing until it is given back; what was approved meanwhile is done then, and told once', async () => {
    const before = await bookings();
    const booking = await desk.send('ada', 'Book Friday at 10:00 please');
    await desk.repliesWithin('ada', 2, 60_000);
    const { ref } = await desk.openApproval(60_000);

    const from = new Date();
    await desk.personWrites('ada', new Date(Date.now() + 600_000));
    assert.equal(await desk.decide(ref, 'approve'), 'decided');
    await untilAudited('ada', 'step_parked');
    assert.deepEqual(await desk.settled(await desk.send('ada', 'Are you still there?')), {
      state: 'handed_off',
      reason: 'takeover',
    });
    assert.equal(await bookings(), before, 'nothing is done while a person has the chat');
    const to = new Date();

    await desk.personReleases('ada');
    assert.equal((await desk.settled(booking)).state, 'answered');
    assert.equal(await bookings(), before + 1);
    assert.equal(await spokenDuring('ada', from, to), 0);
    const told = await desk.texts('ada');
    assert.equal(told.length, 3);
    assert.match(told[2] ?? '', /booked for .*10:00/i);
    const events = await auditOf('ada');
    const order = ['chat_taken', 'step_parked', 'handed_off', 'chat_released', 'step_started'];
    assert.deepEqual(
      order,
      events.filter((event) => order.includes(event)),
    );
  });

  it('comes back by itself at the end of the lease, which each further word makes longer', async () => {
    await desk.settled(await desk.send('bo', 'Hello!'));
    await desk.personWrites('bo', new Date(Date.now() + 2_000));
    await desk.personWrites('bo', new Date(Date.now() + 90_000));
    await sleep(3_000);
    assert.equal((await desk.settled(await desk.send('bo', 'Hello?'))).state, 'handed_off');
    // Nobody waits a minute and a half for it here.
    await desk.leaseEndsSoon('bo');
    await untilAudited('bo', 'chat_released');
    assert.equal((await desk.settled(await desk.send('bo', 'Hello again'))).state, 'answered');
    assert.deepEqual(
      (await auditOf('bo')).filter((event) => event.startsWith('chat_')),
      ['chat_taken', 'chat_released'],
    );
  });

  it('hears afterwards what a run had to say meanwhile', async () => {
    await desk.model.script({ match: 'free', withTools: true, delayMs: 2_000 });
    const id = await desk.send('cy', 'Is anything free on Saturday morning?');
    await until(
      async () =>
        (await desk.database.inTenant(desk.tenantId, (tx) => tx.toolRun.count({ where: { open: true } }))) > 0
          ? true
          : undefined,
      60_000,
      'the run to start',
    );
    const from = new Date();
    await desk.personWrites('cy', new Date(Date.now() + 600_000));
    const chatId = await desk.chatId('cy');
    await until(
      async () =>
        (await desk.database.inTenant(desk.tenantId, (tx) =>
          tx.outbox.count({ where: { chatId, turnId: { not: null }, state: 'planned' } }),
        )) > 0
          ? true
          : undefined,
      60_000,
      'the run to have written its words',
    );
    assert.equal(await spokenDuring('cy', from, new Date()), 0);
    await desk.leaseEndsSoon('cy');
    assert.equal((await desk.settled(id)).state, 'answered');
    assert.match((await desk.texts('cy')).at(-1) ?? '', /10:30/);
    await desk.model.clear();
  });

  it('keeps its conversation alive for as long as the person has it', async () => {
    await desk.settled(await desk.send('dan', 'Hello!'));
    await desk.personWrites('dan', new Date(Date.now() + 600_000));
    await sleep(1_000);
    assert.equal(await desk.conversationStatus('dan'), 'RUNNING');
    await desk.personReleases('dan');
  });

  it('still gets an honest word for a run that was terminated meanwhile', async () => {
    const id = await desk.send('eve', 'Book Friday at 14:00 please');
    await desk.repliesWithin('eve', 2, 60_000);
    const { turnId } = await desk.openApproval(60_000);
    await desk.personWrites('eve', new Date(Date.now() + QUICK.inactivityMs));
    await desk.client.workflow.getHandle(toolRunWorkflowId({ turnId })).terminate('by the test');
    await sleep(1_500);
    assert.equal((await desk.texts('eve')).length, 2, 'not while the person has the chat');
    assert.equal((await desk.settled(id)).state, 'refused');
    assert.equal((await desk.texts('eve')).length, 3);
  });

  it('gets that word also where nobody was listening when the run was terminated', async () => {
    const id = await desk.send('fay', 'Book Friday at 15:00 please');
    await desk.repliesWithin('fay', 2, 60_000);
    const { turnId } = await desk.openApproval(60_000);
    const { tenantId, database, conversations, client } = desk;
    const chatId = await desk.chatId('fay');
    await client.workflow.getHandle(conversationWorkflowId({ tenantId, chatId })).terminate('by the test');
    await client.workflow.getHandle(toolRunWorkflowId({ turnId })).terminate('by the test');
    await database.inTenant(tenantId, (tx) =>
      tx.toolRun.update({ where: { turnId }, data: { startedAt: new Date(Date.now() - 4 * 60_000) } }),
    );
    assert.ok((await createLostRuns({ database, conversations }).lookOnce()) >= 1);
    assert.equal((await desk.settled(id)).state, 'refused');
    assert.equal((await desk.texts('fay')).length, 3);
    const { open } = await database.inTenant(tenantId, (tx) =>
      tx.toolRun.findUniqueOrThrow({ where: { turnId } }),
    );
    assert.equal(open, false);
  });
});
