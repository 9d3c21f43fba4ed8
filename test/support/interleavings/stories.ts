// Stories of one approval each, and how they are told on a desk. Answers of one moment are given at once; what their givers
// are told has to be explained by some order of them, and the pure model goes on with that one.
import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { createExecutionActivities } from '../../../activities/execution/execute-step.js';
import type { Desk } from '../../../bench/desk.js';
import { after, anAnswer, type Answer, type Happening, type Model } from '../approval-model.js';

export type Event =
  /** All at the same moment: one alone, the same twice as by a double click, or different ones. */
  | { kind: 'answers'; answers: Answer[] }
  /** Nobody has answered, and its time is over. */
  | { kind: 'time' }
  /** The run is woken for nothing. */
  | { kind: 'ring' }
  /** The step is handed to two workers at once, whatever the run thinks. */
  | { kind: 'deliver' };

export interface Story {
  needed: number;
  events: { event: Event; pauseMs: number }[];
}

const alone = anAnswer.map((answer): Event => ({ kind: 'answers', answers: [answer] }));
const doubleClick = anAnswer.map((answer): Event => ({ kind: 'answers', answers: [answer, answer] }));
const crossfire = fc
  .array(anAnswer, { minLength: 2, maxLength: 3 })
  .map((answers): Event => ({ kind: 'answers', answers }));

export const aStory: fc.Arbitrary<Story> = fc.record({
  needed: fc.constantFrom(1, 1, 2),
  events: fc.array(
    fc.record({
      event: fc.oneof(
        { weight: 6, arbitrary: alone },
        { weight: 2, arbitrary: doubleClick },
        { weight: 3, arbitrary: crossfire },
        { weight: 2, arbitrary: fc.constant<Event>({ kind: 'deliver' }) },
        { weight: 1, arbitrary: fc.constant<Event>({ kind: 'time' }) },
        { weight: 1, arbitrary: fc.constant<Event>({ kind: 'ring' }) },
      ),
      pauseMs: fc.constantFrom(0, 0, 40, 300),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

/** The rows that a story is about. */
export interface Asked {
  turnId: string;
  stepId: string;
}

/** Tells a story to its last event, and answers where the model stands then. */
export async function tell(desk: Desk, asked: Asked, story: Story, start: Model): Promise<Model> {
  let model = start;
  for (const { event, pauseMs } of story.events) {
    await sleep(pauseMs);
    switch (event.kind) {
      case 'answers':
        model = await answerAtOnce(desk, asked, event.answers, model);
        break;
      case 'time':
        await letTimeBeOver(desk, asked);
        model = after(model, { kind: 'time' }).model;
        break;
      case 'ring':
        await ring(desk, asked);
        break;
      case 'deliver':
        await Promise.all([deliver(desk, asked), deliver(desk, asked)]);
        model = DELIVERED.reduce((now, happening) => after(now, happening).model, model);
    }
  }
  return model;
}

const DELIVERED: readonly Happening[] = (['claim', 'call', 'record'] as const).map((kind) => ({
  kind,
  worker: 0,
}));

async function answerAtOnce(desk: Desk, asked: Asked, answers: Answer[], model: Model): Promise<Model> {
  const approvalIds = await chainOf(desk, asked);
  const heard = await Promise.all(answers.map((answer, index) => give(desk, approvalIds, answer, index)));
  for (const order of ordersOf(answers.map((_, index) => index))) {
    let now = model;
    const explains = order.every((index) => {
      const answer = answers[index];
      if (!answer) return false;
      // Whoever looks at the request that asked when this moment began.
      const next = after(now, asItWas(answer, model));
      now = next.model;
      return next.outcome === heard[index];
    });
    if (explains) return now;
  }
  const words = JSON.stringify({ answers, heard, requests: model.requests, step: model.step });
  return assert.fail(`no order of the answers explains what was heard: ${words}`);
}

/** `newest` means the one that was newest before anybody answered. */
function asItWas(answer: Answer, { requests }: Model): Answer {
  return answer.which === 'newest' ? { ...answer, which: requests.length - 1 } : answer;
}

let minutes = 0;
/** A time that nobody has asked for: to ask for the same is no edit. */
function anotherTime(): string {
  minutes += 1;
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`;
}

async function give(
  desk: Desk,
  approvalIds: readonly string[],
  { kind, who, which }: Answer,
  index: number,
): Promise<string> {
  const approvalId = which === 'first' ? approvalIds[0] : approvalIds.at(-1);
  assert.ok(approvalId !== undefined && typeof which === 'string');
  const surface = (['console', 'web', 'whatsapp'] as const)[index % 3] ?? 'console';
  const request = { tenantId: desk.tenantId, key: { approvalId }, approver: { surface, id: who } };
  if (kind === 'edit') {
    const change = { kind: 'pairs', pairs: [['time', anotherTime()]] } as const;
    const { outcome } = await desk.decisions.editApproval({ ...request, change });
    return outcome === 'edited' ? 'changed' : outcome === 'edited_before' ? 'edited' : outcome;
  }
  const { outcome } = await desk.decisions.decideApproval({ ...request, decision: kind });
  return outcome === 'edited_before' ? 'edited' : outcome;
}

/** The requests of a step, the first one first. */
async function chainOf(desk: Desk, { stepId }: Asked): Promise<string[]> {
  const rows = await desk.database.inTenant(desk.tenantId, (tx) =>
    tx.approval.findMany({ where: { stepId }, select: { id: true, replacesId: true } }),
  );
  const chain: string[] = [];
  let next = rows.find(({ replacesId }) => replacesId === null);
  while (next) {
    const { id } = next;
    chain.push(id);
    next = rows.find(({ replacesId }) => replacesId === id);
  }
  return chain;
}

export async function letTimeBeOver(desk: Desk, { stepId }: Asked): Promise<void> {
  await desk.database.inTenant(desk.tenantId, (tx) =>
    tx.approval.updateMany({ where: { stepId, state: 'open' }, data: { expiresAt: new Date() } }),
  );
}

/** Every request's bell: the run may not have heard of the last edit. */
export async function ring(desk: Desk, asked: Asked): Promise<void> {
  for (const approvalId of await chainOf(desk, asked)) {
    await desk.conversations.wakeRun({ turnId: asked.turnId, approvalId });
  }
}

async function deliver({ deps, tenantId }: Desk, { stepId }: Asked): Promise<void> {
  const environment = new MockActivityEnvironment({ attempt: 1 }, { logger: new DefaultLogger('ERROR') });
  try {
    await environment.run(
      (input: { tenantId: string; stepId: string }) => createExecutionActivities(deps).executeStep(input),
      { tenantId, stepId },
    );
  } catch (error) {
    // Another worker has it: Temporal would ask again.
    if (!(error instanceof ApplicationFailure) || error.type !== 'EFFECT_UNSETTLED') throw error;
  }
}

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) => ordersOf(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}
