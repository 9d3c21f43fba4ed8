// Effects of which nobody knows whether they happened: never called again, settled by their tool's own check or by a person.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { settleUnknown } from '../../activities/execution/settle-unknown.js';
import { ToolCallError } from '../../activities/tools/provider.js';
import { openOutgoing } from '../../prisma/stores/outbox.js';
import { refOfUnknown, stepOfUnknownRef, type SettledUnknown } from '../../prisma/stores/unknown-steps.js';
import { LEND, startStepBench, type StepBench, type Waiting } from '../support/step-bench.js';

describe('an effect', function () {
  this.timeout(60_000);
  let bench: StepBench;
  before(async () => {
    bench = await startStepBench();
  });
  beforeEach(() => {
    bench.shelf.calls = [];
    bench.shelf.call = async () => ({ summary: 'Lent.' });
    delete bench.shelf.didItHappen;
  });
  after(() => bench.close());

  async function approved(): Promise<Waiting> {
    const step = await bench.waiting();
    assert.equal(await bench.decide(step, 'approve'), 'decided');
    return step;
  }

  const rowOf = (stepId: string) =>
    bench.inTenant((tx) => tx.step.findUniqueOrThrow({ where: { id: stepId } }));
  const runOf = (turnId: string) =>
    bench.inTenant((tx) => tx.toolRun.findUniqueOrThrow({ where: { turnId } }));

  const unsettled =
    (least = 0, most = Number.POSITIVE_INFINITY) =>
    (error: unknown) => {
      assert.ok(error instanceof ApplicationFailure);
      assert.equal(error.type, 'EFFECT_UNSETTLED');
      const delay = typeof error.nextRetryDelay === 'number' ? error.nextRetryDelay : 0;
      assert.ok(delay >= least && delay <= most, `asked again after ${delay} ms`);
      return true;
    };

  /** Called, without an answer; its deadline was so long ago. */
  async function unanswered(sinceDeadlineMs: number): Promise<Waiting> {
    const step = await approved();
    bench.shelf.call = () => Promise.reject(new ToolCallError('unclear'));
    await assert.rejects(bench.execute(step.stepId), unsettled());
    const callBy = new Date(Date.now() - sinceDeadlineMs);
    await bench.inTenant((tx) => tx.step.update({ where: { id: step.stepId }, data: { callBy } }));
    return step;
  }

  it('gets what the runtime knows and the model may not say', async () => {
    const step = await approved();
    await bench.execute(step.stepId);
    const { contactId } = await bench.inTenant((tx) =>
      tx.chat.findUniqueOrThrow({ where: { id: step.chatId } }),
    );
    assert.deepEqual(bench.shelf.calls[0]?.arguments, {
      item: 'pump',
      contact_id: contactId,
      time_zone: 'Europe/Istanbul',
    });
  });

  it('whose answer is not of the promised form is unknown, and is not called again', async () => {
    const step = await approved();
    bench.shelf.call = async () => ({ summary: 7 });
    assert.deepEqual(await bench.execute(step.stepId), { kind: 'unknown', stepId: step.stepId });
    assert.deepEqual(await bench.execute(step.stepId), { kind: 'unknown', stepId: step.stepId });
    assert.equal(bench.shelf.calls.length, 1);
    assert.equal((await runOf(step.turnId)).state, 'unknown');
    const ref = await bench.inScope(bench.tenantId, (scope) => refOfUnknown(scope, step.stepId));
    assert.match(ref ?? '', /^[ACDEFGHJKLMNPQRTUVWXY]-[ACDEFGHJKLMNPQRTUVWXY34679]{4}$/);
    const found = await bench.inScope(bench.tenantId, (scope) => stepOfUnknownRef(scope, ref ?? ''));
    assert.equal(found, step.stepId);
  });

  it('that had begun when its tool was switched off is unknown, not refused', async () => {
    const step = await unanswered(60_000);
    bench.configure((own) => ({ ...own, tools: own.tools.map((tool) => ({ ...tool, enabled: false })) }));
    assert.deepEqual(await bench.execute(step.stepId), { kind: 'unknown', stepId: step.stepId });
    bench.configure((own) => ({ ...own, tools: own.tools.map((tool) => ({ ...tool, enabled: true })) }));
    assert.equal(bench.shelf.calls.length, 1);
    assert.equal((await bench.audited(step.stepId)).at(-1)?.event, 'step_unknown');
  });

  it('that had begun stays an effect, also where configuration calls its tool reading since', async () => {
    const step = await unanswered(60_000);
    const calls = (effect: 'read' | 'irreversible'): void =>
      bench.configure((own) => ({
        ...own,
        tools: own.tools.map((tool) => (tool.name === LEND.name ? { ...tool, effect } : tool)),
      }));
    calls('read');
    assert.equal((await bench.execute(step.stepId)).kind, 'unknown');
    calls('irreversible');
    assert.equal(bench.shelf.calls.length, 1);
  });

  it('is asked about five seconds after its deadline, and not before', async () => {
    let asked = 0;
    const step = await unanswered(4_000);
    bench.shelf.didItHappen = async () => {
      asked += 1;
      return { summary: 'It was lent.' };
    };
    await assert.rejects(bench.execute(step.stepId, { attempt: 2 }), unsettled(500, 1_001));
    assert.equal(asked, 0);
    const callBy = new Date(Date.now() - 5_001);
    await bench.inTenant((tx) => tx.step.update({ where: { id: step.stepId }, data: { callBy } }));
    assert.equal((await bench.execute(step.stepId, { attempt: 3 })).kind, 'succeeded');
    assert.equal(asked, 1);
    assert.equal(bench.shelf.calls.length, 1, 'it was called once');
  });

  it('that certainly did not happen is called again, as the first time', async () => {
    const step = await unanswered(60_000);
    bench.shelf.didItHappen = async () => false;
    bench.shelf.call = async () => ({ summary: 'Lent.' });
    assert.equal((await bench.execute(step.stepId, { attempt: 2 })).kind, 'succeeded');
    assert.equal(bench.shelf.calls.length, 2);
    assert.equal(new Set(bench.shelf.calls.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
  });

  it('that certainly did not happen needs everything once more: a decision that is over, and a policy that says no, end it', async () => {
    const step = await unanswered(60_000);
    bench.shelf.didItHappen = async () => false;
    bench.shelf.call = async () => ({ summary: 'Lent.' });
    const closed = { name: 'closed', when: {}, then: 'deny' } as const;
    bench.configure((own) => ({ ...own, policy: { ...own.policy, rules: [closed] } }));
    try {
      assert.deepEqual(await bench.execute(step.stepId, { attempt: 2 }), {
        kind: 'refused',
        reason: 'changed',
      });
    } finally {
      bench.configure((own) => ({ ...own, policy: { ...own.policy, rules: [] } }));
    }
    assert.equal(bench.shelf.calls.length, 1);
  });

  it('is not begun after its deadline, however fresh the look before it is', async () => {
    const step = await approved();
    const { inScope } = bench;
    let transactions = 0;
    const stalled: typeof inScope = async (tenantId, work) => {
      transactions += 1;
      // Between the claim and the look: longer than the tool may take.
      if (transactions === 2) await sleep(LEND.timeoutMs + 200);
      return inScope(tenantId, work);
    };
    const deps = { ...bench.deps, inScope: stalled };
    await assert.rejects(bench.execute(step.stepId, { deps }), unsettled());
    assert.equal(bench.shelf.calls.length, 0);
    assert.equal((await rowOf(step.stepId)).state, 'accepted');
    assert.equal((await bench.execute(step.stepId, { attempt: 2 })).kind, 'succeeded');
    assert.equal(bench.shelf.calls.length, 1);
  });

  it('that another worker has taken over is neither settled nor closed by the slow one', async () => {
    const step = await approved();
    bench.shelf.call = async () => {
      // While this call lasts, another worker gives the step a fence of its own.
      const fence = '11111111-1111-4111-8111-111111111111';
      await bench.inTenant((tx) => tx.step.update({ where: { id: step.stepId }, data: { fence } }));
      return { summary: 7 };
    };
    await assert.rejects(bench.execute(step.stepId), unsettled());
    assert.equal((await rowOf(step.stepId)).state, 'started');
    assert.equal((await runOf(step.turnId)).open, true);
  });

  describe('that is unknown, and about which a person has found out', () => {
    async function unknown(): Promise<Waiting> {
      const step = await unanswered(60_000);
      assert.equal((await bench.execute(step.stepId)).kind, 'unknown');
      return step;
    }

    const settle = async (step: Waiting, happened: boolean): Promise<SettledUnknown> => {
      const tenant = await bench.tenant();
      const { stepId } = step;
      return bench.inScope(bench.tenantId, (scope) =>
        settleUnknown(scope, tenant, { stepId, happened, by: 'owner:deniz' }),
      );
    };

    const wordsOf = (outboxId: string): Promise<string | undefined> =>
      bench.inScope(bench.tenantId, async (scope) => {
        const row = await scope.tx.outbox.findUniqueOrThrow({ where: { id: outboxId } });
        return (await openOutgoing(scope, row)).text;
      });

    for (const happened of [true, false]) {
      it(`${happened ? 'that it happened' : 'that it did not'}: it is closed as that, once, and the customer hears it`, async () => {
        const step = await unknown();
        const { outboxId } = await bench.summarize(step);
        assert.match((await wordsOf(outboxId)) ?? '', /couldn't make sure/);
        const { ref } = await rowOf(step.stepId);
        const settled = await settle(step, happened);
        assert.ok(settled.outcome === 'settled' && settled.outboxId !== undefined);
        assert.match(
          (await wordsOf(settled.outboxId)) ?? '',
          happened ? /it did go through/ : /did not go through/,
        );
        const state = happened ? 'succeeded' : 'failed';
        assert.equal((await rowOf(step.stepId)).state, state);
        assert.deepEqual([(await runOf(step.turnId)).state, (await runOf(step.turnId)).open], [state, false]);
        assert.deepEqual((await bench.audited(step.stepId)).at(-1), {
          event: 'step_settled',
          actor: 'owner:deniz',
          facts: { tool: LEND.name, ref, happened },
        });
        assert.deepEqual(await settle(step, !happened), { outcome: 'not_unknown', state });
        assert.equal((await bench.execute(step.stepId)).kind, state);
        assert.equal(bench.shelf.calls.length, 1, 'nothing is repeated');
      });
    }

    it('before the run has spoken: the run says it, and nobody says it twice', async () => {
      const step = await unknown();
      const settled = await settle(step, true);
      assert.ok(settled.outcome === 'settled' && settled.outboxId === undefined);
      const { outboxId } = await bench.summarize(step);
      assert.match((await wordsOf(outboxId)) ?? '', /it did go through/);
    });

    it('by a step that is not there: nothing', async () => {
      const step = { ...(await bench.propose()), approvalId: '', ref: '' };
      assert.deepEqual(await settle(step, true), { outcome: 'not_unknown', state: 'proposed' });
      assert.deepEqual(await settle({ ...step, stepId: step.chatId }, true), { outcome: 'no_such_step' });
    });
  });
});
