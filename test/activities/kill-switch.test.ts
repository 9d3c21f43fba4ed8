// The kill switch and a person who takes the chat, at the worst moments: between the claim and the call, and while many steps
// are about to start.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityDeps } from '../../activities/deps.js';
import { openOutgoing } from '../../prisma/stores/outbox.js';
import { effectsState, switchEffects, type EffectsSwitch } from '../../prisma/stores/switches.js';
import { releaseChat, takeChat } from '../../prisma/stores/takeover.js';
import type { StepOutcome } from '../../workflows/domain/plan.js';
import { until } from '../support/desk.js';
import { LOOK, startStepBench, type StepBench, type Waiting } from '../support/step-bench.js';

describe('the switch that stops every effect', function () {
  this.timeout(60_000);
  let bench: StepBench;
  before(async () => {
    bench = await startStepBench();
  });
  afterEach(() => turn('on'));
  after(() => bench.close());

  const turn = (to: EffectsSwitch): Promise<{ changed: boolean }> =>
    bench.inScope(bench.tenantId, (scope) => switchEffects(scope, { to, by: 'owner:deniz' }));

  async function approved(): Promise<Waiting> {
    const step = await bench.waiting();
    assert.equal(await bench.decide(step, 'approve'), 'decided');
    return step;
  }

  const stateOf = (step: Waiting): Promise<{ step: string; code: string | null; approval: string }> =>
    bench.inTenant(async (tx) => {
      const row = await tx.step.findUniqueOrThrow({ where: { id: step.stepId } });
      const approval = await tx.approval.findUniqueOrThrow({ where: { id: step.approvalId } });
      return { step: row.state, code: row.code, approval: approval.state };
    });

  /** The bench's own dependencies, with something that happens after the claim and before the look that follows it. */
  function interrupted(happens: () => Promise<unknown>): ActivityDeps {
    let count = 0;
    return {
      ...bench.deps,
      inScope: async (tenantId, work) => {
        const result = await bench.inScope(tenantId, work);
        count += 1;
        if (count === 1) await happens();
        return result;
      },
    };
  }

  /** As Temporal does it: what could not be started in time is tried again. */
  async function patiently(stepId: string): Promise<StepOutcome> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await bench.execute(stepId, { attempt });
      } catch (error) {
        if (attempt === 10 || !(error instanceof ApplicationFailure) || error.nonRetryable) throw error;
      }
    }
  }

  it('refuses what was approved before it, does not use the yes up, and says so honestly', async () => {
    const step = await approved();
    await turn('off');
    assert.deepEqual(await bench.execute(step.stepId), { kind: 'refused', reason: 'paused' });
    assert.deepEqual(await stateOf(step), { step: 'refused', code: 'TOOL_DISABLED', approval: 'approved' });
    const events = (await bench.audited(step.stepId)).map(({ event }) => event);
    assert.deepEqual(events, ['policy_decided', 'step_refused'], 'it was never started');
    await turn('on');
    assert.equal((await bench.execute(step.stepId)).kind, 'refused', 'refused once is refused for good');
    const { outboxId } = await bench.summarize(step);
    const said = await bench.inTenant((tx) => tx.outbox.findUniqueOrThrow({ where: { id: outboxId } }));
    assert.equal(said.kind, 'refusal');
    assert.equal(bench.shelf.calls.length, 0);
  });

  it('is what the customer hears of, also where they had confirmed it themselves', async () => {
    const { rules } = (await bench.tenant()).configuration.policy;
    const setRules = (given: typeof rules): void =>
      bench.configure((own) => ({ ...own, policy: { ...own.policy, rules: given } }));
    setRules([{ name: 'ask-themselves', when: {}, then: 'confirm' }]);
    const step = await bench.waiting();
    assert.equal(await bench.decide(step, 'approve', { surface: 'chat', id: 'whoever-asked' }), 'decided');
    await turn('off');
    assert.deepEqual(await bench.execute(step.stepId), { kind: 'refused', reason: 'paused' });
    setRules(rules);
    const { outboxId } = await bench.summarize(step);
    const { text } = await bench.inScope(bench.tenantId, async (scope) =>
      openOutgoing(scope, await scope.tx.outbox.findUniqueOrThrow({ where: { id: outboxId } })),
    );
    assert.match(text ?? '', /isn't available at the moment/);
  });

  it('refuses new effects before anybody is asked, and lets reading go on', async () => {
    await turn('off');
    const asked = await bench.validate(await bench.propose());
    assert.ok(asked.kind === 'rejected' && asked.check === 'effects_switched_off');
    assert.equal(asked.code, 'TOOL_DISABLED');
    const read = await bench.propose({ tool: LOOK.name });
    assert.equal((await bench.validate(read)).kind, 'accepted');
    assert.equal((await bench.execute(read.stepId)).kind, 'succeeded');
  });

  it('is audited when it changes, and only then', async () => {
    assert.deepEqual(await turn('on'), { changed: false });
    assert.deepEqual(await turn('off'), { changed: true });
    assert.deepEqual(await turn('off'), { changed: false });
    const state = await bench.inScope(bench.tenantId, effectsState);
    assert.deepEqual([state.value, state.changedBy], ['off', 'owner:deniz']);
    const rows = await bench.inTenant((tx) =>
      tx.audit.findMany({ where: { stream: 'tenant' }, orderBy: { number: 'desc' }, take: 1 }),
    );
    assert.deepEqual([rows[0]?.event, rows[0]?.actor], ['effects_switched_off', 'owner:deniz']);
  });

  it('stops a step that was claimed and not yet called, and gives its yes back', async () => {
    const step = await approved();
    const before = bench.shelf.calls.length;
    const deps = interrupted(() => turn('off'));
    assert.deepEqual(await bench.execute(step.stepId, { deps }), { kind: 'refused', reason: 'paused' });
    assert.equal(bench.shelf.calls.length, before);
    assert.deepEqual(await stateOf(step), { step: 'refused', code: 'TOOL_DISABLED', approval: 'approved' });
  });

  it('is seen by a process that was stalled after its look', async () => {
    const step = await approved();
    const before = bench.shelf.calls.length;
    let looks = 0;
    const deps: ActivityDeps = {
      ...bench.deps,
      inScope: async (tenantId, work) => {
        const result = await bench.inScope(tenantId, work);
        looks += 1;
        // The second transaction is the look before the call: what it saw is old by the time it is told.
        if (looks === 2) {
          await turn('off');
          await sleep(1_000);
        }
        return result;
      },
    };
    assert.deepEqual(await bench.execute(step.stepId, { deps }), { kind: 'refused', reason: 'paused' });
    assert.equal(bench.shelf.calls.length, before);
  });

  it('parks a step whose chat was taken after the claim, and carries it out once when it is given back', async () => {
    const step = await approved();
    const { chatId } = step;
    const before = bench.shelf.calls.length;
    const take = () => bench.inScope(bench.tenantId, (scope) => takeChat(scope, { chatId, by: 'business' }));
    assert.deepEqual(await bench.execute(step.stepId, { deps: interrupted(take) }), { kind: 'parked' });
    assert.deepEqual(await stateOf(step), { step: 'accepted', code: null, approval: 'approved' });
    assert.equal(bench.shelf.calls.length, before);
    await bench.inScope(bench.tenantId, (scope) => releaseChat(scope, { chatId, by: 'owner:deniz' }));
    assert.equal((await bench.execute(step.stepId)).kind, 'succeeded');
    assert.equal((await bench.execute(step.stepId)).kind, 'succeeded');
    assert.equal(bench.shelf.calls.length, before + 1);
    assert.deepEqual(
      (await bench.audited(step.stepId)).map(({ event }) => event),
      ['policy_decided', 'step_started', 'step_parked', 'step_started', 'step_succeeded'],
    );
  });

  it('is obeyed by forty steps that are about to start: none begins later than a second after it', async () => {
    const steps: Waiting[] = [];
    for (let index = 0; index < 40; index++) steps.push(await approved());
    bench.shelf.calls = [];
    const beganAt = Date.now();
    const outcomes = Promise.all(
      steps.map(async ({ stepId }, index) => {
        await sleep(50 * index);
        return patiently(stepId);
      }),
    );
    await until(async () => (bench.shelf.calls.length >= 5 ? true : undefined), 20_000, 'five calls');
    await turn('off');
    const switchedAt = Date.now();
    const kinds = (await outcomes).map(({ kind }) => kind);
    const executed = kinds.filter((kind) => kind === 'succeeded').length;
    const late = bench.shelf.calls.filter(({ startedAt }) => startedAt > switchedAt + 1_000);
    assert.deepEqual(
      late.map(({ startedAt }) => startedAt - beganAt),
      [],
    );
    assert.equal(executed, bench.shelf.calls.length);
    assert.ok(executed >= 5 && executed < 40, `${executed} of 40 began`);
    assert.equal(kinds.filter((kind) => kind === 'refused').length, 40 - executed);
  });
});
