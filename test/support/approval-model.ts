// A step that waits for a yes, its requests and the workers that may carry it out, as a pure reducer. What an answer makes of a
// request is the product's own table (workflows/domain/approval.ts); the rest says in small what stores and activities promise.
import fc from 'fast-check';
import { answered, answerRefusal, type ApprovalState } from '../../workflows/domain/approval.js';

/** Cyd is an owner too, and not among those who are asked. */
export const OWNERS = ['ada', 'bo', 'cyd'] as const;
export type OwnerId = (typeof OWNERS)[number];
const ASKED: readonly OwnerId[] = ['ada', 'bo'];

export interface Answer {
  kind: 'approve' | 'reject' | 'edit';
  who: OwnerId;
  /** Whether they still see the first request, the one that asks now, or the one of this number. */
  which: 'first' | 'newest' | number;
}

export type Happening =
  | Answer
  /** Nobody has answered, and its time is over. */
  | { kind: 'time' }
  /** Some time passes; a call that was under way has answered or never will. */
  | { kind: 'pause'; ms: number }
  /** The run looks at its approval, after a bell or at its deadline. */
  | { kind: 'look' }
  /** A worker takes the step up: because the run says so, once more because Temporal does, or because somebody forged a task. */
  | { kind: 'claim' | 'call' | 'record' | 'kill'; worker: 0 | 1 };

interface Request {
  state: ApprovalState;
  expiresAt: number;
  needed: number;
  argumentsHash: string;
  yeses: ReadonlySet<string>;
  /** Somebody has said no to it. */
  isDeclined: boolean;
}

interface Holder {
  fence: number;
  argumentsHash: string;
  hasCalled: boolean;
}

export interface Model {
  now: number;
  requests: readonly Request[];
  step: {
    state: 'accepted' | 'started' | 'succeeded' | 'refused';
    argumentsHash: string;
    fence: number;
    callBy: number;
  };
  workers: readonly [Holder | undefined, Holder | undefined];
  /** Calls that took effect: with what, and by which request. */
  effects: readonly { argumentsHash: string; request: number }[];
}

const LASTS_MS = 60_000;
const CALL_MS = 5_000;
const SETTLE_AFTER_MS = 5_000;

export function startModel({ needed }: { needed: number }): Model {
  return {
    now: 0,
    requests: [asking({ needed, now: 0, argumentsHash: 'h0' })],
    step: { state: 'accepted', argumentsHash: 'h0', fence: 0, callBy: 0 },
    workers: [undefined, undefined],
    effects: [],
  };
}

function asking({
  needed,
  now,
  argumentsHash,
}: {
  needed: number;
  now: number;
  argumentsHash: string;
}): Request {
  const expiresAt = now + LASTS_MS;
  return { state: 'open', expiresAt, needed, argumentsHash, yeses: new Set(), isDeclined: false };
}

export type Outcome =
  | 'decided'
  | 'counted'
  | 'already_said'
  | 'already_decided'
  | 'expired'
  | 'edited'
  | 'not_asked'
  | 'changed'
  | 'not_changed';

/** What happens next; of an answer also what whoever gave it is told. */
export function after(model: Model, happening: Happening): { model: Model; outcome?: Outcome } {
  switch (happening.kind) {
    case 'approve':
    case 'reject':
    case 'edit':
      return afterAnswer(model, happening);
    case 'time':
      return { model: { ...model, now: Math.max(model.now, newestOf(model).expiresAt) } };
    case 'pause':
      return { model: { ...model, now: model.now + happening.ms } };
    case 'look':
      return { model: look(model) };
    case 'claim':
      return { model: claim(model, happening.worker) };
    case 'call':
      return { model: call(model, happening.worker) };
    case 'record':
      return { model: record(model, happening.worker) };
    case 'kill':
      return { model: withWorker(model, happening.worker, undefined) };
  }
}

function afterAnswer(model: Model, { kind, who, which }: Answer): { model: Model; outcome: Outcome } {
  const index = which === 'first' ? 0 : which === 'newest' ? model.requests.length - 1 : which;
  const request = requestAt(model, index);
  const refusal = answerRefusal({ ...request, approvers: ASKED }, { surface: 'console', id: who }, model.now);
  if (refusal) return { model, outcome: refusal };
  if (kind === 'edit') return edit(model, index);
  const answer = answered(request, { decision: kind, approverId: who });
  if (answer.outcome === 'already_said') return { model, outcome: 'already_said' };
  const state = answer.outcome === 'decided' ? answer.state : request.state;
  const yeses = kind === 'approve' ? new Set([...request.yeses, who]) : request.yeses;
  const isDeclined = kind === 'reject';
  return {
    model: withRequest(model, index, { ...request, state, yeses, isDeclined }),
    outcome: answer.outcome,
  };
}

function edit(model: Model, index: number): { model: Model; outcome: Outcome } {
  if (model.step.state !== 'accepted') return { model, outcome: 'not_changed' };
  const edited = requestAt(model, index);
  const argumentsHash = `h${model.requests.length}`;
  const changed = withRequest(model, index, { ...edited, state: 'edited' });
  const next = asking({ needed: edited.needed, now: model.now, argumentsHash });
  return {
    model: { ...changed, requests: [...changed.requests, next], step: { ...model.step, argumentsHash } },
    outcome: 'changed',
  };
}

/** Where it was turned down or nobody answered, the step is closed. */
function look(model: Model): Model {
  const index = model.requests.length - 1;
  const newest = requestAt(model, index);
  const isOver = newest.state === 'open' && newest.expiresAt <= model.now;
  const seen = isOver ? withRequest(model, index, { ...newest, state: 'expired' }) : model;
  const { state } = newestOf(seen);
  return state === 'rejected' || state === 'expired' ? refuse(seen) : seen;
}

function refuse(model: Model): Model {
  return model.step.state === 'accepted' ? { ...model, step: { ...model.step, state: 'refused' } } : model;
}

function claim(model: Model, worker: 0 | 1): Model {
  const { step, now } = model;
  switch (step.state) {
    case 'succeeded':
    case 'refused':
      return model;
    case 'accepted': {
      const index = model.requests.findIndex(
        ({ state, argumentsHash, needed, yeses }) =>
          state === 'approved' && argumentsHash === step.argumentsHash && yeses.size >= needed,
      );
      if (index === -1) return refuse(model);
      return start(withRequest(model, index, { ...requestAt(model, index), state: 'used' }), worker);
    }
    case 'started': {
      if (now < step.callBy + SETTLE_AFTER_MS) return model;
      // Its deadline is long over: what has not happened by now can't happen under the old fence.
      return model.effects.length > 0
        ? { ...model, step: { ...step, state: 'succeeded' } }
        : start(model, worker);
    }
  }
}

function start(model: Model, worker: 0 | 1): Model {
  const fence = model.step.fence + 1;
  const { argumentsHash } = model.step;
  const step = { ...model.step, state: 'started' as const, fence, callBy: model.now + CALL_MS };
  return withWorker({ ...model, step }, worker, { fence, argumentsHash, hasCalled: false });
}

/** Right before the call it looks once more whether the step is still its own, and whether there is time. */
function call(model: Model, worker: 0 | 1): Model {
  const holder = model.workers[worker];
  const { step, now } = model;
  if (!holder || holder.hasCalled || holder.fence !== step.fence) return model;
  if (step.state !== 'started' || now > step.callBy) return model;
  const request = model.requests.findIndex(({ state }) => state === 'used');
  const effects = [...model.effects, { argumentsHash: holder.argumentsHash, request }];
  return withWorker({ ...model, effects }, worker, { ...holder, hasCalled: true });
}

function record(model: Model, worker: 0 | 1): Model {
  const holder = model.workers[worker];
  const { step } = model;
  if (!holder?.hasCalled || holder.fence !== step.fence || step.state !== 'started') return model;
  return withWorker({ ...model, step: { ...step, state: 'succeeded' } }, worker, undefined);
}

/** Nobody does anything any more: its time passes, the run looks, and tries until the step is over. */
export function comeToRest(model: Model): Model {
  const story: Happening[] = [{ kind: 'time' }, { kind: 'look' }];
  for (let attempt = 0; attempt < 2; attempt += 1) {
    story.push({ kind: 'pause', ms: CALL_MS + SETTLE_AFTER_MS });
    story.push(...(['claim', 'call', 'record'] as const).map((kind) => ({ kind, worker: 0 as const })));
  }
  return story.reduce((now, happening) => after(now, happening).model, model);
}

/** What must never be true, and is. */
export function wrongIn({ effects, requests, step }: Model): string[] {
  const wrong: string[] = [];
  if (effects.length > 1) wrong.push(`it was done ${effects.length} times`);
  for (const { argumentsHash, request } of effects) {
    const yes = requests[request];
    if (yes?.state !== 'used') wrong.push('no approval was used up for it');
    else if (yes.argumentsHash !== argumentsHash) wrong.push('something else was approved');
    else if (yes.yeses.size < yes.needed) wrong.push('too few have said yes');
    if (yes?.isDeclined) wrong.push('somebody has said no to it');
    if (argumentsHash !== step.argumentsHash) wrong.push('it was edited away');
  }
  if (requests.filter(({ state }) => state === 'used').length > 1) wrong.push('two approvals were used up');
  if (step.state === 'refused' && effects.length > 0) wrong.push('it was refused, and done');
  if (step.state === 'succeeded' && effects.length === 0) wrong.push('it is called done, and was not');
  return wrong;
}

export function newestOf(model: Model): Request {
  return requestAt(model, model.requests.length - 1);
}

function requestAt({ requests }: Model, index: number): Request {
  const request = requests[index];
  if (!request) throw new Error('there is no such request');
  return request;
}

function withRequest(model: Model, index: number, request: Request): Model {
  return { ...model, requests: model.requests.with(index, request) };
}

function withWorker(model: Model, worker: 0 | 1, holder: Holder | undefined): Model {
  return { ...model, workers: worker === 0 ? [holder, model.workers[1]] : [model.workers[0], holder] };
}

/** Owners answer, in time or late, the right request or an old one. */
export const anAnswer: fc.Arbitrary<Answer> = fc.record({
  kind: fc.constantFrom(...(['approve', 'approve', 'approve', 'reject', 'edit'] as const)),
  who: fc.constantFrom(...(['ada', 'ada', 'bo', 'bo', 'cyd'] as const)),
  which: fc.constantFrom(...(['newest', 'newest', 'first'] as const)),
});

const ofAWorker = fc.record({
  kind: fc.constantFrom(...(['claim', 'claim', 'call', 'call', 'record', 'kill'] as const)),
  worker: fc.constantFrom(...([0, 1] as const)),
});

/** Anything may happen at any time. */
export const aHappening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 5, arbitrary: anAnswer },
  { weight: 6, arbitrary: ofAWorker },
  { weight: 2, arbitrary: fc.constant<Happening>({ kind: 'look' }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('pause' as const), ms: fc.constantFrom(1_000, 6_000, 11_000) }),
  },
  { weight: 1, arbitrary: fc.constant<Happening>({ kind: 'time' }) },
);
