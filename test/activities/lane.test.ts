// The tool lane with real parts: what a customer says, what the owner decides, what the calendar holds in the end.
import assert from 'node:assert/strict';
import { startDesk, type Desk } from '../support/desk.js';

describe('the tool lane', function () {
  this.timeout(60_000);
  let desk: Desk;
  before(async () => {
    desk = await startDesk();
  });
  after(async () => {
    await desk.stop();
  });

  const bookings = (): Promise<number> =>
    desk.database.inTenant(desk.tenantId, (tx) => tx.booking.count({ where: { state: 'reserved' } }));

  it('answers small talk without a tool definition in the request', async () => {
    await desk.model.clear();
    const [reply] = await desk.ask('talk', 'Hello!');
    assert.match(reply ?? '', /help/i);
    const requests = await desk.model.requests();
    assert.equal(requests.length, 1);
    assert.equal(requests[0]?.body.tools, undefined);
  });

  it('answers from the calendar, and books only after the yes', async () => {
    const [free] = await desk.ask('ada', 'Is anything free on Saturday morning?');
    assert.match(free ?? '', /10:30/);
    const before = await bookings();
    const id = await desk.send('ada', 'Book 10:30 please');
    const { ref } = await desk.openApproval();
    assert.equal(await bookings(), before, 'nothing is booked before the yes');
    assert.equal(await desk.decide(ref, 'approve'), 'decided');
    assert.deepEqual(await desk.settled(id), { state: 'answered', reason: 'detector' });
    assert.equal(await bookings(), before + 1);
    const last = (await desk.replies('ada')).at(-1);
    assert.match(last?.text ?? '', /booked for .*10:30/i);
    assert.equal(last?.answers, id);
    assert.equal(await desk.decide(ref, 'approve'), 'already_decided');
  });

  it('never executes what was rejected, and tells the reason', async () => {
    const before = await bookings();
    const id = await desk.send('bo', 'Please book Friday at 14:00');
    const { ref, stepId } = await desk.openApproval();
    assert.equal(await desk.decide(ref, 'reject', 'we are at the fair that day'), 'decided');
    assert.equal((await desk.settled(id)).state, 'refused');
    assert.match((await desk.replies('bo')).at(-1)?.text ?? '', /fair/);
    assert.equal(await bookings(), before);
    const step = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.step.findUniqueOrThrow({ where: { id: stepId } }),
    );
    assert.equal(step.state, 'refused');
    assert.equal(step.startedAt, null);
  });

  it('asks back when something is missing, and completes it by the answer', async () => {
    const [question] = await desk.ask('cy', 'book me something');
    assert.match(question ?? '', /\?/);
    const id = await desk.send('cy', 'Monday at 9');
    const { ref } = await desk.openApproval();
    await desk.decide(ref, 'approve');
    await desk.settled(id);
    assert.match((await desk.replies('cy')).at(-1)?.text ?? '', /Monday .*09:00/);
  });
});
