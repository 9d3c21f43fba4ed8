// What one chat may ask of the owners: a cap on what waits at once, and one per hour. What is beyond is refused before anybody is
// asked, with a reason.
import assert from 'node:assert/strict';
import { openOutgoing } from '../../prisma/stores/outbox.js';
import type { Verdict } from '../../workflows/domain/plan.js';
import { startStepBench, LOOK, type StepBench, type Waiting } from '../support/step-bench.js';

describe('a chat that asks and asks', function () {
  this.timeout(240_000);
  let bench: StepBench;
  before(async () => {
    bench = await startStepBench();
  });
  after(() => bench.close());

  const ask = async (chat: string, item: string): Promise<Verdict> =>
    bench.validate(await bench.propose({ chat, arguments: { item } }));

  const asked = (chatId: string): Promise<number> =>
    bench.inTenant((tx) => tx.approval.count({ where: { chatId } }));

  it('200 times: the owner gets no more than the cap, and the rest is refused with a reason', async () => {
    const first = await bench.propose({ chat: 'ada', arguments: { item: 'no. 0' } });
    const verdicts = [await bench.validate(first)];
    for (let batch = 0; batch < 40; batch++) {
      const items = Array.from({ length: 5 }, (_, index) => `no. ${batch * 5 + index + 1}`).slice(
        0,
        batch === 39 ? 4 : 5,
      );
      // Each batch is checked at once: the chat's lock makes them count one after the other.
      const steps = [];
      for (const item of items) steps.push(await bench.propose({ chat: 'ada', arguments: { item } }));
      verdicts.push(...(await Promise.all(steps.map((step) => bench.validate(step)))));
    }
    assert.equal(verdicts.length, 200);
    const { limits } = (await bench.tenant()).configuration;
    const accepted = verdicts.filter(({ kind }) => kind === 'accepted');
    assert.equal(accepted.length, limits.openApprovalsPerChat);
    assert.equal(await asked(first.chatId), limits.openApprovalsPerChat);
    const refused = verdicts.filter((verdict) => verdict.kind === 'rejected');
    assert.equal(refused.length, 200 - accepted.length);
    assert.deepEqual([...new Set(refused.map(({ check }) => check))], ['open_approvals_per_chat']);
    // One after the other: two hundred transactions at once would wait for a connection longer than they may.
    for (const { outboxId } of refused)
      assert.match((await wordsOf(outboxId)) ?? '', /wait for an OK already/);
    const audited = await bench.inTenant((tx) =>
      tx.audit.findMany({ where: { stream: first.chatId, event: 'step_rejected' } }),
    );
    assert.equal(audited.length, refused.length);
    assert.equal((await ask('bo', 'no. 1')).kind, 'accepted', 'another chat has a count of its own');
    const read = await bench.propose({ chat: 'ada', tool: LOOK.name });
    assert.equal((await bench.validate(read)).kind, 'accepted', 'reading asks nobody');
  });

  it('within an hour, also where each request was answered', async () => {
    const { limits } = (await bench.tenant()).configuration;
    for (let index = 0; index < limits.approvalsPerChatAndHour; index++) {
      const step: Waiting = await bench.waiting({ chat: 'cy', arguments: { item: `no. ${index}` } });
      await bench.decide(step, 'reject');
    }
    const refused = await ask('cy', 'one more');
    assert.ok(refused.kind === 'rejected' && refused.check === 'approvals_per_chat_and_hour');
    assert.equal(refused.code, 'TOOL_POLICY_DENIED');
    const lastHour = new Date(Date.now() - 3_601_000);
    await bench.inTenant((tx) => tx.approval.updateMany({ data: { askedAt: lastHour } }));
    assert.equal((await ask('cy', 'an hour later')).kind, 'accepted');
  });

  it('the same again after a lost answer is the same request, not one more', async () => {
    const step = await bench.propose({ chat: 'dan' });
    const first = await bench.validate(step);
    for (let attempt = 0; attempt < 5; attempt++) assert.deepEqual(await bench.validate(step), first);
    assert.equal(await asked(step.chatId), 1);
    const decided = (await bench.audited(step.stepId)).filter(({ event }) => event === 'policy_decided');
    assert.equal(decided.length, 1);
  });

  const wordsOf = (outboxId: string): Promise<string | undefined> =>
    bench.inScope(bench.tenantId, async (scope) => {
      const row = await scope.tx.outbox.findUniqueOrThrow({ where: { id: outboxId } });
      return (await openOutgoing(scope, row)).text;
    });
});
