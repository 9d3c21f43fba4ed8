// The bugs of `npm run test:mutants` can still be planted, and the tests that have to catch them are still there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUGS } from '../../bench/mutants/bugs.js';
import { planted } from '../../bench/mutants/plant.js';
import { projectRoot } from '../../local/child.js';

describe('each of the six planted bugs', () => {
  it('is one of six', () => assert.equal(new Set(BUGS.map(({ name }) => name)).size, 6));

  for (const bug of BUGS) {
    it(`"${bug.name}" finds its place exactly once, and the test that catches it`, () => {
      for (const [file, source] of planted(projectRoot, bug)) {
        assert.notEqual(source, readFileSync(join(projectRoot, file), 'utf8'));
      }
      const tests = readFileSync(join(projectRoot, bug.caughtBy.file), 'utf8');
      assert.equal(tests.split(`it('${bug.caughtBy.title}'`).length, 2);
    });
  }

  it('would be missed aloud where its place is gone', () => {
    const [bug] = BUGS;
    assert.ok(bug);
    const gone = { ...bug, plant: [{ file: 'package.json', was: 'no such words', is: '' }] };
    assert.throws(
      () => planted(projectRoot, gone),
      /package\.json holds 0 times and not once: no such words/,
    );
  });
});
