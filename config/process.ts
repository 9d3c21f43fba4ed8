// The life of a process of ours: it starts, tells its parent that it is ready, and ends in order. Only `main.ts` files
// call this. Ctrl-C, SIGTERM and a parent that is gone all mean the same: finish what is in hand, then go.
import { EXIT_CONFIGURATION, ConfigurationError } from './problems.js';
import { EnvironmentError } from './environment.js';

export interface RunningProcess {
  /** Sent to the parent, where there is one, beside `type: 'ready'`. */
  ready?: Record<string, string>;
  stop(): Promise<void>;
  /** Settles when the process can't go on by itself. Absent: it goes on until it is told to stop. */
  ended?: Promise<void>;
}

/** Starts, reports, waits for the end, and sets the exit code: 78 for configuration, 1 for anything else. */
export async function runProcess(start: () => Promise<RunningProcess>): Promise<void> {
  const askedToEnd = untilAskedToEnd();
  try {
    const running = await start();
    process.send?.({ type: 'ready', ...running.ready });
    await Promise.race([askedToEnd, ...(running.ended ? [running.ended] : [])]);
    await running.stop();
  } catch (error) {
    report(error);
    process.exitCode = isConfigurationProblem(error) ? EXIT_CONFIGURATION : 1;
  } finally {
    if (process.connected) process.disconnect();
  }
}

function untilAskedToEnd(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
    if (process.connected) process.once('disconnect', () => resolve());
  });
}

function isConfigurationProblem(error: unknown): boolean {
  return error instanceof ConfigurationError || error instanceof EnvironmentError;
}

/** What went wrong at start is read by a person: in full for what is theirs to mend, by name and message for the rest. */
function report(error: unknown): void {
  const message = error instanceof Error ? error.message : 'an unknown failure';
  process.stderr.write(`${message}\n`);
  if (process.connected) process.send?.({ type: 'failed', message });
}
