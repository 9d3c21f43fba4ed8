// What was decided once is continued for a while only (spec C4): no yes is waited for longer, and a later one is none.
import assert from 'node:assert/strict';
import { startDesk, type Desk } from '../../support/desk.js';

const DECISION_SECONDS = 15;

describe('a yes to what was decided too long ago', function () {
  this.timeout(120_000);
  let desk: Desk;
  before(async () => {
    const askThemselves = { name: 'ask-themselves', when: {}, then: 'confirm' } as const;
    desk = await startDesk({
      configure: (shipped) => ({
        ...shipped,
        limits: { ...shipped.limits, decisionMinutes: DECISION_SECONDS / 60 },
        policy: { ...shipped.policy, rules: [askThemselves] },
      }),
    });
  });
  after(async () => {
    await desk?.stop();
  });

  it('does nothing: the question is over with the decision, and the customer hears so', async () => {
    const [question] = await desk.ask('ada', 'Book Friday at 10:00 please');
    assert.match(question ?? '', /10:00/);
    const replies = await desk.repliesWithin('ada', 2, 60_000);
    assert.match(replies[1]?.text ?? '', /nothing has been arranged/);
    await desk.settled(await desk.send('ada', 'yes'), 60_000);
    assert.equal(await desk.database.inTenant(desk.tenantId, (tx) => tx.booking.count()), 0);
    assert.equal(
      await desk.database.inTenant(desk.tenantId, (tx) =>
        tx.approval.count({ where: { state: 'approved' } }),
      ),
      0,
    );
  });
});
