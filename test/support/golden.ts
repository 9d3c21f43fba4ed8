// The golden histories, and copies of the workflows in which something was changed since.
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../local/child.js';
import { readHistory, type RecordedHistory } from '../../worker/replay/read-history.js';

const FOLDER = join(projectRoot, 'test/histories');

/** Names of all of them: `kind.conversation`, `kind.run-1`. */
export function goldenNames(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.replace(/\.json$/, ''));
}

export function goldenText(name: string): string {
  return readFileSync(join(FOLDER, `${name}.json`), 'utf8');
}

export function golden(name: string): RecordedHistory {
  return readHistory(goldenText(name));
}

export interface ChangedWorkflows {
  /** The entry for the bundler. */
  path: string;
  remove(): void;
}

/**
 * A copy of `workflows/` with changes: for each file texts and what stands in their place. The real tree is never touched.
 *
 * @throws where a text isn't there exactly once: the change would be none, and the test could not fail.
 */
export function changedWorkflows(changes: Record<string, [was: string, is: string][]>): ChangedWorkflows {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'aroko-changed-')));
  symlinkSync(join(projectRoot, 'node_modules'), join(directory, 'node_modules'));
  cpSync(join(projectRoot, 'workflows'), join(directory, 'workflows'), { recursive: true });
  for (const [file, replacements] of Object.entries(changes)) {
    const path = join(directory, 'workflows', file);
    let source = readFileSync(path, 'utf8');
    for (const [was, is] of replacements) {
      if (source.split(was).length !== 2) throw new Error(`${file} doesn't hold exactly once: ${was}`);
      source = source.replace(was, () => is);
    }
    writeFileSync(path, source);
  }
  return {
    path: join(directory, 'workflows/index.ts'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
