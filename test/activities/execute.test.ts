// The last door: the executing activity itself, called with every kind of yes that isn't one. Nothing runs, each refusal is
// audited. What passes is what was approved and nothing else: the same call, whatever its spelling.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { hashOfCall } from '../../activities/call-hash.js';
import { closeRun } from '../../prisma/stores/runs.js';
import { takeChat, releaseChat } from '../../prisma/stores/takeover.js';
import type { Json, JsonObject } from '../../workflows/domain/tool.js';
import { startStepBench, LEND, LOOK, type StepBench, type Waiting } from '../support/step-bench.js';

let bench: StepBench;

/** Nothing is called, the refusal is audited with its reason, and refused once is refused for good. */
async function refused(step: Waiting, reason: string): Promise<void> {
  const before = bench.shelf.calls.length;
  assert.deepEqual(await bench.execute(step.stepId), { kind: 'refused', reason });
  const refusals = (await bench.audited(step.stepId)).filter(({ event }) => event === 'step_refused');
  assert.deepEqual(
    refusals.map(({ facts }) => facts),
    [{ tool: LEND.name, reason }],
  );
  await bench.decide(step, 'approve');
  assert.equal((await bench.execute(step.stepId)).kind, 'refused');
  assert.equal(bench.shelf.calls.length, before);
}

const setApproval = (step: Waiting, data: Record<string, unknown>): Promise<unknown> =>
  bench.inTenant((tx) => tx.approval.update({ where: { id: step.approvalId }, data }));

describe('the executing activity', function () {
  this.timeout(60_000);
  before(async () => {
    bench = await startStepBench();
  });
  after(() => bench.close());

  it('carries out what was approved, once, and uses the yes up', async () => {
    const step = await bench.waiting();
    assert.equal(await bench.decide(step, 'approve'), 'decided');
    const before = bench.shelf.calls.length;
    const outcome = await bench.execute(step.stepId);
    assert.equal(outcome.kind, 'succeeded');
    assert.deepEqual(await bench.execute(step.stepId), outcome, 'asked again it tells the same');
    assert.equal(bench.shelf.calls.length, before + 1);
    const approval = await bench.inTenant((tx) =>
      tx.approval.findUniqueOrThrow({ where: { id: step.approvalId } }),
    );
    assert.equal(approval.state, 'used');
    assert.deepEqual(
      (await bench.audited(step.stepId)).map(({ event }) => event),
      ['policy_decided', 'step_started', 'step_succeeded'],
    );
  });

  it('hands over what the call has planned to say to others, also when its first answer was lost', async () => {
    const step = await bench.waiting();
    await bench.decide(step, 'approve');
    const planned = [randomUUID(), randomUUID()];
    bench.shelf.wordsOf = async ({ stepId }) => (stepId === step.stepId ? planned : []);
    try {
      const outcome = await bench.execute(step.stepId);
      assert.deepEqual([outcome.kind, Reflect.get(outcome, 'words')], ['succeeded', planned]);
      assert.deepEqual(await bench.execute(step.stepId), outcome);
      planned.length = 0;
      const { words, ...rest } = outcome as typeof outcome & { words?: unknown };
      assert.ok(words);
      assert.deepEqual(await bench.execute(step.stepId), rest, 'what was sent is no longer named');
    } finally {
      delete bench.shelf.wordsOf;
    }
  });

  it('tells apart what the tool has answered without doing it', async () => {
    bench.configure((configuration) => ({
      ...configuration,
      tools: [{ ...LEND, declinedWhen: { summary: ['Out of stock.'] } }, LOOK],
    }));
    try {
      for (const [summary, isDeclined] of [
        ['Lent.', false],
        ['Out of stock.', true],
      ] as const) {
        const step = await bench.waiting();
        await bench.decide(step, 'approve');
        bench.shelf.call = async () => ({ summary });
        const outcome = await bench.execute(step.stepId);
        assert.deepEqual([outcome.kind, 'declined' in outcome], ['succeeded', isDeclined], summary);
        assert.deepEqual(await bench.execute(step.stepId), outcome);
        const { declined } = await bench.inTenant((tx) =>
          tx.step.findUniqueOrThrow({ where: { id: step.stepId } }),
        );
        assert.equal(declined, isDeclined);
        const last = (await bench.audited(step.stepId)).at(-1);
        assert.deepEqual(last?.facts, { tool: LEND.name, ...(isDeclined && { result: 'declined' }) });
      }
    } finally {
      bench.configure((configuration) => ({ ...configuration, tools: [LEND, LOOK] }));
      bench.shelf.call = async () => ({ summary: 'Lent.' });
    }
  });

  it('keeps a yes when only that changes', async () => {
    const step = await bench.waiting();
    await bench.decide(step, 'approve');
    bench.configure((configuration) => ({
      ...configuration,
      tools: [{ ...LEND, declinedWhen: { summary: ['Out of stock.'] } }, LOOK],
    }));
    assert.equal((await bench.execute(step.stepId)).kind, 'succeeded');
    bench.configure((configuration) => ({ ...configuration, tools: [LEND, LOOK] }));
  });

  it('refuses without a yes', async () => {
    await refused(await bench.waiting(), 'not_approved');
  });

  it('refuses after a no', async () => {
    const step = await bench.waiting();
    await bench.decide(step, 'reject');
    await refused(step, 'not_approved');
  });

  it('refuses when the time for the yes was over', async () => {
    const step = await bench.waiting();
    await setApproval(step, { state: 'expired', decidedAt: new Date(), heardAt: new Date() });
    await refused(step, 'not_approved');
  });

  it('refuses a yes that was used', async () => {
    const step = await bench.waiting();
    await bench.decide(step, 'approve');
    await setApproval(step, { state: 'used', usedAt: new Date() });
    await refused(step, 'not_approved');
  });

  it('refuses a yes that nobody has given', async () => {
    const step = await bench.waiting();
    await setApproval(step, { state: 'approved', decidedAt: new Date() });
    await refused(step, 'not_approved');
  });

  it('refuses a yes for other arguments', async () => {
    const step = await bench.waiting();
    await bench.decide(step, 'approve');
    await setApproval(step, { argumentsHash: hashOfCall(LEND.name, { item: 'bike' }) });
    await refused(step, 'not_approved');
  });

  it('refuses a yes given under other terms', async () => {
    const step = await bench.waiting();
    await bench.decide(step, 'approve');
    await setApproval(step, { configHash: 'older' });
    await refused(step, 'not_approved');
  });

  it('refuses the yes of another step, and the yes of another chat', async () => {
    const [one, other] = [await bench.waiting(), await bench.waiting()];
    await bench.decide(other, 'approve');
    await refused(one, 'not_approved');
    const moved = await bench.waiting();
    await bench.decide(moved, 'approve');
    await setApproval(moved, { chatId: one.chatId });
    await refused(moved, 'not_approved');
  });

  it('refuses a customer’s yes where an owner’s is needed', async () => {
    const step = await bench.waiting();
    await setApproval(step, { gate: 'confirm' });
    assert.equal(await bench.decide(step, 'approve', { surface: 'chat', id: 'somebody' }), 'decided');
    await refused(step, 'not_approved');
  });

  it('refuses fewer yeses than are needed, and the yes of somebody who was not asked', async () => {
    const short = await bench.waiting();
    await bench.decide(short, 'approve');
    await setApproval(short, { needed: 2 });
    await refused(short, 'not_approved');
    const foreign = await bench.waiting();
    await bench.decide(foreign, 'approve');
    await setApproval(foreign, { approvers: ['somebody-else'] });
    await refused(foreign, 'not_approved');
  });

  it('refuses when the decision that the yes continues is over', async () => {
    const step = await bench.waiting({ decisionExpiresAt: Date.now() + 2_000 });
    await bench.decide(step, 'approve');
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    await refused(step, 'expired');
  });

  it('refuses an effect of a run that has ended: whoever resets it in Temporal repeats no more than its looking', async () => {
    const step = await bench.waiting();
    await bench.decide(step, 'approve');
    const { chatId, turnId } = step;
    await bench.inScope(bench.tenantId, (scope) => closeRun(scope, { turnId, chatId, to: 'failed' }));
    await refused(step, 'expired');
  });

  it('waits while a person has the chat, keeps the yes, and goes on when they give it back', async () => {
    const step = await bench.waiting();
    await bench.decide(step, 'approve');
    const until = new Date(Date.now() + 3_600_000);
    const { chatId } = step;
    await bench.inScope(bench.tenantId, (scope) => takeChat(scope, { chatId, by: 'owner:deniz', until }));
    const before = bench.shelf.calls.length;
    for (let attempt = 0; attempt < 2; attempt++) {
      assert.deepEqual(await bench.execute(step.stepId), { kind: 'parked', until: until.getTime() });
    }
    assert.equal(bench.shelf.calls.length, before);
    await bench.inScope(bench.tenantId, (scope) => releaseChat(scope, { chatId, by: 'owner:deniz' }));
    assert.equal((await bench.execute(step.stepId)).kind, 'succeeded');
    assert.equal(bench.shelf.calls.length, before + 1);
  });

  it('refuses without a yes also while a person has the chat', async () => {
    const step = await bench.waiting();
    const { chatId } = step;
    await bench.inScope(bench.tenantId, (scope) => takeChat(scope, { chatId, by: 'business' }));
    await refused(step, 'not_approved');
  });

  it('reads on while a person has the chat', async () => {
    const step = await bench.propose({ tool: LOOK.name });
    assert.equal((await bench.validate(step)).kind, 'accepted');
    const { chatId } = step;
    await bench.inScope(bench.tenantId, (scope) => takeChat(scope, { chatId, by: 'business' }));
    assert.equal((await bench.execute(step.stepId)).kind, 'succeeded');
  });

  it('knows no step that is not there', async () => {
    await assert.rejects(bench.execute(randomUUID()));
  });
});

describe('what was approved is what runs', function () {
  this.timeout(60_000);
  before(async () => {
    bench = await startStepBench();
  });
  after(() => bench.close());

  const ASKED: JsonObject = { item: 'Café pump', days: 1, note: 'before noon' };

  /** An approved step whose stored arguments somebody has changed since. */
  async function approvedThenStored(values: JsonObject): Promise<Waiting> {
    const step = await bench.waiting({ arguments: ASKED });
    await bench.decide(step, 'approve');
    await bench.inScope(bench.tenantId, async (scope) => {
      const row = await scope.tx.step.findUniqueOrThrow({ where: { id: step.stepId } });
      const key = await scope.content.dataKeyById(scope.tx, bench.tenantId, row.keyId);
      const place = { table: 'steps', column: 'arguments_cipher', rowId: step.stepId };
      const argumentsCipher = scope.content.sealText(key, { ...place, text: JSON.stringify(values) });
      await scope.tx.step.update({ where: { id: step.stepId }, data: { argumentsCipher } });
    });
    return step;
  }

  const CHANGED: [string, JsonObject][] = [
    ['one character', { ...ASKED, item: 'Café pumq' }],
    ['one space', { ...ASKED, note: 'before  noon' }],
    ['a letter’s case', { ...ASKED, item: 'café pump' }],
    ['another Unicode form (NFD for NFC)', { ...ASKED, item: 'Café pump'.normalize('NFD') }],
    ['a letter that looks the same', { ...ASKED, item: 'Cаfé pump' }],
    ['a hidden character', { ...ASKED, note: 'before\u200B noon' }],
    ['a number as text', { ...ASKED, days: '1' }],
    ['a slightly larger number', { ...ASKED, days: 1.000000000000001 }],
    ['an argument more', { ...ASKED, colour: 'red' }],
    ['an argument less', { item: 'Café pump', days: 1 }],
    ['null for a text', { ...ASKED, note: null }],
    ['a list around a text', { ...ASKED, note: ['before noon'] }],
  ];
  for (const [what, values] of CHANGED) {
    it(`${what}: refused`, async () => {
      await refused(await approvedThenStored(values), 'changed');
    });
  }

  const SAME: [string, JsonObject][] = [
    ['the order of the names', { note: 'before noon', days: 1, item: 'Café pump' }],
    [
      'the form of a number',
      JSON.parse('{"item":"Café pump","days":1.0e0,"note":"before noon"}') as JsonObject,
    ],
    [
      'the spelling of a text',
      JSON.parse('{"item":"Caf\\u00e9 pump","days":1.0,"note":"before noon"}') as JsonObject,
    ],
  ];
  for (const [what, values] of SAME) {
    it(`${what} makes no other call`, async () => {
      const step = await approvedThenStored(values);
      assert.equal((await bench.execute(step.stepId)).kind, 'succeeded');
    });
  }

  it('two calls have one hash exactly if they are the same JSON value', () => {
    const shuffled = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([name, member]) => [name, shuffled(member)]),
      );
    };
    const text = fc.string({ unit: 'grapheme', maxLength: 8 });
    const values = fc.dictionary(text, fc.jsonValue({ maxDepth: 2 })) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(values, values, (one, other) => {
        assert.equal(hashOfCall('t', one), hashOfCall('t', shuffled(one) as JsonObject));
        let isSame = true;
        try {
          assert.deepStrictEqual(normalised(one), normalised(other));
        } catch {
          isSame = false;
        }
        assert.equal(hashOfCall('t', one) === hashOfCall('t', other), isSame);
        assert.notEqual(hashOfCall('t', one), hashOfCall('u', one));
      }),
      { numRuns: 500 },
    );
  });
});

/** As JSON has it: there is no -0, and an object inherits nothing. */
function normalised(value: JsonObject): unknown {
  return JSON.parse(JSON.stringify(value));
}
