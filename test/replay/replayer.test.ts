// What a replay says when the code has changed since: each change is made once, in a copy of the workflows, and replayed
// against golden histories.
import assert from 'node:assert/strict';
import { installQuietRuntime } from '../../bench/desk.js';
import { readHistory, UnreadableHistoryError } from '../../worker/replay/read-history.js';
import { createReplayer, type Replayer } from '../../worker/replay/replayer.js';
import { reportOf, type ReplayReport } from '../../worker/replay/words.js';
import { changedWorkflows, golden, goldenText, type ChangedWorkflows } from '../support/golden.js';

const CONCLUDE = 'async function conclude(run: ToolRunInput): Promise<void> {';

/** All changes in one copy, so that it is bundled once; the end of the workflow id, which no command depends on, says which. */
const CHANGED: [was: string, is: string][] = [
  ['  condition,\n', '  condition,\n  patched,\n  workflowInfo,\n'],
  [
    'const { candidates } = await detect(turn);',
    "const { candidates } = isChange('leaves-out') ? { candidates: [] } : await detect(turn);",
  ],
  [
    'const planned = await plan(turn);',
    `const planned = await plan(isChange('other-arguments') ? { ...turn, again: true } : turn);
     if (isChange('pauses')) await condition(() => false, 90_000);
     if (isChange('throws')) throw new TypeError('no such thing');`,
  ],
  [
    CONCLUDE,
    `const isChange = (name: string): boolean => workflowInfo().workflowId.endsWith(name);
     ${CONCLUDE}
     if (isChange('ends')) return;
     if (isChange('looks-again')) await detect({ tenantId: run.tenantId, turnId: run.turnId });
     if (isChange('patched') && patched('look-again')) await detect({ tenantId: run.tenantId, turnId: run.turnId });`,
  ],
];

interface Change {
  name: string;
  change: string;
  expected: Partial<NonNullable<ReplayReport['difference']>> & { outcome: ReplayReport['outcome'] };
  says: RegExp[];
}

const CHANGES: Change[] = [
  {
    name: 'leaves-out',
    change: 'an activity that is left out',
    expected: { outcome: 'differs', eventId: 5, history: 'activity detect', today: 'activity plan' },
    says: [/^Differs at event 5\.$/m, /^ +- +5 +activity detect$/m, /^ +\+ +activity plan$/m, /patched\('/],
  },
  {
    name: 'pauses',
    change: 'a pause between two activities',
    expected: { outcome: 'differs', eventId: 17, history: 'activity validate', today: 'timer of 1.5 min' },
    says: [/^Differs at event 17\.$/m, /^ +11 +activity plan$/m],
  },
  {
    name: 'looks-again',
    change: 'one more activity before the last word',
    expected: { outcome: 'differs', eventId: 29, history: 'activity summarize', today: 'activity detect' },
    says: [/once this code is deployed/],
  },
  {
    name: 'ends',
    change: 'a run that ends without a word',
    expected: {
      outcome: 'differs',
      eventId: 29,
      history: 'activity summarize',
      today: 'end of the workflow',
    },
    says: [/Today’s code: +end of the workflow/],
  },
  {
    name: 'throws',
    change: 'code that throws',
    expected: { outcome: 'breaks' },
    says: [/^Breaks\. Today’s code throws TypeError: no such thing$/m, /^ +After: +activity plan$/m],
  },
  {
    name: 'other-arguments',
    change: 'other arguments of an activity, which break nothing',
    expected: { outcome: 'same' },
    says: [/^Same\./m, /event 11: activity plan would get other arguments/],
  },
  {
    name: 'patched',
    change: 'that nothing differs where the new way stands behind patched()',
    expected: { outcome: 'same' },
    says: [/^Same\. Today’s code gives the same 7 commands\.$/m],
  },
];

describe('a replay on changed code', function () {
  this.timeout(60_000);
  let changed: ChangedWorkflows;
  let replayer: Replayer;
  before(async () => {
    installQuietRuntime();
    changed = changedWorkflows({ 'tool-run/workflow.ts': CHANGED });
    replayer = await createReplayer({ workflowsPath: changed.path });
  });
  after(() => changed.remove());

  for (const { name, change, expected, says } of CHANGES) {
    it(`tells ${change}`, async () => {
      const { workflowId } = golden('tool-read.run-1');
      const history = readHistory(goldenText('tool-read.run-1'), { workflowId: `${workflowId}-${name}` });
      const report = reportOf(history, await replayer.replay(history));
      const { outcome, ...difference } = expected;
      assert.equal(report.outcome, outcome, report.words.join('\n'));
      assert.equal(report.isSame, outcome === 'same');
      for (const [key, value] of Object.entries(difference)) {
        assert.equal(Reflect.get(report.difference ?? {}, key), value, key);
      }
      if (outcome !== 'same') {
        assert.match(report.difference?.lookAt ?? '', /^workflows\/tool-run\/workflow\.ts:\d+/);
      }
      for (const words of says) assert.match(report.words.join('\n'), words);
    });
  }
});

describe('a replay', function () {
  this.timeout(60_000);
  let replayer: Replayer;
  before(async () => {
    installQuietRuntime();
    replayer = await createReplayer();
  });

  const replay = async (text: string, workflowId?: string): Promise<ReplayReport> => {
    const history = readHistory(text, { workflowId });
    return reportOf(history, await replayer.replay(history));
  };

  it('tells what failed when it was recorded, and how it ended', async () => {
    const report = await replay(goldenText('planner-away.run-1'));
    assert.equal(report.outcome, 'same');
    assert.match(report.ended ?? '', /^failed: MODEL_REQUEST_REFUSED: /);
    assert.deepEqual(
      report.recorded.map(({ eventId, what }) => [eventId, what.split(':')[0]]),
      [[13, 'plan failed']],
    );
    assert.match(report.words.join('\n'), /comes to the same end/);
  });

  it('takes a history as the Temporal UI gives it, without the workflow id beside it', async () => {
    const { workflowId, history } = JSON.parse(goldenText('normal-chat.conversation'));
    const report = await replay(JSON.stringify(history));
    assert.deepEqual([report.workflowId, report.outcome], [workflowId, 'same']);
  });

  it('takes a history of a run that is under way', async () => {
    const { history } = JSON.parse(goldenText('approval-approved.run-1'));
    const waiting = history.events.slice(0, 30);
    const report = await replay(JSON.stringify({ events: waiting }));
    assert.equal(report.outcome, 'same', report.words.join('\n'));
    assert.equal(report.ended, undefined);
    assert.match(report.words.join('\n'), /was still under way/);
  });

  it('would notice a changed activity in a history that was made by hand, too', async () => {
    const bare = goldenText('tool-read.run-1').replaceAll(/"sdkMetadata": \{[^}]*\},/g, '');
    assert.doesNotMatch(bare, /sdkMetadata/);
    assert.equal((await replay(bare)).outcome, 'same');
    const report = await replay(bare.replaceAll('"validate"', '"execute"'));
    assert.equal(report.outcome, 'differs');
    assert.match(report.difference?.sdkSays ?? '', /TMPRL1100/, 'the SDK itself says so');
    assert.match(report.words.join('\n'), /made by hand\?/);
  });

  it('says that a patch was taken out too early', async () => {
    const report = await replay(withPatch(goldenText('tool-read.run-1'), 'look-again'));
    assert.equal(report.outcome, 'patchGone');
    assert.match(
      report.words.join('\n'),
      /made with the patch look-again, which today’s code doesn’t ask for/,
    );
    assert.match(report.words.join('\n'), /put patched\(\) back/);
  });

  it('says that a workflow type is gone', async () => {
    const report = await replay(
      goldenText('tool-read.run-1').replaceAll('toolRunWorkflow', 'oldRunWorkflow'),
    );
    assert.equal(report.outcome, 'unknownWorkflow');
    assert.match(report.words.join('\n'), /Today’s code has no workflow oldRunWorkflow\./);
  });

  for (const [what, text, problem] of [
    ['no JSON', 'events', /no JSON/],
    ['something else', '{"events":[{"eventId":"one"}]}', /no history of Temporal: events\.0\.eventId/],
    ['a history without its beginning', '{"events":[{"eventId":"5"}]}', /lacks its beginning/],
  ] as const) {
    it(`refuses ${what} in words`, () => {
      assert.throws(
        () => readHistory(text),
        (error) => error instanceof UnreadableHistoryError && problem.test(error.message),
      );
    });
  }
});

/** The same history as a run would have left it that asked for a patch first: a marker after its first task. */
function withPatch(text: string, id: string): string {
  const at = 5;
  const shifted = text.replaceAll(/"(\w*[eE]ventId)": "(\d+)"/g, (whole, key: string, number: string) =>
    Number(number) >= at ? `"${key}": "${Number(number) + 1}"` : whole,
  );
  const whole = JSON.parse(shifted);
  const data = Buffer.from(JSON.stringify({ id, deprecated: false })).toString('base64');
  const encoding = Buffer.from('json/plain').toString('base64');
  whole.history.events.splice(at - 1, 0, {
    eventId: String(at),
    eventTime: whole.history.events[0].eventTime,
    eventType: 'EVENT_TYPE_MARKER_RECORDED',
    markerRecordedEventAttributes: {
      markerName: 'core_patch',
      details: { 'patch-data': { payloads: [{ metadata: { encoding }, data }] } },
      workflowTaskCompletedEventId: '4',
    },
  });
  return JSON.stringify(whole);
}
