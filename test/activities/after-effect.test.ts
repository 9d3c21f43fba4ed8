// Once something has happened, no failure of ours may sound as if it had not.
import assert from 'node:assert/strict';
import { createActivities } from '../../activities/index.js';
import { outboxText } from '../../prisma/stores/outbox.js';
import { startDesk, type Desk } from '../support/desk.js';

describe('after an effect', function () {
  this.timeout(60_000);
  let desk: Desk;

  before(async () => {
    desk = await startDesk();
  });
  after(() => desk.stop());

  async function book(chat: string, time: string): Promise<{ id: string; turnId: string }> {
    await desk.model.clear();
    await desk.model.script({
      withTools: true,
      toolUse: [{ name: 'reserve_slot', input: { date: '2026-12-15', time } }],
    });
    const id = await desk.send(chat, `Book me a slot at ${time}`);
    const { ref, turnId } = await desk.openApproval();
    await desk.model.script({ withTools: false, status: 400, message: 'no such model' });
    assert.equal(await desk.decide(ref, 'approve'), 'decided');
    return { id, turnId };
  }

  it('the customer hears of it although no model can put it into words', async () => {
    const { id } = await book('no-words', '10:00');
    assert.equal((await desk.settled(id)).state, 'answered');
    const last = (await desk.replies('no-words')).at(-1);
    assert.match(last?.text ?? '', /booked for Tuesday 15 December/);
  });

  it('an apology says what was done, instead of asking to try again', async () => {
    const { id, turnId } = await book('apology', '11:00');
    await desk.settled(id);
    assert.match(await apologyFor(turnId), /booked for Tuesday 15 December/);
  });

  it('no apology is made where the last word was written already', async () => {
    const { id, turnId } = await book('twice', '15:00');
    await desk.settled(id);
    const before = await desk.replies('twice');
    const { deliver, apologize } = createActivities(desk.deps);
    const { tenantId } = desk;
    const { outboxId } = await apologize({ tenantId, turnId, reason: 'assistant_unavailable' });
    await deliver({ tenantId, outboxId });
    assert.deepEqual(await desk.replies('twice'), before);
  });

  it('an apology for what nobody can tell says so, and leaves it to the owner', async () => {
    const { id, turnId } = await book('unknown', '14:00');
    await desk.settled(id);
    // As if the run had ended before it could say anything.
    await desk.database.inTenant(desk.tenantId, async (tx) => {
      await tx.step.updateMany({ where: { turnId }, data: { state: 'started' } });
      await tx.outbox.updateMany({
        where: { turnId, originKind: 'summary' },
        data: { originKind: 'unsaid' },
      });
    });
    assert.match(await apologyFor(turnId), /couldn't make sure/);
    const step = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.step.findFirstOrThrow({ where: { turnId }, select: { state: true } }),
    );
    assert.equal(step.state, 'unknown');
  });

  async function apologyFor(turnId: string): Promise<string> {
    const { tenantId } = desk;
    const { apologize } = createActivities(desk.deps);
    const { outboxId } = await apologize({ tenantId, turnId, reason: 'assistant_unavailable' });
    return (await desk.inScope(tenantId, (scope) => outboxText(scope, outboxId))) ?? '';
  }
});
