// The worker with traps: the same parts as worker/main.ts, some of them wrapped. A trap is a file (traps.ts); it
// catches the first call that comes by and leaves its mark. What hangs, hangs until somebody kills the process.
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { workerEnvironment } from '../../../config/environment.js';
import { runProcess } from '../../../config/process.js';
import type { ToolProvider } from '../../../activities/tools/provider.js';
import { startWorker } from '../../../worker/start-worker.js';
import { caughtFile, TRAPS_FOLDER, trapFile, type Trap } from './traps.js';

const dataDir = process.argv[process.argv.indexOf('--data-dir') + 1] ?? '';
const folder = join(dirname(dataDir), TRAPS_FOLDER);

/** What was written into the trap, the first time that somebody steps on it. */
function stepOn(trap: Trap): string | undefined {
  const set = trapFile(folder, trap);
  if (!existsSync(set)) return undefined;
  renameSync(set, caughtFile(folder, trap));
  return readFileSync(caughtFile(folder, trap), 'utf8');
}

function hang(): Promise<never> {
  return new Promise(() => undefined);
}

function withTraps(provider: ToolProvider): ToolProvider {
  const operations = Object.entries(provider.operations).map(([name, operation]) => [
    name,
    {
      ...operation,
      call: async (call: Parameters<typeof operation.call>[0]) => {
        const complaint = stepOn('provider-fails');
        if (complaint !== undefined) throw new Error(complaint);
        const result = await operation.call(call);
        return name === 'reserveSlot' && stepOn('after-effect') !== undefined ? hang() : result;
      },
    },
  ]);
  return { ...provider, operations: Object.fromEntries(operations) };
}

await runProcess((opened) =>
  startWorker({
    opened,
    environment: workerEnvironment(process.env),
    wrapDeps: (deps) => ({
      ...deps,
      providers: Object.fromEntries(
        Object.entries(deps.providers).map(([name, provider]) => [name, withTraps(provider)]),
      ),
    }),
    wrapActivities: (activities) => ({
      ...activities,
      async deliver(input) {
        const complaint = stepOn('activity-fails');
        if (complaint !== undefined) throw new Error(complaint);
        const sent = await activities.deliver(input);
        return stepOn('after-send') === undefined ? sent : hang();
      },
    }),
  }),
);
