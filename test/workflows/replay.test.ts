// Every golden history replays on today's code. A change of commands that isn't patched breaks runs under way: it fails
// here, by the name of the history.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { installQuietRuntime } from '../../bench/desk.js';
import { decideCommandsOf, executesOnlyAfterYes } from '../support/histories.js';

const FOLDER = 'test/histories';
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

interface Golden {
  workflowId: string;
  history: unknown;
}

function read(name: string): Golden {
  return JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Golden;
}

describe('golden histories', function () {
  this.timeout(60_000);
  let bundle: WorkflowBundleWithSourceMap;
  before(async () => {
    installQuietRuntime();
    bundle = await bundleWorkflowCode({
      workflowsPath: resolve('workflows/index.ts'),
      logger: new DefaultLogger('ERROR'),
    });
  });

  it('are there, of every kind', () => {
    assert.ok(files.length >= 25, `${files.length} found`);
  });

  for (const name of files) {
    it(`replay ${name.replace('.json', '')}`, async () => {
      const { workflowId, history } = read(name);
      await Worker.runReplayHistory({ workflowBundle: bundle }, historyFromJSON(history), workflowId);
    });
  }

  it('are noticed when they do not fit', async () => {
    const { workflowId, history } = read('tool-read.run-1.json');
    const changed = JSON.parse(JSON.stringify(history).replaceAll('"validate"', '"execute"')) as unknown;
    await assert.rejects(
      Worker.runReplayHistory({ workflowBundle: bundle }, historyFromJSON(changed), workflowId),
      /[Nn]ondeterminism/,
    );
  });
});

describe('recorded runs', () => {
  for (const name of files.filter((file) => file.includes('.run-'))) {
    it(`${name.replace('.json', '')} executes nothing that waited without a yes`, () => {
      assert.ok(executesOnlyAfterYes(decideCommandsOf(read(name).history)));
    });
  }

  it('would be caught executing after a no', () => {
    const commands = decideCommandsOf(read('approval-rejected.run-1.json').history);
    assert.equal(executesOnlyAfterYes([...commands, { activity: 'executeStep', result: undefined }]), false);
  });
});
