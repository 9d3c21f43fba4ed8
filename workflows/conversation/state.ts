// The conversation's memory as a pure reducer: what has been rung, what is done, which runs are out, what is to be said.
// No Temporal here, so every transition can be tested as a table.
import type { Profile, PreparedTurn } from '../domain/turn.js';
import type { InboxChanged, Say } from './contract.js';

export interface RunOut {
  turnId: string;
  /** Epoch milliseconds; undefined once the run has spoken or was acknowledged. */
  acknowledgeAt?: number | undefined;
}

export interface ConversationState {
  /** Highest inbox sequence anybody has told us of. */
  upTo: number;
  /** Highest inbox sequence whose turn has been taken. */
  doneUpTo: number;
  says: Say[];
  runs: Map<string, RunOut>;
  /** Turns whose run ended without a last word. */
  silentEnds: string[];
  lastActivityAt: number;
  inactivityMs: number;
}

/** Until the first turn brings the profile: long enough to claim it, short enough not to linger for nothing. */
const INACTIVITY_BEFORE_FIRST_TURN_MS = 60_000;

export function startState(start: { doneUpTo: number; now: number }): ConversationState {
  return {
    upTo: start.doneUpTo,
    doneUpTo: start.doneUpTo,
    says: [],
    runs: new Map(),
    silentEnds: [],
    lastActivityAt: start.now,
    inactivityMs: INACTIVITY_BEFORE_FIRST_TURN_MS,
  };
}

/** A bell: only a number may come in, anything else is noted as nothing. A throw here would block the conversation. */
export function noteInbox(state: ConversationState, bell: InboxChanged, now: number): void {
  if (!Number.isInteger(bell?.upTo) || bell.upTo > HIGHEST_SEQUENCE || bell.upTo <= state.upTo) return;
  state.upTo = bell.upTo;
  state.lastActivityAt = now;
}

/** Sequence numbers are a Postgres `int`. */
const HIGHEST_SEQUENCE = 2_147_483_647;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Doubled says are kept once; the outbox row would refuse the second delivery anyway. */
export function noteSay(state: ConversationState, what: Say, now: number): void {
  if (!UUID.test(what?.outboxId) || !UUID.test(what?.turnId)) return;
  if (state.says.some((known) => known.outboxId === what.outboxId)) return;
  state.says.push(what);
  state.lastActivityAt = now;
}

export function noteRunStarted(
  state: ConversationState,
  run: { turnId: string; profile: Profile; now: number },
): void {
  state.runs.set(run.turnId, { turnId: run.turnId, acknowledgeAt: run.now + run.profile.acknowledgeAfterMs });
}

/** A run has spoken: no acknowledgement is due any more, and after its last word it is no longer out. */
export function noteSaid(state: ConversationState, what: Say): void {
  const run = state.runs.get(what.turnId);
  if (run) run.acknowledgeAt = undefined;
  if (what.final) state.runs.delete(what.turnId);
}

export function noteAcknowledged(state: ConversationState, turnId: string): void {
  const run = state.runs.get(turnId);
  if (run) run.acknowledgeAt = undefined;
}

/** The run's workflow has closed. One that never had its last word leaves a customer waiting: that must be mended. */
export function noteRunEnded(state: ConversationState, turnId: string): void {
  const hasLastWord = state.says.some((what) => what.turnId === turnId && what.final);
  if (state.runs.has(turnId) && !hasLastWord) state.silentEnds.push(turnId);
}

export function noteTurn(state: ConversationState, turn: PreparedTurn): void {
  state.doneUpTo = Math.max(state.doneUpTo, turn.upTo);
  state.upTo = Math.max(state.upTo, turn.upTo);
  state.inactivityMs = turn.decision.profile.inactivityMs;
}

/** Nothing lies in the inbox after what has been done: the bell was early or doubled. A later one rings again. */
export function noteInboxEmpty(state: ConversationState, rungUpTo: number): void {
  if (state.upTo === rungUpTo) state.upTo = state.doneUpTo;
}

export type NextThing =
  | { kind: 'say'; say: Say }
  | { kind: 'silentEnd'; turnId: string }
  | { kind: 'acknowledge'; turnId: string }
  | { kind: 'turn' }
  | { kind: 'wait'; until: number }
  | { kind: 'end' };

/** What to do now. Words that are ready come before new work, and new work before waiting. */
export function nextThing(state: ConversationState, now: number): NextThing {
  const ready = state.says[0];
  if (ready) return { kind: 'say', say: ready };
  const silent = state.silentEnds[0];
  if (silent !== undefined) return { kind: 'silentEnd', turnId: silent };
  const due = [...state.runs.values()].find(
    (run) => run.acknowledgeAt !== undefined && run.acknowledgeAt <= now,
  );
  if (due) return { kind: 'acknowledge', turnId: due.turnId };
  // A run's first word comes before the next message is taken, so that answers keep the order of the questions; its
  // acknowledgement bounds the wait.
  const listening = [...state.runs.values()].some((run) => run.acknowledgeAt !== undefined);
  if (!listening && state.upTo > state.doneUpTo) return { kind: 'turn' };
  const endAt = state.lastActivityAt + state.inactivityMs;
  if (state.runs.size === 0 && endAt <= now) return { kind: 'end' };
  return { kind: 'wait', until: nearestDeadline(state, endAt) };
}

function nearestDeadline(state: ConversationState, endAt: number): number {
  const acknowledgements = [...state.runs.values()].flatMap((run) => run.acknowledgeAt ?? []);
  // While a run is out the conversation doesn't end, so only its acknowledgement can be due.
  const end = state.runs.size === 0 ? [endAt] : [];
  return Math.min(Number.POSITIVE_INFINITY, ...acknowledgements, ...end);
}
