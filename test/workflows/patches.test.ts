// A patch lives until no run is left that was made with it. Whoever takes one out has to know that, so the operating notes
// list every patch that the code asks for, and none that it doesn't.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../local/child.js';

const CALL = /\b(?:patched|deprecatePatch)\(\s*['"`]([^'"`]+)['"`]/g;
/** A row of the table: the name in backticks comes first. */
const ROW = /^\| `([^`]+)` +\|/gm;

function patchesIn(sources: string[]): string[] {
  return [
    ...new Set(sources.flatMap((source) => [...source.matchAll(CALL)].map(([, name = '']) => name))),
  ].sort();
}

function sources(): string[] {
  const folder = join(projectRoot, 'workflows');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
}

function listed(): string[] {
  const [, section = ''] = readFileSync(join(projectRoot, 'docs/operating.md'), 'utf8').split(
    '## Live patches',
  );
  return [...(section.split('\n## ')[0] ?? '').matchAll(ROW)].map(([, name = '']) => name).sort();
}

describe('the table of live patches', () => {
  it('lists the patches of the workflows and no others', () => {
    assert.deepEqual(listed(), patchesIn(sources()));
  });

  it('is compared with what the code really asks for', () => {
    const code = ["if (patched('new-way')) return;", 'deprecatePatch(\n  "old-way")'];
    assert.deepEqual(patchesIn(code), ['new-way', 'old-way']);
    assert.ok(sources().length > 10, 'the workflows were read');
  });
});
