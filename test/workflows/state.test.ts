// The conversation's memory, transition by transition: no Temporal, no clock.
import assert from 'node:assert/strict';
import type { Say } from '../../workflows/conversation/contract.js';
import {
  nextThing,
  noteAcknowledged,
  noteInbox,
  noteInboxEmpty,
  noteRunEnded,
  noteRunStarted,
  noteSaid,
  noteSay,
  noteTurn,
  startState,
  type ConversationState,
} from '../../workflows/conversation/state.js';
import type { PreparedTurn } from '../../workflows/domain/turn.js';
import { noteDecision, startBells } from '../../workflows/tool-run/state.js';

const uuid = (last: number): string => `00000000-0000-4000-8000-00000000000${last}`;
const [T1, T2, O1, O2] = [uuid(1), uuid(2), uuid(3), uuid(4)];

const profile = { debounceMs: 0, acknowledgeAfterMs: 1_000, inactivityMs: 10_000 };
/** A chat without sessions draws nothing. */
const never = (): number => assert.fail('nothing is drawn');
const fresh = (): ConversationState => startState({ doneUpTo: 0, now: 0 });
const say = (turnId: string, outboxId: string, final = true): Say => ({
  turnId,
  outboxId,
  kind: final ? 'answer' : 'acknowledgement',
  final,
});
const turn = (upTo: number): PreparedTurn => ({
  turnId: `t${upTo}`,
  upTo,
  decision: {
    decisionId: 'd',
    turnId: `t${upTo}`,
    roleId: 'r',
    effort: 'low',
    actor: 'customer',
    configHash: 'h',
    profile,
    expiresAt: 0,
    route: { kind: 'answer' },
  },
});

describe('a conversation', () => {
  it('takes a turn when a bell rings, and only as far as it has rung', () => {
    const state = fresh();
    noteInbox(state, { upTo: 3 }, 5, never);
    assert.deepEqual(nextThing(state, 5), { kind: 'turn' });
    noteTurn(state, turn(3));
    assert.deepEqual(nextThing(state, 5), { kind: 'wait', until: 10_005 });
  });

  it('is not moved by bells that are doubled, late or broken', () => {
    const state = fresh();
    noteInbox(state, { upTo: 3 }, 0, never);
    noteTurn(state, turn(3));
    noteInbox(state, { upTo: 3 }, 1, never);
    noteInbox(state, { upTo: 1 }, 1, never);
    noteInbox(state, { upTo: Number.NaN }, 1, never);
    noteInbox(state, { upTo: 3_000_000_000 }, 1, never);
    noteInbox(state, JSON.parse('null') as never, 1, never);
    assert.equal(nextThing(state, 1).kind, 'wait');
  });

  it('takes the next real message after a bell that rang far too high', () => {
    const state = fresh();
    noteInbox(state, { upTo: 100_000 }, 0, never);
    noteInboxEmpty(state, 100_000);
    assert.equal(nextThing(state, 1).kind, 'wait');
    noteInbox(state, { upTo: 1 }, 2, never);
    assert.deepEqual(nextThing(state, 2), { kind: 'turn' });
  });

  it('does not ask again for what was rung and is not there, but for what is rung after', () => {
    const state = fresh();
    noteInbox(state, { upTo: 4 }, 0, never);
    noteInbox(state, { upTo: 6 }, 1, never);
    noteInboxEmpty(state, 4);
    assert.deepEqual(nextThing(state, 1), { kind: 'turn' });
    noteInboxEmpty(state, 6);
    assert.equal(nextThing(state, 1).kind, 'wait');
  });

  it('says ready words before it takes new work', () => {
    const state = fresh();
    noteInbox(state, { upTo: 2 }, 0, never);
    noteSay(state, say(T1, O1), 0);
    assert.deepEqual(nextThing(state, 0), { kind: 'say', say: say(T1, O1) });
  });

  it('keeps a doubled say once, and a broken one never', () => {
    const state = fresh();
    noteSay(state, say(T1, O1), 0);
    noteSay(state, say(T1, O1), 0);
    noteSay(state, JSON.parse('{"outboxId":7}') as Say, 0);
    noteSay(state, say('x', 'y'), 0);
    assert.equal(state.says.length, 1);
  });

  it('waits for the first word of a run, acknowledges at the deadline, and goes on', () => {
    const state = fresh();
    noteInbox(state, { upTo: 2 }, 0, never);
    noteTurn(state, turn(1));
    noteRunStarted(state, { turnId: T1, profile, now: 0 });
    assert.deepEqual(nextThing(state, 10), { kind: 'wait', until: 1_000 });
    assert.deepEqual(nextThing(state, 1_000), { kind: 'acknowledge', turnId: T1 });
    noteAcknowledged(state, T1);
    assert.deepEqual(nextThing(state, 1_000), { kind: 'turn' });
  });

  it('does not end while a run is out, however long', () => {
    const state = fresh();
    noteTurn(state, turn(1));
    noteRunStarted(state, { turnId: T1, profile, now: 0 });
    noteAcknowledged(state, T1);
    assert.deepEqual(nextThing(state, 1_000_000), { kind: 'wait', until: Number.POSITIVE_INFINITY });
    noteSaid(state, say(T1, O1, false));
    assert.equal(nextThing(state, 1_000_000).kind, 'wait');
    noteSaid(state, say(T1, O2));
    assert.deepEqual(nextThing(state, 1_000_000), { kind: 'end' });
  });

  it('mends a run that ended without its last word, and no other', () => {
    const state = fresh();
    noteTurn(state, turn(1));
    noteRunStarted(state, { turnId: T1, profile, now: 0 });
    noteRunStarted(state, { turnId: T2, profile, now: 0 });
    noteSay(state, say(T2, O2), 0);
    noteRunEnded(state, T1);
    noteRunEnded(state, T2);
    assert.deepEqual(state.silentEnds, [T1]);
  });
});

describe('what signals leave behind', () => {
  it('is a bell, or a decision with a whole REF', () => {
    const bells = startBells();
    noteDecision(bells, { approvalId: 'a' });
    noteDecision(bells, { ref: 'K-7Q4F', decision: 'approve' });
    assert.deepEqual([...bells.rung], ['a']);
    assert.deepEqual(bells.typed, [{ ref: 'K-7Q4F', decision: 'approve' }]);
  });

  for (const broken of [
    null,
    7,
    'approve',
    {},
    { ref: 'K7Q4F', decision: 'approve' },
    { ref: 'K-7Q4F', decision: 'yes' },
    { ref: 'K-7Q4F' },
    { approvalId: 7 },
  ]) {
    it(`is nothing for ${JSON.stringify(broken)}`, () => {
      const bells = startBells();
      noteDecision(bells, broken as never);
      assert.equal(bells.rung.size + bells.typed.length, 0);
    });
  }
});
