// A throwaway copy of the checkout in which bugs are planted and taken out again. The working tree is never touched.
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import type { Bug } from './bugs.js';

/** What is big, private or somebody else's: a test needs none of it. */
const LEFT_OUT = new Set(['node_modules', '.git', '.aroko', 'dist']);

export interface Copy {
  directory: string;
  /** Plants a bug; the answer takes it out again. */
  plant(bug: Bug): () => void;
  remove(): void;
}

export function copyOf(root: string): Copy {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'aroko-mutants-')));
  const isWanted = (source: string): boolean =>
    relative(root, source) === '' || !LEFT_OUT.has(basename(source));
  cpSync(root, directory, { recursive: true, filter: isWanted });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  return {
    directory,
    plant(bug) {
      const sources = new Map<string, string>();
      for (const [file, source] of planted(directory, bug)) {
        const path = join(directory, file);
        sources.set(path, readFileSync(path, 'utf8'));
        writeFileSync(path, source);
      }
      return () => {
        for (const [path, source] of sources) writeFileSync(path, source);
      };
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/**
 * The files of a bug as they would be with it; nothing is written.
 *
 * @throws where a text isn't there exactly once: what is planted would be nothing, or something else.
 */
export function planted(root: string, { name, plant }: Bug): Map<string, string> {
  const sources = new Map<string, string>();
  for (const { file, was, is } of plant) {
    const source = sources.get(file) ?? readFileSync(join(root, file), 'utf8');
    const times = source.split(was).length - 1;
    if (times !== 1) throw new Error(`"${name}": ${file} holds ${times} times and not once: ${was}`);
    sources.set(
      file,
      source.replace(was, () => is),
    );
  }
  return sources;
}
