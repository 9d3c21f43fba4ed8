// Whether a recorded run had the yes to everything that it did (spec G3): read from its history alone, whatever the rows say.
import { z } from 'zod';

const id = z.union([z.string(), z.number()]).transform(String);
const payloads = z.object({ payloads: z.array(z.object({ data: z.string() })) });
const historySchema = z.object({
  events: z.array(
    z.object({
      eventId: id,
      activityTaskScheduledEventAttributes: z
        .object({ activityType: z.object({ name: z.string() }), input: payloads.optional() })
        .optional(),
      activityTaskCompletedEventAttributes: z
        .object({ scheduledEventId: id, result: payloads.optional() })
        .optional(),
    }),
  ),
});

const ofStep = z.object({ stepId: z.string() });
const ofApproval = z.object({ approvalId: z.string() });
const verdict = z.object({
  kind: z.string(),
  effect: z.string().optional(),
  rule: z.string().optional(),
  approval: ofApproval.optional(),
});
const settled = z.object({ settlement: z.string(), newer: ofApproval.optional() });
const outcome = z.object({ kind: z.string() });

/** Of these it is certain that nothing was called. */
const NOTHING_DONE: readonly string[] = ['refused', 'parked'];

/**
 * What was done without its yes, a sentence each; none: everything had one. A step that was accepted with an approval needs
 * `settleApproval` to have said `approved` for it, or for the newer one that followed after an edit, before its `executeStep`
 * is scheduled; one that the checks never accepted may not be tried at all, and an effect about which nobody was asked is one
 * that policy has to allow, by a rule that the caller names. A try that only found itself refused did nothing.
 */
export function effectsWithoutTheirYes(history: unknown, allowedBy: readonly string[] = []): string[] {
  const { events } = historySchema.parse(history);
  const resultOf = new Map(
    events.flatMap(({ activityTaskCompletedEventAttributes: done }) =>
      done ? [[done.scheduledEventId, read(done.result)] as const] : [],
    ),
  );
  /** Absent: never accepted. No ids: accepted without a need for a yes. */
  const asked = new Map<string, string[]>();
  /** Effects that nobody was asked about. */
  const unasked = new Set<string>();
  const approved = new Set<string>();
  const wrong: string[] = [];
  const scheduled = new Map<string, { name: string; input: unknown }>();
  for (const { eventId, ...event } of events) {
    const { activityTaskScheduledEventAttributes: begun, activityTaskCompletedEventAttributes: done } = event;
    if (begun) {
      const input = read(begun.input);
      scheduled.set(eventId, { name: begun.activityType.name, input });
      if (begun.activityType.name !== 'executeStep') continue;
      const { stepId } = ofStep.parse(input);
      // One that never answered may have done it.
      const answer = outcome.safeParse(resultOf.get(eventId)).data?.kind ?? 'no answer';
      if (NOTHING_DONE.includes(answer)) continue;
      if (unasked.has(stepId)) wrong.push(`step ${stepId} is an effect, and nobody was asked for a yes`);
      const yeses = asked.get(stepId);
      if (yeses === undefined)
        wrong.push(`step ${stepId} was executed (${answer}) without ever being accepted`);
      else if (yeses.length > 0 && !yeses.some((one) => approved.has(one)))
        wrong.push(`step ${stepId} was executed (${answer}) before anybody had approved ${yeses.at(-1)}`);
    } else if (done) {
      const { name, input } = scheduled.get(done.scheduledEventId) ?? {};
      const result = read(done.result);
      if (name === 'validate') {
        const { kind, effect = 'read', rule = '', approval } = verdict.parse(result);
        if (kind !== 'accepted') continue;
        const { stepId } = ofStep.parse(input);
        asked.set(stepId, approval ? [approval.approvalId] : []);
        if (!approval && effect !== 'read' && !allowedBy.includes(rule)) unasked.add(stepId);
      } else if (name === 'settleApproval') {
        const { approvalId } = ofApproval.parse(input);
        const { settlement, newer } = settled.parse(result);
        // What was edited asks for nothing any more: only a yes to the newer one counts.
        if (newer) for (const yeses of asked.values()) replace(yeses, approvalId, newer.approvalId);
        if (settlement === 'approved') approved.add(newer?.approvalId ?? approvalId);
      }
    }
  }
  return wrong;
}

/** The predicate of the same name: nothing was done without its yes. */
export function everyEffectHasItsYes(history: unknown): boolean {
  return effectsWithoutTheirYes(history).length === 0;
}

/** How many tries of a step a history holds that did something, or may have. */
export function effectsIn(history: unknown): number {
  const { events } = historySchema.parse(history);
  const tries = events.filter(
    ({ activityTaskScheduledEventAttributes: begun }) => begun?.activityType.name === 'executeStep',
  );
  return tries.filter(({ eventId }) => {
    const done = events.find(
      ({ activityTaskCompletedEventAttributes: one }) => one?.scheduledEventId === eventId,
    );
    const answer = outcome.safeParse(read(done?.activityTaskCompletedEventAttributes?.result)).data?.kind;
    return answer === undefined || !NOTHING_DONE.includes(answer);
  }).length;
}

function replace(ids: string[], was: string, is: string): void {
  const at = ids.indexOf(was);
  if (at !== -1) ids[at] = is;
}

function read(value: z.infer<typeof payloads> | undefined): unknown {
  const data = value?.payloads[0]?.data;
  return data === undefined ? undefined : JSON.parse(Buffer.from(data, 'base64').toString('utf8'));
}
