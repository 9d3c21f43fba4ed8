// The requester's own yes (spec D2): asked in the chat, decided by plain words, never by a model and never by anybody else.
import assert from 'node:assert/strict';
import { startDesk, type Desk } from '../support/desk.js';

describe('a step that the requester has to confirm', function () {
  this.timeout(60_000);
  let desk: Desk;
  before(async () => {
    desk = await startDesk({
      configure: (shipped) => ({
        ...shipped,
        policy: {
          ...shipped.policy,
          rules: [
            { name: 'ask-themselves', when: { effects: ['reversible'] }, then: 'confirm' },
            ...shipped.policy.rules,
          ],
        },
      }),
    });
  });
  after(async () => {
    await desk.stop();
  });

  const bookings = (): Promise<number> =>
    desk.database.inTenant(desk.tenantId, (tx) => tx.booking.count({ where: { state: 'reserved' } }));

  it('shows what will be done in the words of the runtime, and does it after the yes', async () => {
    const [question] = await desk.ask('ada', 'Book Friday at 10:00 please');
    assert.match(question ?? '', /the time: 10:00/);
    assert.match(question ?? '', /the day: Friday/);
    assert.equal(await bookings(), 0);
    const { ref } = await desk.openApproval();
    assert.equal(await desk.decide(ref, 'approve'), 'unknown', 'an owner is not who was asked');
    await desk.model.clear();
    assert.deepEqual(await desk.settled(await desk.send('ada', 'Yes, please!')), {
      state: 'merged',
      reason: 'answers our question; the run goes on',
    });
    const told = await desk.nextReply('ada', 2);
    assert.match(told.text, /booked for Friday/);
    assert.equal(await bookings(), 1);
    const planned = (await desk.model.requests()).filter((request) => request.body.tools !== undefined);
    assert.equal(planned.length, 0, 'no model decides what a yes is');
  });

  it('leaves everything as it was after a no', async () => {
    const before = await bookings();
    await desk.ask('bo', 'Book Friday at 15:00 please');
    await desk.settled(await desk.send('bo', 'no thanks'));
    assert.match((await desk.nextReply('bo', 2)).text, /left it as it was/);
    assert.equal(await bookings(), before);
  });

  it('does not take a yes from another chat', async () => {
    const before = await bookings();
    await desk.ask('cy', 'Book Friday at 16:00 please');
    await desk.ask('dan', 'yes');
    assert.equal(await bookings(), before);
    await desk.settled(await desk.send('cy', 'no'));
  });

  it('does not take a yes in a group, where anybody could say it', async () => {
    const before = await bookings();
    await desk.ask('fay', 'Book Friday at 09:30 please');
    const id = await desk.chatId('fay');
    await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.chat.update({ where: { id }, data: { kind: 'group' } }),
    );
    await desk.inbox.acceptMessage({
      channel: 'web',
      accountKey: desk.configuration.channels.web.accountKey,
      chatAddress: 'fay',
      chatKind: 'group',
      externalId: 'yes-of-anybody',
      kind: 'text',
      text: 'yes',
    });
    const { reason } = await desk.settled('yes-of-anybody');
    assert.notEqual(reason, 'answers our question; the run goes on');
    assert.equal(await bookings(), before);
  });

  it('drops what was to be confirmed when the customer asks for something else', async () => {
    const before = await bookings();
    await desk.ask('eve', 'Book Friday at 16:30 please');
    const again = await desk.ask('eve', 'Make it Friday at 17:00');
    assert.match(again.join('\n'), /17:00/);
    await desk.settled(await desk.send('eve', 'yes'));
    const replies = await desk.repliesWithin('eve', 3);
    assert.ok(replies.some((reply) => /booked for Friday.*17:00/.test(reply.text)));
    assert.equal(await bookings(), before + 1);
  });
});
