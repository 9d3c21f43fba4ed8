// How a test sets a trap for the crash worker and learns that it was stepped on.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../api-client.js';

export const CRASH_WORKER = 'test/support/crash-worker/main.ts';

/**
 * `after-plan`: the plan is stored, and Temporal hasn't heard of it. `after-effect`: the slot is reserved, and nobody has
 * recorded it. `during-summary`: the model has answered, and its words are nowhere yet. `before-send`: the reply is written,
 * and not sent. `after-send`: the reply is committed, and Temporal hasn't heard of it. `continue-as-new`: a conversation has
 * decided to begin a new history, and Temporal hasn't heard of it. `provider-fails`, `activity-fails`: the tool, or an
 * activity of ours, throws what was written into the trap.
 */
export type Trap =
  | 'after-plan'
  | 'after-effect'
  | 'during-summary'
  | 'before-send'
  | 'after-send'
  | 'continue-as-new'
  | 'provider-fails'
  | 'activity-fails';

/** Beside the data directory, so that what a trap says is never found in it. */
export const TRAPS_FOLDER = 'traps';

export const trapFile = (folder: string, trap: Trap): string => join(folder, `${trap}.set`);
export const caughtFile = (folder: string, trap: Trap): string => join(folder, `${trap}.caught`);

export interface SetTrap {
  /** Waits until somebody has stepped on it. */
  caught(): Promise<void>;
  hasCaught(): boolean;
}

export function setTrap(installation: { folder: string }, trap: Trap, words = ''): SetTrap {
  const folder = join(installation.folder, TRAPS_FOLDER);
  mkdirSync(folder, { recursive: true });
  writeFileSync(trapFile(folder, trap), words);
  const hasCaught = (): boolean =>
    existsSync(caughtFile(folder, trap)) && !existsSync(trapFile(folder, trap));
  return {
    hasCaught,
    async caught() {
      await eventually(`the trap ${trap} to catch somebody`, () => (hasCaught() ? true : undefined));
    },
  };
}
