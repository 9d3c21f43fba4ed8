// Replays recorded histories on the workflow code as it is now, with the SDK's own replay. Needs no server and no
// database: a history holds everything that the workflow has ever heard.
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, DefaultLogger, Worker, type InjectedSinks } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { ObservedCommand } from './command.js';
import { excessOf, findDivergence, harmlessChanges, type Divergence } from './compare.js';
import type { ObserverSinks } from './observe-commands.js';
import type { RecordedHistory } from './read-history.js';

export type ReplayOutcome =
  /** Today's code gives the very commands of the history. */
  | { kind: 'same'; commands: number; changes: { eventId: number; what: string }[] }
  /** It gives others: a run like this one that is under way would stop there. */
  | { kind: 'differs'; divergence: Divergence | undefined; sdkSays: string }
  /** It throws: a run like this one would be tried again and again, without getting on. */
  | {
      kind: 'breaks';
      error: { name: string; message: string; stack: string };
      before: ObservedCommand | undefined;
    }
  /** The history was made with a patch that today's code doesn't ask for (any more). */
  | { kind: 'patchGone'; patch: string; sdkSays: string }
  | { kind: 'unknownWorkflow'; workflowType: string };

export interface Replayer {
  replay(history: RecordedHistory): Promise<ReplayOutcome>;
}

/** The extension differs between the source tree and the build; the bundler reads either. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const here = (path: string): string => fileURLToPath(new URL(`${path}${EXTENSION}`, import.meta.url));

/** Rules of the SDK's core that every history of ours was made under. Without them it lets a changed activity pass. */
const CORE_FLAGS = [1, 2, 3];

/**
 * Bundles the workflows once, together with what observes them.
 *
 * @param options.workflowsPath the bundle's entry; absent: the workflows of this tree.
 */
export async function createReplayer(options: { workflowsPath?: string } = {}): Promise<Replayer> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: options.workflowsPath ?? here('../../workflows/index'),
    workflowInterceptorModules: [here('./observe-commands')],
    logger: new DefaultLogger('ERROR'),
  });
  return {
    async replay(history) {
      const observed: ObservedCommand[] = [];
      const sinks: InjectedSinks<ObserverSinks> = {
        observer: {
          saw: { fn: (_info, text) => void observed.push(readObserved(text)), callDuringReplay: true },
          tookBack: {
            fn: (_info, timer, afterEventId) => takeBack(observed, timer, afterEventId),
            callDuringReplay: true,
          },
        },
      };
      try {
        await Worker.runReplayHistory(
          { workflowBundle: { code }, sinks },
          historyFromJSON(withFlags(history)),
          history.workflowId,
        );
      } catch (error) {
        return outcomeOf(error, history, observed);
      }
      const divergence = findDivergence(history, observed);
      // What the SDK lets pass, because the history says too little about itself.
      if (divergence && history.ending) return { kind: 'differs', divergence, sdkSays: 'nothing' };
      return {
        kind: 'same',
        commands: history.commands.length,
        changes: harmlessChanges(history, observed),
      };
    },
  };
}

function outcomeOf(error: unknown, history: RecordedHistory, observed: ObservedCommand[]): ReplayOutcome {
  if (!(error instanceof Error)) throw error;
  const sdkSays = /message: "((?:[^"\\]|\\.)*)"/.exec(error.message)?.[1] ?? error.message;
  // A patch is no command: what follows it is not where the two part.
  if (error instanceof DeterminismViolationError && /patch marker/i.test(sdkSays)) {
    return { kind: 'patchGone', patch: /for change (\S+?),/.exec(sdkSays)?.[1] ?? 'unnamed', sdkSays };
  }
  if (error instanceof DeterminismViolationError) {
    const divergence = findDivergence(history, observed) ?? excessOf(history, observed);
    return { kind: 'differs', divergence, sdkSays };
  }
  if (/no such function is exported/i.test(sdkSays)) {
    return { kind: 'unknownWorkflow', workflowType: history.workflowType };
  }
  const failed = observed.at(-1);
  if (failed?.command.kind !== 'fail') throw error;
  const { name = 'Error', message = sdkSays } = failed.command.error ?? {};
  return { kind: 'breaks', error: { name, message, stack: failed.stack }, before: observed.at(-2) };
}

/** A timer that is taken back in the very task that asked for it never becomes a command. */
function takeBack(observed: ObservedCommand[], timer: number, afterEventId: number): void {
  const index = observed.findIndex(
    (one) =>
      one.command.kind === 'timer' && one.command.number === timer && one.afterEventId === afterEventId,
  );
  if (index >= 0) observed.splice(index, 1);
}

const observedSchema = z.object({
  afterEventId: z.number(),
  stack: z.string(),
  command: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('activity'), name: z.string(), args: z.unknown() }),
    z.object({ kind: z.literal('timer'), durationMs: z.number(), number: z.number() }),
    z.object({ kind: z.literal('child'), name: z.string(), workflowId: z.string() }),
    z.object({ kind: z.literal('signal'), name: z.string(), workflowId: z.string() }),
    z.object({ kind: z.literal('continueAsNew') }),
    z.object({ kind: z.literal('complete') }),
    z.object({
      kind: z.literal('fail'),
      error: z.object({ name: z.string(), message: z.string() }).optional(),
    }),
  ]),
});

function readObserved(text: string): ObservedCommand {
  const { afterEventId, stack, command } = observedSchema.parse(JSON.parse(text));
  if (command.kind !== 'fail') return { afterEventId, stack, command };
  const { kind, error } = command;
  return { afterEventId, stack, command: { kind, ...(error && { error }) } };
}

const attributes = z.record(z.string(), z.unknown());
const eventsSchema = z.object({ events: z.array(attributes) });

/** A history made by hand says nothing of the rules that it was made under: those of today are assumed. */
function withFlags({ history, isWithoutFlags }: RecordedHistory): unknown {
  if (!isWithoutFlags) return history;
  const { events } = eventsSchema.parse(history);
  const key = 'workflowTaskCompletedEventAttributes';
  const first = events.findIndex((event) => key in event);
  return {
    events: events.map((event, index) =>
      index === first
        ? { ...event, [key]: { ...attributes.parse(event[key]), sdkMetadata: { coreUsedFlags: CORE_FLAGS } } }
        : event,
    ),
  };
}
