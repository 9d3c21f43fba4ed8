// What a recorded run did, read from its history: its activities in their order, with what they answered.
import { z } from 'zod';

export interface Performed {
  activity: string;
  result: unknown;
}

const historySchema = z.object({
  events: z.array(
    z.object({
      eventId: z.union([z.string(), z.number()]).transform(String),
      activityTaskScheduledEventAttributes: z
        .object({ activityType: z.object({ name: z.string() }) })
        .optional(),
      activityTaskCompletedEventAttributes: z
        .object({
          scheduledEventId: z.union([z.string(), z.number()]).transform(String),
          result: z.object({ payloads: z.array(z.object({ data: z.string() })) }).optional(),
        })
        .optional(),
    }),
  ),
});

/** Activities that were scheduled, with their results. */
export function decideCommandsOf(history: unknown): Performed[] {
  const { events } = historySchema.parse(history);
  return events.flatMap((event) => {
    const activity = event.activityTaskScheduledEventAttributes?.activityType.name;
    if (activity === undefined) return [];
    const completed = events.find(
      (other) => other.activityTaskCompletedEventAttributes?.scheduledEventId === event.eventId,
    );
    const data = completed?.activityTaskCompletedEventAttributes?.result?.payloads[0]?.data;
    const result: unknown =
      data === undefined ? undefined : JSON.parse(Buffer.from(data, 'base64').toString('utf8'));
    return [{ activity, result }];
  });
}

const withApproval = z.object({
  kind: z.literal('accepted'),
  approval: z.object({ approvalId: z.string() }),
});
const approved = z.object({ settlement: z.literal('approved') });

/** No step that asked for a yes is executed before an activity has read one (spec G3). */
export function executesOnlyAfterYes(performed: readonly Performed[]): boolean {
  let isWaiting = false;
  for (const { activity, result } of performed) {
    if (activity === 'validate') isWaiting = withApproval.safeParse(result).success;
    if (activity === 'settleApproval' && approved.safeParse(result).success) isWaiting = false;
    if (activity === 'executeStep' && isWaiting) return false;
  }
  return true;
}
