// A small tree of its own, under the very configuration of ours, in which something is wrong on purpose. The real tree
// is never touched.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const TREE = fileURLToPath(new URL('../..', import.meta.url));

const SETTINGS = [
  'package.json',
  'tsconfig.json',
  'eslint.config.js',
  '.dependency-cruiser.cjs',
  '.prettierrc.json',
  '.prettierignore',
];

export interface Overlay {
  directory: string;
  /** Runs a program of a package there; its exit code is for the caller to judge. */
  run(program: string, args: string[]): Promise<{ code: number; output: string }>;
  remove(): Promise<void>;
}

/** Lays out `files`, path to source, beside copies of our settings. */
export async function createOverlay(files: Record<string, string>): Promise<Overlay> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'aroko-planted-')));
  await symlink(join(TREE, 'node_modules'), join(directory, 'node_modules'));
  for (const name of SETTINGS) await copyFile(join(TREE, name), join(directory, name));
  for (const [path, source] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), source);
  }
  return {
    directory,
    run: (program, args) => run(process.execPath, [join(TREE, 'node_modules', program), ...args], directory),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Runs a command with nothing in its environment but the search path. */
export async function run(
  command: string,
  args: string[],
  directory: string,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const options = { cwd: directory, maxBuffer: 50_000_000, env: { PATH: process.env['PATH'] } };
    const child = execFile(command, args, options, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? 1, output: stdout + stderr });
    });
  });
}
