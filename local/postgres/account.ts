/**
 * Who runs Postgres. It refuses to run as root, so root's installation runs it as the account `postgres`, which is
 * made when missing (containers). That account must be able to enter the checkout and the data directory. Where a
 * directory on the way is closed to it (a checkout below root's home, a private temporary directory), the process
 * gets the one right it needs instead of the directory being opened to everybody.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SetupProblem, type DataDirectory } from '../data-directory.js';

const accountName = 'postgres';

/** How to start a program so that it runs under the right account. */
export interface RunAs {
  /** Words before the command, empty when none are needed. */
  prefix: string[];
  account?: { uid: number; gid: number };
}

interface Account {
  uid: number;
  gid: number;
}

function quietly(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

function findAccount(): Account | undefined {
  try {
    return { uid: Number(quietly('id', '-u', accountName)), gid: Number(quietly('id', '-g', accountName)) };
  } catch {
    return undefined;
  }
}

function openAccount(): Account {
  const found = findAccount();
  if (found) return found;
  try {
    quietly(
      'useradd',
      '--system',
      '--user-group',
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      accountName,
    );
  } catch {
    // Told below: only the outcome counts, another start may have made the account at this moment.
  }
  const made = findAccount();
  if (made) return made;
  throw new SetupProblem(
    `Postgres doesn't run as root, and the account "${accountName}" could not be made. ` +
      'Run Aroko as an ordinary user, or add that account.',
  );
}

/** True when the account may pass every directory above a path and read what is there. */
function isReachable(path: string, account: Account): boolean {
  const real = realpathSync(path);
  const may = (entry: string, bits: number): boolean => {
    const { mode, uid, gid } = statSync(entry);
    const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
    return ((mode >> shift) & bits) === bits;
  };
  for (let above = dirname(real); ; above = dirname(above)) {
    if (!may(above, 0o1)) return false;
    if (above === dirname(above)) break;
  }
  return may(real, statSync(real).isDirectory() ? 0o1 : 0o4);
}

/** Words that start a program as the account, able to pass directories that are closed to it (Linux). */
function passingPrefix(account: Account): string[] {
  const prefix = [
    'setpriv',
    `--reuid=${account.uid}`,
    `--regid=${account.gid}`,
    '--clear-groups',
    '--inh-caps=-all,+dac_override',
    '--ambient-caps=-all,+dac_override',
    // Else access(2), by which programs look for files, would not count the right.
    '--securebits=+no_setuid_fixup',
  ];
  try {
    quietly('setpriv', ...prefix.slice(1), 'true');
    return prefix;
  } catch {
    throw new SetupProblem(
      `As root, Postgres runs under the account "${accountName}", which can't enter the directory Aroko lies in. ` +
        'Move the checkout and the data directory to where other accounts may pass, or run Aroko as an ordinary user.',
    );
  }
}

/**
 * Prepares the cluster's directory for the account that Postgres will run as, and tells how to start it.
 * @throws SetupProblem when it can't run on this machine as things are.
 */
export function prepareAccount(want: { directory: DataDirectory; mustReach: string[] }): RunAs {
  const { directory } = want;
  mkdirSync(directory.postgres, { recursive: true, mode: 0o700 });
  if (process.getuid?.() !== 0) return { prefix: [] };
  const account = openAccount();
  chownSync(directory.root, 0, account.gid);
  chmodSync(directory.root, 0o710);
  chownSync(directory.postgres, account.uid, account.gid);
  const reachable = [...want.mustReach, directory.postgres].every((path) => isReachable(path, account));
  return reachable ? { prefix: [], account } : { prefix: passingPrefix(account) };
}
