// What went wrong in a recorded run, event by event: types and codes, as Temporal holds them.
import { z } from 'zod';
import { valueOf, type Failure, type HistoryEvent } from './history-events.js';

export interface RecordedTrouble {
  eventId: number;
  /** In words: ids, types and codes. */
  what: string;
}

/** What went wrong at this event, in codes. */
export function troubleOf(event: HistoryEvent, names: ReadonlyMap<number, string>): RecordedTrouble[] {
  const say = (what: string): RecordedTrouble[] => [{ eventId: event.eventId, what }];
  const activityOf = (scheduledEventId: number): string => names.get(scheduledEventId) ?? 'an activity';
  const retried = event.activityTaskStartedEventAttributes;
  if (retried?.lastFailure) {
    const { scheduledEventId, attempt, lastFailure } = retried;
    return say(
      `${activityOf(scheduledEventId)} needed attempt ${attempt ?? '?'}; the one before: ${failureInWords(lastFailure)}`,
    );
  }
  const answered = event.activityTaskCompletedEventAttributes;
  const outcome = badOutcome.safeParse(valueOf(answered?.result));
  if (answered && outcome.success) {
    const { kind, code, check, reason } = outcome.data;
    const why = [code, check, reason].filter((part) => part !== undefined).join(', ');
    return say(`${activityOf(answered.scheduledEventId)} answered ${kind}${why === '' ? '' : ` (${why})`}`);
  }
  const failed = event.activityTaskFailedEventAttributes;
  if (failed) return say(`${activityOf(failed.scheduledEventId)} failed: ${failureInWords(failed.failure)}`);
  const late = event.activityTaskTimedOutEventAttributes;
  if (late) return say(`${activityOf(late.scheduledEventId)} timed out: ${failureInWords(late.failure)}`);
  const task = event.workflowTaskFailedEventAttributes;
  if (task?.cause === RESET) return say('an engineer reset it: what follows was run anew');
  if (task)
    return say(
      `the workflow’s own code failed (${task.cause ?? 'no cause'}): ${failureInWords(task.failure)}`,
    );
  const child = event.childWorkflowExecutionFailedEventAttributes;
  if (child) return say(`${child.workflowExecution.workflowId} failed: ${failureInWords(child.failure)}`);
  const ended = event.childWorkflowExecutionTerminatedEventAttributes;
  if (ended) return say(`${ended.workflowExecution.workflowId} was terminated`);
  const unheard = event.signalExternalWorkflowExecutionFailedEventAttributes;
  if (unheard) return say(`${unheard.workflowExecution.workflowId} was not there to be signalled`);
  return [];
}

/** A reset leaves the mark of a failed task. */
const RESET = 'WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW';

/** Outcomes are values (a step that failed, a plan that was refused): they count as troubles, although nothing threw. */
const badOutcome = z.object({
  kind: z.enum(['failed', 'unknown', 'refused', 'rejected', 'denied']),
  code: z.string().optional(),
  check: z.string().optional(),
  reason: z.string().optional(),
});

/** The innermost cause says most. */
export function failureInWords(given: Failure | undefined): string {
  if (!given) return 'nothing says why';
  if (given.cause) return failureInWords(given.cause);
  const type = given.applicationFailureInfo?.type ?? given.timeoutFailureInfo?.timeoutType;
  return [type, given.message].filter((part) => part !== undefined && part !== '').join(': ');
}
