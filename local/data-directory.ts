/**
 * The directory that holds everything one installation knows: database, Temporal's state, secrets, logs.
 * Secrets are made once and never replaced: without the master key nothing that was written can be read again.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';

/** Where things are. All paths are absolute. */
export interface DataDirectory {
  root: string;
  secretsFile: string;
  masterKeyFile: string;
  apiTokenFile: string;
  /** Belongs to the account that Postgres runs as. */
  postgres: string;
  /** The cluster itself; it exists once initdb has succeeded. */
  cluster: string;
  temporal: string;
  temporalDatabase: string;
  logs: string;
  /** Addresses and process ids for other programs, only while everything is ready. */
  runFile: string;
  /** Who holds the directory and which processes were started for it, from the first moment on. */
  holderFile: string;
}

/** A mistake that the person at the keyboard can mend; shown without a stack. */
export class SetupProblem extends Error {
  override readonly name = 'SetupProblem';
}

const secretsShape = z.object({
  databasePasswords: z.object({
    superuser: z.string(),
    owner: z.string(),
    app: z.string(),
    read: z.string(),
  }),
});

/** Passwords of the database roles, base64url so that they fit into an address unescaped. */
export type DatabasePasswords = z.infer<typeof secretsShape>['databasePasswords'];

function layout(root: string): DataDirectory {
  return {
    root,
    secretsFile: join(root, 'secrets.json'),
    masterKeyFile: join(root, 'master-key'),
    apiTokenFile: join(root, 'api-token'),
    postgres: join(root, 'postgres'),
    cluster: join(root, 'postgres', 'data'),
    temporal: join(root, 'temporal'),
    temporalDatabase: join(root, 'temporal', 'temporal.db'),
    logs: join(root, 'logs'),
    runFile: join(root, 'run.json'),
    holderFile: join(root, 'launcher.json'),
  };
}

/** Our own entries: a reset removes these and nothing else, so a mistyped path loses nothing. */
const ownEntries = [
  'secrets.json',
  'master-key',
  'api-token',
  'postgres',
  'temporal',
  'logs',
  'run.json',
  'launcher.json',
];

/**
 * Creates the directory, closed to other users, and returns its layout.
 * @throws SetupProblem when the path holds something that isn't ours.
 */
export function openDataDirectory(path: string): DataDirectory {
  const wanted = resolve(path);
  if (existsSync(wanted)) {
    const entries = statSync(wanted).isDirectory() ? readdirSync(wanted) : undefined;
    if (entries === undefined)
      throw new SetupProblem(`${wanted} is a file; name a directory with --data-dir.`);
    if (entries.length > 0 && !entries.some((entry) => ownEntries.includes(entry))) {
      throw new SetupProblem(
        `${wanted} holds files that aren't Aroko's, and would be closed to other users. Name an empty or new directory with --data-dir.`,
      );
    }
  } else {
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
  }
  // Group "x" is kept: as root, Postgres runs under another account that has to walk through.
  if ((statSync(wanted).mode & 0o067) !== 0) chmodSync(wanted, 0o700);
  const directory = layout(realpathSync(wanted));
  for (const inner of [directory.temporal, directory.logs])
    mkdirSync(inner, { recursive: true, mode: 0o700 });
  return directory;
}

function createOnce(file: string, content: string): void {
  if (!existsSync(file)) writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
}

/**
 * Makes the passwords, the master key and the API token on the first start, and reads the passwords.
 * @throws SetupProblem when a database is there whose secrets are missing or broken.
 */
export function openSecrets(directory: DataDirectory): DatabasePasswords {
  const lost = [directory.secretsFile, directory.masterKeyFile].filter((file) => !existsSync(file));
  if (existsSync(directory.cluster) && lost.length > 0) {
    throw new SetupProblem(
      `${lost.join(' and ')} is missing, but ${directory.cluster} holds a database that can't be opened without it. ` +
        'Put the file back from a copy, or start empty with --reset.',
    );
  }
  const secret = (): string => randomBytes(24).toString('base64url');
  const passwords = { superuser: secret(), owner: secret(), app: secret(), read: secret() };
  createOnce(directory.secretsFile, `${JSON.stringify({ databasePasswords: passwords }, null, 2)}\n`);
  createOnce(directory.masterKeyFile, randomBytes(32).toString('base64'));
  createOnce(directory.apiTokenFile, randomBytes(32).toString('base64url'));
  try {
    return secretsShape.parse(JSON.parse(readFileSync(directory.secretsFile, 'utf8'))).databasePasswords;
  } catch {
    throw new SetupProblem(
      `${directory.secretsFile} is broken. Put it back from a copy, or start empty with --reset.`,
    );
  }
}

/** Removes everything that Aroko keeps in the directory, and leaves every other file alone. */
export function emptyDataDirectory(directory: DataDirectory): void {
  for (const entry of ownEntries) rmSync(join(directory.root, entry), { recursive: true, force: true });
}
