// Every golden history replays on today's code. A change of commands that isn't patched breaks runs under way: it fails
// here, by the name of the history, and says at which event and in which file.
import assert from 'node:assert/strict';
import { installQuietRuntime } from '../../bench/desk.js';
import { createReplayer, type Replayer } from '../../worker/replay/replayer.js';
import { reportOf, type ReplayReport } from '../../worker/replay/words.js';
import { changedWorkflows, golden, goldenNames, type ChangedWorkflows } from '../support/golden.js';
import { decideCommandsOf, executesOnlyAfterYes } from '../support/histories.js';

const names = goldenNames();

async function replay(replayer: Replayer, name: string): Promise<ReplayReport> {
  const history = golden(name);
  return reportOf(history, await replayer.replay(history));
}

describe('golden histories', function () {
  this.timeout(60_000);
  let replayer: Replayer;
  before(async () => {
    installQuietRuntime();
    replayer = await createReplayer();
  });

  it('are there, of every kind', () => {
    assert.ok(names.length >= 25, `${names.length} found`);
  });

  for (const name of names) {
    it(`replay ${name}`, async () => {
      const report = await replay(replayer, name);
      assert.ok(report.isSame, report.words.join('\n'));
    });
  }
});

describe('a workflow that was changed without a patch', function () {
  this.timeout(120_000);
  const runs = names.filter((name) => name.includes('.run-'));
  const confirmed = runs.filter((name) => activitiesOf(name).includes('settleApproval'));
  let changed: ChangedWorkflows;
  let replayer: Replayer;
  before(async () => {
    installQuietRuntime();
    changed = changedWorkflows({
      'tool-run/workflow.ts': [
        [
          'settleApproval({ tenantId: run.tenantId,',
          'apologize({ reason: "could_not_start", tenantId: run.tenantId,',
        ],
      ],
    });
    replayer = await createReplayer({ workflowsPath: changed.path });
  });
  after(() => changed.remove());

  it('is caught by the names of the histories that it breaks, and by no others', async () => {
    assert.ok(confirmed.length >= 5, `${confirmed.length} histories wait for a yes`);
    const broken: string[] = [];
    for (const name of runs) if (!(await replay(replayer, name)).isSame) broken.push(name);
    assert.deepEqual(broken, confirmed);
  });

  it('is caught with the event, both sides and the file to look at', async () => {
    const { difference } = await replay(replayer, 'approval-approved.run-1');
    assert.equal(difference?.history, 'activity settleApproval');
    assert.equal(difference.today, 'activity apologize');
    assert.ok((difference.eventId ?? 0) > 20);
    assert.match(difference.lookAt ?? '', /^workflows\/tool-run\/workflow\.ts:\d+$/);
  });
});

function activitiesOf(name: string): string[] {
  return golden(name).commands.flatMap(({ command }) => (command.kind === 'activity' ? [command.name] : []));
}

describe('recorded runs', () => {
  for (const name of names.filter((one) => one.includes('.run-'))) {
    it(`${name} executes nothing that waited without a yes`, () => {
      assert.ok(executesOnlyAfterYes(decideCommandsOf(golden(name).history)));
    });
  }

  it('would be caught executing after a no', () => {
    const commands = decideCommandsOf(golden('approval-rejected.run-1').history);
    assert.equal(executesOnlyAfterYes([...commands, { activity: 'executeStep', result: undefined }]), false);
  });
});
