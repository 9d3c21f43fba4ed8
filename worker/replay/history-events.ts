// Events of a history as JSON of Temporal's protocol, as far as a replay's story needs them. Fields that aren't named here
// stay in the history itself, for the SDK.
import { z } from 'zod';

/** The protocol writes 64-bit numbers as text. */
const eventNumber = z.coerce.number().int();
const named = z.object({ name: z.string() });
const payloads = z.object({
  payloads: z.array(z.object({ data: z.string().optional() })).optional(),
});
const failure = z.object({
  message: z.string().optional(),
  applicationFailureInfo: z.object({ type: z.string().optional() }).optional(),
  timeoutFailureInfo: z.object({ timeoutType: z.string().optional() }).optional(),
  get cause() {
    return failure.optional();
  },
});
export type Failure = z.infer<typeof failure>;
const execution = z.object({ workflowId: z.string() });
const inTask = { workflowTaskCompletedEventId: eventNumber.default(0) };

export const eventSchema = z.object({
  eventId: eventNumber,
  eventTime: z.string().optional(),
  workflowExecutionStartedEventAttributes: z
    .object({ workflowType: named, workflowId: z.string().optional() })
    .optional(),
  workflowTaskCompletedEventAttributes: z.object({ sdkMetadata: z.object({}).optional() }).optional(),
  workflowTaskFailedEventAttributes: z
    .object({ cause: z.string().optional(), failure: failure.optional() })
    .optional(),
  activityTaskScheduledEventAttributes: z
    .object({ activityType: named, input: payloads.optional(), ...inTask })
    .optional(),
  activityTaskStartedEventAttributes: z
    .object({
      scheduledEventId: eventNumber,
      attempt: z.number().optional(),
      lastFailure: failure.optional(),
    })
    .optional(),
  activityTaskCompletedEventAttributes: z
    .object({ scheduledEventId: eventNumber, result: payloads.optional() })
    .optional(),
  activityTaskFailedEventAttributes: z
    .object({ scheduledEventId: eventNumber, failure: failure.optional() })
    .optional(),
  activityTaskTimedOutEventAttributes: z
    .object({ scheduledEventId: eventNumber, failure: failure.optional() })
    .optional(),
  timerStartedEventAttributes: z.object({ startToFireTimeout: z.string().optional(), ...inTask }).optional(),
  startChildWorkflowExecutionInitiatedEventAttributes: z
    .object({ workflowId: z.string(), workflowType: named, ...inTask })
    .optional(),
  childWorkflowExecutionFailedEventAttributes: z
    .object({ workflowExecution: execution, failure: failure.optional() })
    .optional(),
  childWorkflowExecutionTerminatedEventAttributes: z.object({ workflowExecution: execution }).optional(),
  signalExternalWorkflowExecutionInitiatedEventAttributes: z
    .object({ signalName: z.string(), workflowExecution: execution, ...inTask })
    .optional(),
  signalExternalWorkflowExecutionFailedEventAttributes: z.object({ workflowExecution: execution }).optional(),
  markerRecordedEventAttributes: z
    .object({ markerName: z.string(), details: z.record(z.string(), payloads).optional() })
    .optional(),
  workflowExecutionCompletedEventAttributes: z.object(inTask).optional(),
  workflowExecutionContinuedAsNewEventAttributes: z.object(inTask).optional(),
  workflowExecutionFailedEventAttributes: z.object({ failure: failure.optional(), ...inTask }).optional(),
  workflowExecutionTerminatedEventAttributes: z.object({ reason: z.string().optional() }).optional(),
  workflowExecutionTimedOutEventAttributes: z.object({}).optional(),
  workflowExecutionCanceledEventAttributes: z.object({}).optional(),
});
export type HistoryEvent = z.infer<typeof eventSchema>;

/** The first payload, where it is JSON. */
export function valueOf(given: z.infer<typeof payloads> | undefined): unknown {
  const data = given?.payloads?.[0]?.data;
  if (data === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(data, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}
