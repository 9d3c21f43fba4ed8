// Whatever order answers, deadlines, workers and kills come in: a step is carried out at most once, and only with the yes to
// what is carried out. Here on the pure model; test/workflows/interleavings.test.ts does the same with the real thing.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { answered, answerRefusal, APPROVAL_STATES } from '../../workflows/domain/approval.js';
import {
  after,
  aHappening,
  comeToRest,
  startModel,
  wrongIn,
  type Happening,
} from '../support/approval-model.js';

/** How many stories ended how: a generator that never gets anywhere proves nothing. */
const ends = new Map<string, number>();

describe('a step that waits for a yes', () => {
  it('is done at most once, with a yes to exactly that, and comes to its end, in 2,000 random stories', () => {
    const stories = fc.array(aHappening, { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 }), stories, (needed, story) => {
        let model = startModel({ needed });
        for (const happening of story) {
          model = after(model, happening).model;
          assert.deepEqual(wrongIn(model), []);
        }
        model = comeToRest(model);
        assert.deepEqual(wrongIn(model), []);
        assert.ok(['succeeded', 'refused'].includes(model.step.state), 'the run ends');
        const end = `${model.step.state}, ${model.requests.at(-1)?.state}`;
        ends.set(end, (ends.get(end) ?? 0) + 1);
      }),
      { seed: 20_261_201, numRuns: 2_000 },
    );
  });

  it('met every end in these stories', () => {
    for (const end of ['succeeded, used', 'refused, rejected', 'refused, expired', 'refused, approved']) {
      assert.ok((ends.get(end) ?? 0) >= 20, `${end}: ${ends.get(end) ?? 0} stories`);
    }
  });

  it('would be caught done twice, without a yes, or otherwise than it was approved', () => {
    const model = startModel({ needed: 1 });
    const effect = { argumentsHash: 'h0', request: 0 };
    const used = { state: 'used' as const, yeses: new Set(['ada']) };
    const [asked] = model.requests;
    assert.ok(asked);
    const approved = { ...model, requests: [{ ...asked, ...used }], effects: [effect] };
    assert.deepEqual(wrongIn({ ...model, effects: [effect] }), ['no approval was used up for it']);
    assert.deepEqual(wrongIn(approved), []);
    assert.deepEqual(wrongIn({ ...approved, effects: [effect, effect] }), ['it was done 2 times']);
    const other = { ...effect, argumentsHash: 'h1' };
    assert.deepEqual(wrongIn({ ...approved, effects: [other] }), [
      'something else was approved',
      'it was edited away',
    ]);
  });

  const SAYS_YES: Happening = { kind: 'approve', who: 'ada', which: 'newest' };
  const done = (worker: 0 | 1): Happening[] => [
    { kind: 'claim', worker },
    { kind: 'call', worker },
    { kind: 'record', worker },
  ];
  const told = (...story: Happening[]): { state: string; effects: number; outcomes: unknown[] } => {
    let model = startModel({ needed: 1 });
    const outcomes = story.flatMap((happening) => {
      const next = after(model, happening);
      model = next.model;
      return next.outcome ?? [];
    });
    return { state: model.step.state, effects: model.effects.length, outcomes };
  };

  it('runs after a yes, and not a second time on another worker', () => {
    assert.deepEqual(told(SAYS_YES, ...done(0), ...done(1)), {
      state: 'succeeded',
      effects: 1,
      outcomes: ['decided'],
    });
  });

  it('whose worker is killed after the call is found done; killed before it, it is called once', () => {
    const killed: Happening[] = [{ kind: 'kill', worker: 0 }, { kind: 'pause', ms: 11_000 }, ...done(1)];
    const [claim, call] = done(0);
    assert.ok(claim && call);
    for (const story of [
      [SAYS_YES, claim, call, ...killed],
      [SAYS_YES, claim, ...killed],
    ]) {
      assert.deepEqual(told(...story), { state: 'succeeded', effects: 1, outcomes: ['decided'] });
    }
  });

  it('that was edited needs another yes', () => {
    const edit: Happening = { kind: 'edit', who: 'bo', which: 'newest' };
    assert.deepEqual(told(edit, { ...SAYS_YES, which: 'first' }, ...done(0)), {
      state: 'refused',
      effects: 0,
      outcomes: ['changed', 'edited'],
    });
  });
});

describe('an answer', () => {
  const standing = { state: 'open', expiresAt: 10, approvers: [], needed: 1 } as const;
  const ada = { surface: 'console', id: 'ada' } as const;

  it('counts while its request is open and not a moment longer', () => {
    assert.equal(answerRefusal(standing, ada, 9), undefined);
    assert.equal(answerRefusal(standing, ada, 10), 'expired');
    const refusals = APPROVAL_STATES.map((state) => [
      state,
      answerRefusal({ ...standing, state }, ada, 0) ?? 'taken',
    ]);
    assert.deepEqual(Object.fromEntries(refusals), {
      open: 'taken',
      approved: 'already_decided',
      rejected: 'already_decided',
      expired: 'expired',
      used: 'already_decided',
      edited: 'edited',
    });
  });

  it('of somebody who is not asked is told nothing of what became of it', () => {
    for (const state of APPROVAL_STATES) {
      assert.equal(answerRefusal({ ...standing, state, approvers: ['bo'] }, ada, 0), 'not_asked');
    }
  });

  it('is counted by person; one no ends it, whoever has said yes', () => {
    const yes = { decision: 'approve', approverId: 'ada' } as const;
    const two = { needed: 2, yeses: new Set<string>() };
    assert.deepEqual(answered(two, yes), { outcome: 'counted', missing: 1 });
    two.yeses.add('ada');
    assert.deepEqual(answered(two, yes), { outcome: 'already_said', missing: 1 });
    assert.deepEqual(answered(two, { ...yes, approverId: 'bo' }), { outcome: 'decided', state: 'approved' });
    assert.deepEqual(answered(two, { ...yes, decision: 'reject' }), {
      outcome: 'decided',
      state: 'rejected',
    });
  });
});
