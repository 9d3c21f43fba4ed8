// A run that has words for somebody else than its customer, on a real Temporal server and worker. What the activities answer is
// set by each test: here it is the order that counts, and what a failed or cancelled delivery leads to.
import assert from 'node:assert/strict';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { OutboxState } from '../../workflows/domain/message.js';
import { planOf, startRunKit, type RunKit } from './run-kit.js';

const WORDS = ['question', 'picture 1', 'picture 2'];

type Deliver = (outboxId: string) => Promise<OutboxState>;

/** Something that others wait for until it is opened. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('a run with words for an operator', function () {
  this.timeout(60_000);
  let kit: RunKit;
  /** What the run of the current test has caused, in order. */
  let log: string[] = [];
  let deliver: Deliver;
  let summarize: () => Promise<void>;

  beforeEach(() => {
    log = [];
    deliver = () => Promise.resolve('sent');
    summarize = () => Promise.resolve();
  });

  before(async () => {
    kit = await startRunKit({
      ...planOf(['step']),
      executeStep: async ({ stepId }) => ({
        kind: 'succeeded',
        resultId: stepId,
        partial: false,
        words: WORDS,
      }),
      async deliver({ outboxId }) {
        log.push(`${outboxId} begins`);
        const state = await deliver(outboxId);
        log.push(`${outboxId} ${state}`);
        return { state };
      },
      async summarize({ turnId }) {
        await summarize();
        log.push('summary');
        return { outboxId: turnId, kind: 'answer' };
      },
    });
  });
  after(() => kit.stop());

  const words = (): string[] => log.filter((line) => line !== 'summary');
  async function failedTasks(run: WorkflowHandle): Promise<number> {
    const { events } = await run.fetchHistory();
    return (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes).length;
  }

  it('says them one after the other, doesn’t keep its customer waiting, and ends after the last', async () => {
    const { opened, open } = gate();
    // Held until the customer's answer is written: nobody waits for an operator's phone.
    summarize = async () => open();
    deliver = async () => {
      await opened;
      return 'sent';
    };
    await (await kit.start()).result();
    assert.deepEqual(
      words(),
      WORDS.flatMap((each) => [`${each} begins`, `${each} sent`]),
    );
    assert.ok(log.indexOf('summary') < log.indexOf('question sent'));
  });

  for (const [name, fails] of Object.entries<Deliver>({
    'was refused': () => Promise.resolve('failed'),
    'is held': () => Promise.resolve('planned'),
    'could not be tried': () => Promise.reject(ApplicationFailure.nonRetryable('no database')),
  })) {
    it(`leaves the pictures of a question that ${name} to the sweep`, async () => {
      deliver = fails;
      await (await kit.start()).result();
      assert.deepEqual(
        words().filter((line) => line.endsWith('begins')),
        ['question begins'],
      );
      assert.ok(log.includes('summary'));
    });
  }

  it('goes on after a picture that did not arrive', async () => {
    deliver = async (outboxId) => (outboxId === 'picture 1' ? 'failed' : 'sent');
    await (await kit.start()).result();
    assert.deepEqual(words().at(-1), 'picture 2 sent');
  });

  it('ends when it is cancelled between two of them', async () => {
    const [asking, cancelled, sent] = [gate(), gate(), gate()];
    deliver = async () => {
      asking.open();
      await cancelled.opened;
      sent.open();
      return 'sent';
    };
    // The run is still at work when the second one would begin.
    summarize = async () => {
      await sent.opened;
      await new Promise((resolve) => setTimeout(resolve, 500));
    };
    const run = await kit.start();
    await asking.opened;
    await run.cancel();
    cancelled.open();
    await run.result();
    assert.deepEqual(words(), ['question begins', 'question sent']);
    assert.equal(await failedTasks(run), 0, 'the run never stood still');
  });
});
