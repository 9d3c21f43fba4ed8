// Which installation a command works on: the one that the environment names, or the local start of a data directory. What
// the launcher writes there is parsed here; nothing in the directory is made or changed.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { CommandEnvironment } from '../../config/environment.js';
import { CommandProblem } from './problem.js';

/** Where things are. Nothing has been opened yet. */
export interface Target {
  databaseUrl: string;
  temporal: { address: string; namespace: string; uiUrl?: string };
  /** Where people reach the gateway. Absent: the environment doesn't say. */
  gatewayUrl?: string;
  /** Absent: this environment names none. */
  masterKeyFile?: string;
  /** Said when something can't be reached. */
  hint: string;
}

/** What is built lies a folder deeper, and the configuration beside it. */
const ROOT = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../..' : '../../..', import.meta.url));
/** The configuration that comes with the program. */
export const CONFIG_DIRECTORY = join(ROOT, 'config');
/** Where `npm start` keeps its data unless it is told otherwise. */
export const DATA_DIRECTORY = join(ROOT, '.aroko');

const runFile = z.object({
  startedAt: z.string(),
  addresses: z.object({
    postgres: z.string(),
    temporal: z.string(),
    temporalUi: z.string().optional(),
    chat: z.string().optional(),
  }),
});
const secretsFile = z.object({ databasePasswords: z.object({ app: z.string() }) });

/**
 * `dataDirectory`: named on the command line, and counts more than the environment.
 *
 * @throws {CommandProblem} where neither leads to an installation.
 */
export function findTarget(
  environment: CommandEnvironment,
  { dataDirectory }: { dataDirectory?: string | undefined },
): Target {
  const { databaseUrl, masterKeyFile } = environment;
  if (databaseUrl !== undefined && dataDirectory === undefined) {
    return {
      databaseUrl,
      temporal: environment.temporal,
      ...(masterKeyFile !== undefined && { masterKeyFile }),
      hint: 'Is it running, and is AROKO_DATABASE_URL right?',
    };
  }
  return localStart(resolve(dataDirectory ?? DATA_DIRECTORY));
}

function localStart(directory: string): Target {
  const run = readJson(join(directory, 'run.json'), runFile);
  const secrets = run && readJson(join(directory, 'secrets.json'), secretsFile);
  if (!run || !secrets) {
    throw new CommandProblem(
      `No Aroko is running in ${directory}. Start it with npm start, name another folder with --data-dir, ` +
        'or set AROKO_DATABASE_URL for an installation elsewhere.',
      { isSetting: true },
    );
  }
  const password = encodeURIComponent(secrets.databasePasswords.app);
  return {
    databaseUrl: `postgres://aroko_app:${password}@${run.addresses.postgres}/aroko`,
    temporal: {
      address: run.addresses.temporal,
      namespace: 'default',
      ...(run.addresses.temporalUi !== undefined && { uiUrl: run.addresses.temporalUi }),
    },
    ...(run.addresses.chat !== undefined && { gatewayUrl: new URL(run.addresses.chat).origin }),
    masterKeyFile: join(directory, 'master-key'),
    hint: `Is the Aroko that was started at ${run.startedAt} in ${directory} still running?`,
  };
}

/** Undefined: not there. */
function readJson<Shape extends z.ZodType>(file: string, shape: Shape): z.output<Shape> | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    throw new CommandProblem(`${file} is not what npm start writes there. Start Aroko again.`, {
      isSetting: true,
    });
  }
}
