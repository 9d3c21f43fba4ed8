// Sessions of a desk, transition by transition: grace, debounce, people who write, and every way to end. No Temporal, no clock;
// the numbers are the desk's, a thousandth of them.
import assert from 'node:assert/strict';
import { noteLooking } from '../../workflows/conversation/desk.js';
import {
  nextThing,
  noteDesk,
  noteDeskChanged,
  noteHeld,
  noteInbox,
  noteInboxEmpty,
  noteRunFoundClosed,
  noteRunStarted,
  noteSaid,
  noteSay,
  noteSessionEnd,
  noteSessionOpened,
  noteTurn,
  noteTurnBegun,
  startState,
  type ConversationState,
  type NextThing,
} from '../../workflows/conversation/state.js';
import { debounced, hasSessions, type DeskNow } from '../../workflows/domain/session.js';
import { deskProfile, opened, pace, resolved, say, session, turnUpTo, uuid } from './kit.js';

/** What the generator draws: half of the range, 30. */
const half = (): number => 0.5;
const MIDDLE = 30;

const fresh = (): ConversationState => startState({ now: 0 });
const message = (state: ConversationState, sequence: number, now: number, random = half): void =>
  noteInbox(state, { upTo: sequence }, now, random);
const opens = (state: ConversationState, as: 'waiting' | 'active', now: number): void => {
  noteTurnBegun(state);
  noteSessionOpened(state, opened(as), { now, random: half });
};
const takes = (state: ConversationState, ...turn: Parameters<typeof turnUpTo>): void => {
  noteTurnBegun(state);
  noteTurn(state, turnUpTo(...turn));
};
const looks = (state: ConversationState, found: Omit<DeskNow, 'runs'>): void => {
  noteLooking(state.desk);
  noteDesk(state, { ...found, runs: [] });
};
const waiting = (): ConversationState => {
  const state = fresh();
  message(state, 1, 0);
  opens(state, 'waiting', 0);
  return state;
};
/** The grace is over, and what came in it was answered. */
const active = (): ConversationState => {
  const state = waiting();
  takes(state, 1, { session: session('active') });
  return state;
};

interface Row {
  does: string;
  from: () => ConversationState;
  when: (state: ConversationState) => void;
  /** What is to be done at these times. */
  then: [now: number, NextThing][];
}

const TURN: NextThing = { kind: 'turn' };
const END: NextThing = { kind: 'end' };
const LOOK: NextThing = { kind: 'look' };
const waitUntil = (until: number): NextThing => ({ kind: 'wait', until });

const ROWS: Row[] = [
  {
    does: 'a first message asks for a session before any turn',
    from: fresh,
    when: (state) => message(state, 1, 0),
    then: [[0, TURN]],
  },
  {
    does: 'waiting: nothing is answered before the grace is over, and then all of it',
    from: waiting,
    when: (state) => {
      message(state, 2, 100);
      message(state, 3, 179);
    },
    then: [
      [179, waitUntil(180)],
      [180, TURN],
    ],
  },
  {
    does: 'waiting → active: the grace is over and nobody has written',
    from: waiting,
    when: (state) => takes(state, 1, { session: session('active') }),
    then: [[180, waitUntil(7_200)]],
  },
  {
    does: 'waiting → resolved by a person: what is unanswered is theirs at once, and they keep the chat',
    from: waiting,
    when: (state) => looks(state, { lease: { until: 1_900 } }),
    then: [[100, TURN]],
  },
  {
    does: 'waiting → resolved by a person whose bell was lost: the turn at the end of the grace finds out',
    from: waiting,
    when: (state) => takes(state, 1, { session: resolved('human'), lease: { until: 1_900 } }),
    then: [
      [180, waitUntil(1_900)],
      [1_900, LOOK],
    ],
  },
  {
    does: 'waiting → resolved by hand, for the desk is staffed: nothing is left to wait for',
    from: waiting,
    when: (state) => takes(state, 1, { session: resolved('manual') }),
    then: [[180, END]],
  },
  {
    does: 'waiting → resolved by hand in the console',
    from: waiting,
    when: (state) => {
      looks(state, {});
      takes(state, 1);
    },
    then: [[50, END]],
  },
  {
    does: 'active: a message waits for more of the same turn',
    from: active,
    when: (state) => message(state, 2, 1_000),
    then: [
      [1_000, waitUntil(1_000 + MIDDLE)],
      [1_000 + MIDDLE, TURN],
    ],
  },
  {
    does: 'active: each message starts the wait anew',
    from: active,
    when: (state) => {
      message(state, 2, 1_000);
      message(state, 3, 1_020);
    },
    then: [[1_020, waitUntil(1_020 + MIDDLE)]],
  },
  {
    does: 'active: whoever doesn’t stop is answered after three times the upper bound',
    from: active,
    when: (state) => {
      for (let now = 1_000, upTo = 2; now < 1_150; now += 20, upTo += 1) message(state, upTo, now);
    },
    then: [
      [1_149, waitUntil(1_150)],
      [1_150, TURN],
    ],
  },
  {
    does: 'active: a doubled bell doesn’t start the wait anew',
    from: active,
    when: (state) => {
      message(state, 2, 1_000);
      message(state, 2, 1_020);
    },
    then: [[1_020, waitUntil(1_000 + MIDDLE)]],
  },
  {
    does: 'active: what comes while a turn is being claimed waits for its own time',
    from: active,
    when: (state) => {
      message(state, 2, 1_000);
      noteTurnBegun(state);
      message(state, 3, 1_031);
      noteTurn(state, turnUpTo(2, { session: session('active') }));
    },
    then: [[1_031, waitUntil(1_031 + MIDDLE)]],
  },
  {
    does: 'active: what was claimed together with a late bell is done',
    from: active,
    when: (state) => {
      message(state, 2, 1_000);
      noteTurnBegun(state);
      message(state, 3, 1_031);
      noteTurn(state, turnUpTo(3, { session: session('active') }));
    },
    then: [[1_031, waitUntil(1_031 + 7_200)]],
  },
  {
    does: 'active → resolved by hand at the end of a debounce: the desk is staffed now',
    from: active,
    when: (state) => {
      message(state, 2, 1_000);
      takes(state, 2, { session: resolved('manual') });
    },
    then: [[1_040, END]],
  },
  {
    does: 'active: a person writes, and messages are theirs at once, in silence',
    from: active,
    when: (state) => {
      message(state, 2, 1_000);
      looks(state, { session: session('active'), pace, lease: { until: 2_800 } });
    },
    then: [[1_001, TURN]],
  },
  {
    does: 'active: the session goes on when the lease is over',
    from: active,
    when: (state) => {
      looks(state, { session: session('active'), pace, lease: { until: 2_800 } });
      looks(state, { session: session('active'), pace });
      message(state, 2, 3_000);
    },
    then: [[3_000, waitUntil(3_000 + MIDDLE)]],
  },
  {
    does: 'active → resolved by silence',
    from: active,
    when: () => undefined,
    then: [
      [7_199, waitUntil(7_200)],
      [7_200, { kind: 'resolve', sessionId: session('active').sessionId }],
    ],
  },
  {
    does: 'active: no silence ends it while an operator’s answer is awaited',
    from: active,
    when: (state) => noteSessionEnd(state, { awaitedUntil: 9_000 }),
    then: [
      [7_200, waitUntil(9_000)],
      [9_000, { kind: 'resolve', sessionId: session('active').sessionId }],
    ],
  },
  {
    does: 'active: no silence ends it while a run is out, nor while a person has the chat',
    from: active,
    when: (state) => {
      noteRunStarted(state, { turnId: uuid(1), profile: deskProfile, now: 180 });
      looks(state, { session: session('active'), pace, lease: {} });
    },
    then: [[1_000_000, waitUntil(Number.POSITIVE_INFINITY)]],
  },
  {
    does: 'active → resolved because the assistant had no answer',
    from: active,
    when: (state) => noteSessionEnd(state, {}),
    then: [[200, END]],
  },
  {
    does: 'resolved: the next message asks for a new session',
    from: active,
    when: (state) => {
      noteSessionEnd(state, {});
      message(state, 2, 300);
    },
    then: [[300, TURN]],
  },
  {
    does: 'resolved, and a person still has the chat: it is waited for',
    from: active,
    when: (state) => {
      looks(state, { lease: { until: 5_000 } });
    },
    then: [[300, waitUntil(5_000)]],
  },
  {
    does: 'after an interruption an active session goes on, and what is unanswered waits for more',
    from: fresh,
    when: (state) => {
      message(state, 9, 0);
      opens(state, 'active', 10);
    },
    then: [[10, waitUntil(10 + MIDDLE)]],
  },
  {
    does: 'after an interruption a grace goes on to its own end, also where that is past',
    from: fresh,
    when: (state) => {
      message(state, 9, 200);
      opens(state, 'waiting', 200);
    },
    then: [[200, TURN]],
  },
  {
    does: 'a session carried over continue-as-new goes on',
    from: () => startState({ doneUpTo: 4, session: opened('active'), now: 0 }),
    when: (state) => message(state, 5, 100),
    then: [[100, waitUntil(100 + MIDDLE)]],
  },
  {
    does: 'a session whose messages were all taken back is looked at, not waited for',
    from: waiting,
    when: (state) => {
      noteTurnBegun(state);
      noteInboxEmpty(state, 1);
    },
    then: [[180, LOOK]],
  },
];

describe('a session', () => {
  for (const { does, from, when, then } of ROWS) {
    it(does, () => {
      const state = from();
      when(state);
      for (const [now, expected] of then) assert.deepEqual(nextThing(state, now), expected, `at ${now}`);
    });
  }

  it('draws each wait anew from the whole range, both ends included', () => {
    for (const [random, wait] of [
      [0, 10],
      [0.999_999, 50],
    ] as const) {
      assert.equal(debounced(undefined, { pace, now: 0, random }).dueAt, wait);
    }
    const fixed = { debounceMs: 10, inactivityMs: 1 };
    assert.equal(debounced(undefined, { pace: fixed, now: 0, random: 0.7 }).dueAt, 10);
  });

  it('is kept where a profile waits for anything, and not else', () => {
    assert.equal(hasSessions({ debounceMs: 0 }), false);
    assert.equal(hasSessions({ debounceMs: 0, graceMs: 0 }), false);
    assert.equal(hasSessions({ debounceMs: 0, graceMs: 1 }), true);
    assert.equal(hasSessions({ debounceMs: 1 }), true);
    assert.equal(hasSessions({ debounceMs: 0, debounceMaxMs: 1 }), true);
  });
});

describe('a chat that a person has', () => {
  const taken = (): ConversationState => {
    const state = active();
    noteRunStarted(state, { turnId: uuid(1), profile: deskProfile, now: 180 });
    noteSay(state, say(uuid(1), uuid(11), false), 181);
    looks(state, { session: session('active'), pace, lease: { until: 2_000 } });
    return state;
  };

  it('hears nothing: neither ready words, nor later ones, nor an acknowledgement, nor an apology', () => {
    const state = taken();
    noteSay(state, say(uuid(1), uuid(12)), 190);
    noteRunFoundClosed(state, { turnId: uuid(7) });
    for (let now = 181; now < 2_000; now += 7) {
      assert.ok(['wait', 'turn'].includes(nextThing(state, now).kind), `at ${now}`);
    }
  });

  it('is looked at when the lease is over, and then hears what was held, in its order', () => {
    const state = taken();
    noteSay(state, say(uuid(1), uuid(12)), 190);
    assert.deepEqual(nextThing(state, 2_000), LOOK);
    looks(state, { session: session('active'), pace });
    assert.deepEqual(nextThing(state, 2_000), { kind: 'say', say: say(uuid(1), uuid(11), false) });
    noteSaid(state, say(uuid(1), uuid(11), false));
    assert.deepEqual(nextThing(state, 2_000), { kind: 'say', say: say(uuid(1), uuid(12)) });
  });

  it('stays silent when the look finds that the person has written again', () => {
    const state = taken();
    looks(state, { session: session('active'), pace, lease: { until: 3_000 } });
    assert.deepEqual(nextThing(state, 2_500), waitUntil(3_000));
  });

  it('keeps words that the delivery held back, and looks who has it', () => {
    const state = active();
    const words = say(uuid(1), uuid(11));
    noteSay(state, words, 181);
    noteHeld(state, words);
    assert.deepEqual(nextThing(state, 181), LOOK);
    looks(state, { session: session('active'), pace, lease: {} });
    assert.equal(nextThing(state, 182).kind, 'wait');
    noteSay(state, words, 183);
    assert.equal(state.desk.held.length, 1, 'a doubled say is kept once');
  });

  it('hears words in their order that came before and after it was known to be taken', () => {
    const state = active();
    message(state, 2, 1_000);
    noteTurnBegun(state);
    noteSay(state, say(uuid(1), uuid(11)), 1_031);
    noteTurn(state, turnUpTo(2, { session: session('active'), lease: { until: 2_800 } }));
    noteSay(state, say(uuid(2), uuid(12)), 1_032);
    looks(state, { session: session('active'), pace });
    assert.deepEqual(
      state.says.map(({ outboxId }) => outboxId),
      [uuid(11), uuid(12)],
    );
  });

  it('is looked at again for a bell that rings during the look', () => {
    const state = active();
    noteDeskChanged(state);
    noteLooking(state.desk);
    noteDeskChanged(state);
    noteDesk(state, { session: session('active'), pace, runs: [] });
    assert.deepEqual(nextThing(state, 200), LOOK);
  });
});

describe('a run that somebody has found closed', () => {
  it('is mended once, and not where its last word is about to be said', () => {
    const state = active();
    noteRunFoundClosed(state, { turnId: uuid(5) });
    noteRunFoundClosed(state, { turnId: uuid(5) });
    noteSay(state, say(uuid(6), uuid(16)), 181);
    noteRunFoundClosed(state, { turnId: uuid(6) });
    noteRunFoundClosed(state, JSON.parse('{"turnId":7}') as never);
    noteRunFoundClosed(state, JSON.parse('null') as never);
    assert.deepEqual(state.silentEnds, [uuid(5)]);
  });
});
