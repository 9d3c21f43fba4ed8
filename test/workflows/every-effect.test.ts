// Every recorded run had the yes to what it did (spec G3), and a history in which one is missing would be caught.
import assert from 'node:assert/strict';
import { z } from 'zod';
import { effectsIn, effectsWithoutTheirYes, everyEffectHasItsYes } from '../support/every-effect.js';
import { golden, goldenNames } from '../support/golden.js';

const withEvents = z.looseObject({ events: z.array(z.looseObject({ eventId: z.unknown() })) });
type History = z.infer<typeof withEvents>;

const historyOf = (name: string): History => withEvents.parse(golden(name).history);
const encoded = (value: unknown) => ({
  payloads: [{ metadata: {}, data: Buffer.from(JSON.stringify(value)).toString('base64') }],
});

/** The history with another answer in the place of those of one activity. */
function answering(history: History, activity: string, change: (answer: object) => unknown): History {
  const scheduled = z.object({
    eventId: z.unknown(),
    activityTaskScheduledEventAttributes: z.object({ activityType: z.object({ name: z.string() }) }),
  });
  const completed = z.looseObject({
    activityTaskCompletedEventAttributes: z.looseObject({
      scheduledEventId: z.unknown(),
      result: z.object({ payloads: z.tuple([z.object({ data: z.string() })]) }),
    }),
  });
  const ids = history.events.flatMap((event) => {
    const { data } = scheduled.safeParse(event);
    const isIt = data?.activityTaskScheduledEventAttributes.activityType.name === activity;
    return isIt ? [String(data?.eventId)] : [];
  });
  const events = history.events.map((event) => {
    const { data } = completed.safeParse(event);
    const done = data?.activityTaskCompletedEventAttributes;
    if (!done || !ids.includes(String(done.scheduledEventId))) return event;
    const answer: unknown = JSON.parse(Buffer.from(done.result.payloads[0].data, 'base64').toString());
    const result = encoded(change(z.looseObject({}).parse(answer)));
    return { ...event, activityTaskCompletedEventAttributes: { ...done, result } };
  });
  return { ...history, events };
}

/** Recorded businesses that let something happen without asking anybody, by the rule that says so. */
const ALLOWED_BY: Record<string, string[]> = { 'operator-asked.run-1': ['forwarding-is-free'] };

describe('every effect of a recorded run has its yes', () => {
  const names = goldenNames();
  const runs = names.filter((name) => name.includes('.run-'));

  for (const name of names) {
    it(name, () => {
      assert.deepEqual(effectsWithoutTheirYes(historyOf(name), ALLOWED_BY[name]), []);
    });
  }

  it('and there are runs that did something, also after an edit and after a typed yes', () => {
    const did = runs.filter((name) => effectsIn(historyOf(name)) > 0);
    for (const name of ['approval-approved', 'approval-edited', 'approval-from-temporal', 'confirm-yes']) {
      assert.ok(did.includes(`${name}.run-1`), name);
    }
    for (const name of ['approval-rejected', 'approval-expired', 'confirm-no']) {
      assert.ok(!did.includes(`${name}.run-1`), name);
    }
  });
});

describe('a history with an effect without its yes is caught', () => {
  const approved = historyOf('approval-approved.run-1');

  for (const settlement of ['open', 'rejected', 'expired']) {
    it(`when the approval was ${settlement}`, () => {
      const doctored = answering(approved, 'settleApproval', (answer) => ({ ...answer, settlement }));
      assert.match(
        effectsWithoutTheirYes(doctored).join(),
        /was executed \(succeeded\) before anybody had approved/,
      );
    });
  }

  it('when another approval was meant', () => {
    const doctored = answering(approved, 'validate', (answer) => ({
      ...answer,
      approval: { approvalId: '00000000-0000-4000-8000-000000000001' },
    }));
    assert.equal(everyEffectHasItsYes(doctored), false);
  });

  it('when the yes was to what stood there before an edit', () => {
    const edited = historyOf('approval-edited.run-1');
    const doctored = answering(edited, 'settleApproval', (answer) =>
      'newer' in answer
        ? answer
        : { ...answer, newer: { approvalId: '00000000-0000-4000-8000-000000000001' }, settlement: 'open' },
    );
    assert.equal(everyEffectHasItsYes(doctored), false);
  });

  it('when the checks had refused the step', () => {
    const doctored = answering(approved, 'validate', () => ({
      kind: 'rejected',
      stepId: 's',
      check: 'c',
      code: 'C',
    }));
    assert.match(effectsWithoutTheirYes(doctored).join(), /without ever being accepted/);
  });

  it('when nobody was asked at all', () => {
    const doctored = answering(approved, 'validate', (answer) => ({ ...answer, approval: undefined }));
    assert.match(effectsWithoutTheirYes(doctored).join(), /nobody was asked for a yes/);
  });

  it('when only another rule would have allowed it', () => {
    const [name = ''] = Object.keys(ALLOWED_BY);
    assert.match(effectsWithoutTheirYes(historyOf(name), ['another']).join(), /nobody was asked for a yes/);
  });

  it('when the yes came after the step had begun', () => {
    const at = (activity: string): number =>
      approved.events.findIndex((event) => JSON.stringify(event).includes(`"name":"${activity}"`));
    const [look, execute] = [at('settleApproval'), at('executeStep')];
    assert.ok(look !== -1 && execute > look);
    // The whole try comes first, as a workflow would write it that forgets to wait.
    const events = [
      ...approved.events.slice(0, look),
      ...approved.events.slice(execute, execute + 1),
      ...approved.events.slice(look, execute),
      ...approved.events.slice(execute + 1),
    ];
    assert.equal(everyEffectHasItsYes({ ...approved, events }), false);
  });
});
