// Which request an answer is of, when there are others: by its REF or its id, and never by being the latest.
import assert from 'node:assert/strict';
import { decide, type ApprovalKey, type DecisionOutcome } from '../../../prisma/stores/approvals.js';
import type { Approver } from '../../../workflows/domain/approval.js';
import { startStepBench, type StepBench, type Waiting } from '../../support/step-bench.js';

describe('an answer', function () {
  this.timeout(60_000);
  let bench: StepBench;
  before(async () => {
    bench = await startStepBench();
  });
  after(() => bench.close());

  const say = (
    decision: 'approve' | 'reject',
    key: ApprovalKey,
    approver: Approver = { surface: 'whatsapp', id: 'deniz' },
  ): Promise<DecisionOutcome> =>
    bench.inScope(bench.tenantId, ({ tx, content }) =>
      decide(tx, content, { tenantId: bench.tenantId, key, decision, approver }),
    );
  const stateOf = async ({ approvalId }: Waiting): Promise<string> =>
    (await bench.inTenant((tx) => tx.approval.findUniqueOrThrow({ where: { id: approvalId } }))).state;

  it('is of the request that is named, whichever was asked last', async () => {
    const first = await bench.waiting();
    const second = await bench.waiting();
    const latest = await bench.waiting();
    assert.equal((await say('approve', { ref: first.ref })).approvalId, first.approvalId);
    assert.equal((await say('reject', { approvalId: second.approvalId })).approvalId, second.approvalId);
    assert.deepEqual(await Promise.all([first, second, latest].map(stateOf)), [
      'approved',
      'rejected',
      'open',
    ]);
    const before = bench.shelf.calls.length;
    assert.equal((await bench.execute(latest.stepId)).kind, 'refused');
    assert.equal((await bench.execute(first.stepId)).kind, 'succeeded');
    assert.equal(bench.shelf.calls.length, before + 1);
  });

  it('by a code that is nobody’s is of none, also where a single request is open', async () => {
    const open = await bench.waiting();
    assert.equal((await say('approve', { ref: 'A-AAAA' })).outcome, 'unknown');
    assert.equal(await stateOf(open), 'open');
  });

  it('said twice at once is taken once', async () => {
    const asked = await bench.waiting();
    const outcomes = await Promise.all([1, 2, 3].map(() => say('approve', { ref: asked.ref })));
    assert.deepEqual(outcomes.map(({ outcome }) => outcome).toSorted(), [
      'already_decided',
      'already_decided',
      'decided',
    ]);
  });

  it('of two people at once is one of the two, and the other is told so', async () => {
    const asked = await bench.waiting();
    const outcomes = await Promise.all([
      say('approve', { ref: asked.ref }),
      say('reject', { ref: asked.ref }, { surface: 'console', id: 'mert' }),
    ]);
    const decided = outcomes.findIndex(({ outcome }) => outcome === 'decided');
    assert.equal(outcomes[1 - decided]?.outcome, 'already_decided');
    assert.equal(await stateOf(asked), decided === 0 ? 'approved' : 'rejected');
  });
});
