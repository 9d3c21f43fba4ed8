// The worker with traps: the same parts as worker/main.ts, some of them wrapped. A trap is a file (traps.ts); it
// catches the first call that comes by and leaves its mark. What hangs, hangs until somebody kills the process.
import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workerEnvironment } from '../../../config/environment.js';
import { runProcess } from '../../../config/process.js';
import type { Model } from '../../../activities/claude/model.js';
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

/** In what is asked of a model, whatever is asked, it can't be seen who asks. */
const summarizing = new AsyncLocalStorage<true>();

function withTrap(model: Model): Model {
  return {
    ...model,
    async ask(...question) {
      const reply = await model.ask(...question);
      return summarizing.getStore() && stepOn('during-summary') !== undefined ? hang() : reply;
    },
  };
}

await runProcess((opened) =>
  startWorker({
    opened,
    environment: workerEnvironment(process.env),
    wrapDeps: (deps) => ({
      ...deps,
      model: withTrap(deps.model),
      providers: Object.fromEntries(
        Object.entries(deps.providers).map(([name, provider]) => [name, withTraps(provider)]),
      ),
    }),
    wrapActivities: (activities) => ({
      ...activities,
      async plan(input) {
        const planned = await activities.plan(input);
        return stepOn('after-plan') === undefined ? planned : hang();
      },
      summarize: (input) => summarizing.run(true, () => activities.summarize(input)),
      async deliver(input) {
        const complaint = stepOn('activity-fails');
        if (complaint !== undefined) throw new Error(complaint);
        if (stepOn('before-send') !== undefined) return hang();
        const sent = await activities.deliver(input);
        return stepOn('after-send') === undefined ? sent : hang();
      },
    }),
    wrapOptions: (options) => ({
      ...options,
      interceptors: {
        ...options.interceptors,
        workflowModules: [fileURLToPath(new URL('workflow-traps.ts', import.meta.url))],
      },
      // What a sink waits for keeps the answer to Temporal back.
      sinks: {
        traps: {
          continuesAsNew: {
            fn: async () => (stepOn('continue-as-new') === undefined ? undefined : hang()),
            callDuringReplay: false,
          },
        },
      },
    }),
  }),
);
