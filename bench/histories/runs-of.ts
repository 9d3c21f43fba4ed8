// A workflow that went on in new histories, from the last of them back to the first.
import type { History } from '../desk.js';

/** Undefined: this history is the first. */
export function previousRunOf({ events }: History): string | undefined {
  const runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  return runId === '' ? undefined : runId;
}
