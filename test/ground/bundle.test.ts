import assert from 'node:assert/strict';
import { join } from 'node:path';
import { TREE } from './overlay.js';
import { bundleOf, foreignSources, type WorkflowBundle } from './workflow-bundle.js';

describe('the bundle of the real workflows', () => {
  let bundle: WorkflowBundle;

  before(async () => {
    bundle = await bundleOf(join(TREE, 'workflows/index.ts'));
  });

  it('holds both workflows', () => {
    for (const own of ['conversation', 'tool-run']) {
      assert.ok(bundle.sources.includes(join(TREE, 'workflows', own, 'workflow.ts')), own);
    }
  });

  it('holds nothing from outside workflows/ and the SDK', () => {
    assert.deepEqual(foreignSources(bundle, TREE), []);
  });

  it('holds no zod', () => {
    assert.doesNotMatch(bundle.code, /\bZod[A-Z]\w+|node_modules\/zod\b/);
  });
});
