// The life of a process of ours: it starts, tells its parent that it is ready, and ends in order. Only `main.ts` files
// call this. Ctrl-C, SIGTERM and a parent that is gone all mean the same: finish what is in hand, then go. SIGHUP means:
// read the configuration again.
import { EnvironmentError } from './environment.js';
import { ConfigurationError, EXIT_CONFIGURATION } from './problems.js';

export type Close = () => Promise<unknown>;

export interface RunningProcess {
  /** Sent to the parent, where there is one, beside `type: 'ready'`. */
  ready?: Record<string, string>;
  /** Settles when the process can't go on by itself. Absent: it goes on until it is told to stop. */
  ended?: Promise<void>;
  /** Reads its configuration again (SIGHUP); what can't be used changes nothing. Absent: it has none. */
  reload?: () => unknown;
}

/** Longer than any call under way; a process that hangs in its end is ended. */
const END_WITHIN_MS = 8_000;

/**
 * Starts, reports, waits for the end, and closes what was opened, the last first; also when it is told to end in the
 * middle of its start. The exit code is 78 where a person has to mend the configuration first, and 1 for other failures.
 */
export async function runProcess(
  start: (opened: (close: Close) => void) => Promise<RunningProcess>,
  options: { configurationErrors?: (abstract new (...args: never[]) => Error)[] } = {},
): Promise<void> {
  const closers: Close[] = [];
  const askedToEnd = untilAskedToEnd();
  let reload: RunningProcess['reload'];
  let isReloadWanted = false;
  // Heard from the beginning: unheard it would end the process. Whoever is still starting may have read the files already.
  process.on('SIGHUP', () => {
    if (reload) reload();
    else isReloadWanted = true;
  });
  const life = async (): Promise<void> => {
    const { ready, ended, ...running } = await start((close) => closers.push(close));
    reload = running.reload;
    if (isReloadWanted) reload?.();
    process.send?.({ type: 'ready', ...ready });
    await (ended ?? askedToEnd);
  };
  let exitCode = 0;
  try {
    await Promise.race([askedToEnd, life()]);
  } catch (error) {
    const classes = [ConfigurationError, EnvironmentError, ...(options.configurationErrors ?? [])];
    exitCode = classes.some((type) => error instanceof type) ? EXIT_CONFIGURATION : 1;
    await report(error);
  }
  setTimeout(() => process.exit(exitCode || 1), END_WITHIN_MS).unref();
  // A second Ctrl-C means at once.
  process.once('SIGINT', () => process.exit(1));
  for (const close of closers.toReversed()) await close().catch(() => (exitCode ||= 1));
  process.exit(exitCode);
}

function untilAskedToEnd(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
    // Comes with the loss of the channel to the parent; a process without a parent has none to lose.
    process.once('disconnect', () => resolve());
  });
}

/** Read by a person: in full, because at the start there is nothing of customers in it. */
async function report(error: unknown): Promise<void> {
  const message = error instanceof Error ? error.message : 'It could not start, and nothing says why.';
  process.stderr.write(`${message}\n`);
  if (!process.connected) return;
  await new Promise<void>((resolve) => {
    process.send?.({ type: 'failed', message }, undefined, undefined, () => resolve());
  });
}
