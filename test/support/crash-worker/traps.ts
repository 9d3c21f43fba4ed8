// How a test sets a trap for the crash worker and learns that it was stepped on.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../api-client.js';

export const CRASH_WORKER = 'test/support/crash-worker/main.ts';

/**
 * `after-effect`: the slot is reserved, and nobody has recorded it. `after-send`: the reply is committed, and Temporal
 * hasn't heard of it. `provider-fails`, `activity-fails`: the tool, or an activity of ours, throws what was written into
 * the trap.
 */
export type Trap = 'after-effect' | 'after-send' | 'provider-fails' | 'activity-fails';

/** Beside the data directory, so that what a trap says is never found in it. */
export const TRAPS_FOLDER = 'traps';

export const trapFile = (folder: string, trap: Trap): string => join(folder, `${trap}.set`);
export const caughtFile = (folder: string, trap: Trap): string => join(folder, `${trap}.caught`);

export interface SetTrap {
  /** Waits until somebody has stepped on it. */
  caught(): Promise<void>;
}

export function setTrap(installation: { folder: string }, trap: Trap, words = ''): SetTrap {
  const folder = join(installation.folder, TRAPS_FOLDER);
  mkdirSync(folder, { recursive: true });
  writeFileSync(trapFile(folder, trap), words);
  return {
    async caught() {
      await eventually(`the trap ${trap} to catch somebody`, () =>
        existsSync(caughtFile(folder, trap)) && !existsSync(trapFile(folder, trap)) ? true : undefined,
      );
    },
  };
}
