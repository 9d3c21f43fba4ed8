import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, TREE } from './overlay.js';
import { bundleOf, foreignSources } from './workflow-bundle.js';

const EXIT_CONFIGURATION = 78;

describe('the build', () => {
  let directory: string;

  before(async function () {
    this.timeout(60_000);
    directory = await realpath(await mkdtemp(join(tmpdir(), 'aroko-build-')));
    await symlink(join(TREE, 'node_modules'), join(directory, 'node_modules'));
    await symlink(join(TREE, 'package.json'), join(directory, 'package.json'));
    // The types are checked by a step of their own.
    const built = await run(
      'bash',
      [join(TREE, '.ci/build'), join(directory, 'dist'), '--noCheck'],
      directory,
    );
    assert.equal(built.code, 0, built.output);
  });

  after(() => rm(directory, { recursive: true, force: true }));

  for (const [program, missing] of [
    ['worker/main.js', 'AROKO_DATABASE_URL'],
    ['gateway/main.js', 'AROKO_DATABASE_URL'],
    ['prisma/setup-main.js', 'AROKO_OWNER_DATABASE_URL'],
  ] as const) {
    it(`runs ${program} with plain Node, which asks for its environment`, async () => {
      const { code, output } = await run(process.execPath, [join(directory, 'dist', program)], directory);
      assert.match(output, new RegExp(missing));
      assert.equal(code, EXIT_CONFIGURATION);
    });
  }

  it('bundles its compiled workflows, which come from workflows/ alone', async () => {
    const bundle = await bundleOf(join(directory, 'dist/workflows/index.js'));
    assert.deepEqual(foreignSources(bundle, TREE), []);
  });
});
