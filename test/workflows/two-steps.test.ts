// A run of two steps: the second one never runs after a first one that did not come off, whatever the reason.
import assert from 'node:assert/strict';
import type { StepOutcome } from '../../workflows/domain/plan.js';
import { planOf, startRunKit, type RunKit } from './run-kit.js';

const done: StepOutcome = { kind: 'succeeded', resultId: 'result', partial: false };

const TABLE: [what: string, first: StepOutcome, executed: string[]][] = [
  ['came off', done, ['first', 'second']],
  ['was declined by its tool', { ...done, declined: true }, ['first']],
  ['failed', { kind: 'failed', code: 'TOOL_PROVIDER_ERROR', retry: false }, ['first']],
  ['was refused', { kind: 'refused', reason: 'not_approved' }, ['first']],
  ['may have happened', { kind: 'unknown', stepId: 'first' }, ['first']],
];

describe('the second of two steps', function () {
  this.timeout(60_000);
  let kit: RunKit;
  let executed: string[] = [];
  let first: StepOutcome = done;
  let summaries = 0;
  before(async () => {
    kit = await startRunKit({
      ...planOf(['first', 'second']),
      async executeStep({ stepId }) {
        executed.push(stepId);
        return stepId === 'first' ? first : done;
      },
      async summarize({ turnId }) {
        summaries += 1;
        return { outboxId: turnId, kind: 'answer' };
      },
    });
  });
  after(() => kit.stop());

  for (const [what, outcome, expected] of TABLE) {
    it(`${expected.length === 2 ? 'runs' : 'never runs'} when the first ${what}`, async () => {
      [executed, first, summaries] = [[], outcome, 0];
      await (await kit.start()).result();
      assert.deepEqual(executed, expected);
      assert.equal(summaries, 1, 'what came of it is told, once');
    });
  }
});
