// The scanner that finds unescaped text in pages (a step of .ci/test) finds it: shown on a planted page.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const page = (attribute: string): string =>
  `export function Page({ name }: { name: string }): JSX.Element {\n  return <p${attribute}>{name}</p>;\n}\n`;

describe('the scanner of pages', function () {
  this.timeout(60_000);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'aroko-pages-'));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as {
      compilerOptions: Record<string, unknown>;
    };
    const tsconfig = { compilerOptions: { ...compilerOptions, paths: {} }, include: ['*.tsx'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const scan = (source: string): number | null => {
    writeFileSync(join(folder, 'page.tsx'), source);
    return spawnSync(process.execPath, [resolve('node_modules/.bin/xss-scan')], { cwd: folder }).status;
  };

  it('passes a page that escapes', () => {
    assert.equal(scan(page(' safe')), 0);
  });

  it('fails one that does not', () => {
    assert.equal(scan(page('')), 1);
  });
});
