// Billable actions of a history, as Temporal Cloud counts them: a start, a signal that arrives, a timer and each attempt of
// an activity are one each; a child is one more than its own start.
import type { History } from './desk.js';

export interface ActionCount {
  actions: number;
  events: number;
}

export function actionsOf(history: History): ActionCount {
  const events = history.events ?? [];
  const attempts = events.reduce(
    (sum, event) => sum + Math.max(0, (event.activityTaskStartedEventAttributes?.attempt ?? 1) - 1),
    0,
  );
  const counted = events.filter(
    (event) =>
      event.workflowExecutionStartedEventAttributes ??
      event.workflowExecutionSignaledEventAttributes ??
      event.timerStartedEventAttributes ??
      event.activityTaskScheduledEventAttributes ??
      event.startChildWorkflowExecutionInitiatedEventAttributes,
  );
  return { actions: counted.length + attempts, events: events.length };
}
