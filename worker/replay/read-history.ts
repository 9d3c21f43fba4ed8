// A history as a file or Temporal holds it (JSON of the protocol), read as far as its story needs it: which commands the
// workflow gave, what failed on the way, how it ended. Fields that are not named here stay in `history` for the replay.
import { z } from 'zod';
import type { Command } from './command.js';
import { eventSchema, valueOf, type HistoryEvent } from './history-events.js';
import { failureInWords, troubleOf, type RecordedTrouble } from './troubles.js';

/** What is wrong with the text, in words for whoever handed it over. */
export class UnreadableHistoryError extends Error {
  override readonly name = 'UnreadableHistoryError';
}

export interface RecordedCommand {
  eventId: number;
  command: Command;
  /** Commands of one workflow task were given together. */
  taskEventId: number;
}

export interface RecordedHistory {
  workflowId: string;
  workflowType: string;
  eventCount: number;
  startedAt: string | undefined;
  /** Undefined: it was still under way when the history was taken. */
  ending: { eventId: number; what: string } | undefined;
  commands: RecordedCommand[];
  troubles: RecordedTrouble[];
  patches: string[];
  /** Made by hand, or cut: no task in it says which rules of the SDK it was made under. */
  isWithoutFlags: boolean;
  /** For the SDK. */
  history: unknown;
}

const historySchema = z.object({ events: z.array(eventSchema).min(1) });
/** As we record and keep them; the Temporal UI and CLI give the history alone. */
const wrappedSchema = z.object({ workflowId: z.string(), history: z.unknown() });

/**
 * Reads a history as `histories:record`, the Temporal UI, or `temporal workflow show --output json` give it. A workflow id
 * that is handed over counts more than the one inside: ids of children are derived from it.
 *
 * @throws UnreadableHistoryError
 */
export function readHistory(text: string, given: { workflowId?: string | undefined } = {}): RecordedHistory {
  const parsed = parseJson(text);
  const wrapped = wrappedSchema.safeParse(parsed);
  const history = wrapped.success ? wrapped.data.history : parsed;
  const read = historySchema.safeParse(history);
  if (!read.success) {
    const [issue] = read.error.issues;
    const place = issue ? `: ${issue.path.join('.')} ${issue.message}` : '';
    throw new UnreadableHistoryError(`This is no history of Temporal${place}.`);
  }
  const { events } = read.data;
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  if (!started)
    throw new UnreadableHistoryError('The history lacks its beginning: its first event is no start.');
  const workflowId = given.workflowId ?? (wrapped.success ? wrapped.data.workflowId : started.workflowId);
  if (workflowId === undefined) {
    throw new UnreadableHistoryError(
      'The history doesn’t name its workflow: hand the workflow id over as well.',
    );
  }
  const names = new Map(
    events.flatMap((event) => {
      const name = event.activityTaskScheduledEventAttributes?.activityType.name;
      return name === undefined ? [] : [[event.eventId, name]];
    }),
  );
  return {
    workflowId,
    workflowType: started.workflowType.name,
    eventCount: events.length,
    startedAt: events[0]?.eventTime,
    ending: endingOf(events),
    commands: events.flatMap(commandOf),
    troubles: events.flatMap((event) => troubleOf(event, names)),
    patches: events.flatMap((event) => patchOf(event) ?? []),
    isWithoutFlags: !events.some((event) => event.workflowTaskCompletedEventAttributes?.sdkMetadata),
    history,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableHistoryError('This is no JSON.');
  }
}

function commandOf(event: HistoryEvent): RecordedCommand[] {
  const activity = event.activityTaskScheduledEventAttributes;
  const timer = event.timerStartedEventAttributes;
  const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
  const signal = event.signalExternalWorkflowExecutionInitiatedEventAttributes;
  const completed = event.workflowExecutionCompletedEventAttributes;
  const failed = event.workflowExecutionFailedEventAttributes;
  const renewed = event.workflowExecutionContinuedAsNewEventAttributes;
  const by = (task: { workflowTaskCompletedEventId: number }, command: Command): RecordedCommand[] => [
    { eventId: event.eventId, taskEventId: task.workflowTaskCompletedEventId, command },
  ];
  if (activity) {
    return by(activity, {
      kind: 'activity',
      name: activity.activityType.name,
      args: valueOf(activity.input),
    });
  }
  if (timer) return by(timer, { kind: 'timer', durationMs: millisecondsOf(timer.startToFireTimeout) });
  if (child) {
    return by(child, { kind: 'child', name: child.workflowType.name, workflowId: child.workflowId });
  }
  if (signal) {
    const { workflowId } = signal.workflowExecution;
    return by(signal, { kind: 'signal', name: signal.signalName, workflowId });
  }
  if (completed) return by(completed, { kind: 'complete' });
  if (failed) return by(failed, { kind: 'fail' });
  if (renewed) return by(renewed, { kind: 'continueAsNew' });
  return [];
}

function endingOf(events: readonly HistoryEvent[]): RecordedHistory['ending'] {
  const last = events.at(-1);
  if (!last) return undefined;
  const end = (what: string): RecordedHistory['ending'] => ({ eventId: last.eventId, what });
  if (last.workflowExecutionCompletedEventAttributes) return end('completed');
  if (last.workflowExecutionContinuedAsNewEventAttributes) return end('went on as a new execution');
  if (last.workflowExecutionFailedEventAttributes) {
    return end(`failed: ${failureInWords(last.workflowExecutionFailedEventAttributes.failure)}`);
  }
  if (last.workflowExecutionTerminatedEventAttributes) return end('was terminated');
  if (last.workflowExecutionTimedOutEventAttributes) return end('timed out');
  if (last.workflowExecutionCanceledEventAttributes) return end('was cancelled');
  return undefined;
}

/** The id of a `patched()` that was asked for; the SDK keeps it in a marker. */
function patchOf({ markerRecordedEventAttributes: marker }: HistoryEvent): string | undefined {
  if (marker?.markerName !== 'core_patch') return undefined;
  const parsed = z.object({ id: z.string() }).safeParse(valueOf(marker.details?.['patch-data']));
  return parsed.success ? parsed.data.id : 'unnamed';
}

/** `0.200s`, as the protocol writes durations. */
function millisecondsOf(duration: string | undefined): number | undefined {
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(duration ?? '')?.[1];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000);
}
