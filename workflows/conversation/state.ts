// The conversation's memory as a pure reducer: what has been rung, what is done, which runs are out, what is to be said, who
// has the chat. No Temporal here, so every transition can be tested as a table.
import type { DeskNow, SessionOpened } from '../domain/session.js';
import type { Profile, PreparedTurn } from '../domain/turn.js';
import type { ConversationInput, InboxChanged, RunEnded, Say } from './contract.js';
import {
  isLookDue,
  isResolved,
  noteDecided,
  noteDeskNow,
  noteMessage,
  noteOpened,
  quietDesk,
  turnDueAt,
  type DeskMemory,
} from './desk.js';

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
  desk: DeskMemory;
}

/** Until the first turn brings the profile: long enough to claim it, short enough not to linger for nothing. */
const INACTIVITY_BEFORE_FIRST_TURN_MS = 60_000;

export function startState({
  doneUpTo = 0,
  session,
  now,
}: Pick<ConversationInput, 'doneUpTo' | 'session'> & { now: number }): ConversationState {
  return {
    upTo: doneUpTo,
    doneUpTo,
    says: [],
    runs: new Map(),
    silentEnds: [],
    lastActivityAt: now,
    inactivityMs: session?.pace.inactivityMs ?? INACTIVITY_BEFORE_FIRST_TURN_MS,
    desk: { ...quietDesk(), ...(session && { session: session.opened, pace: session.pace }) },
  };
}

/** A bell: only a number may come in, anything else is noted as nothing. A throw here would block the conversation. */
export function noteInbox(
  state: ConversationState,
  bell: InboxChanged,
  now: number,
  random: () => number,
): void {
  if (!Number.isInteger(bell?.upTo) || bell.upTo > HIGHEST_SEQUENCE || bell.upTo <= state.upTo) return;
  state.upTo = bell.upTo;
  state.lastActivityAt = now;
  noteMessage(state.desk, { now, random });
}

/** Sequence numbers are a Postgres `int`. */
const HIGHEST_SEQUENCE = 2_147_483_647;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Doubled says are kept once; the outbox row would refuse the second delivery anyway. */
export function noteSay(state: ConversationState, what: Say, now: number): void {
  if (!UUID.test(what?.outboxId) || !UUID.test(what?.turnId)) return;
  const known = [...state.says, ...state.desk.held].some((say) => say.outboxId === what.outboxId);
  if (known) return;
  (state.desk.lease ? state.desk.held : state.says).push(what);
  state.lastActivityAt = now;
}

/** Somebody has taken the chat or given it back. The bell says nothing; a look at the rows does. */
export function noteDeskChanged(state: ConversationState): void {
  state.desk.isRung = true;
}

/** A run was found closed by somebody who looked. Of a run that has said its last word nothing is to be mended. */
export function noteRunFoundClosed(state: ConversationState, ended: RunEnded): void {
  if (!UUID.test(ended?.turnId) || state.silentEnds.includes(ended.turnId)) return;
  const words = [...state.says, ...state.desk.held];
  if (words.some((what) => what.turnId === ended.turnId && what.final)) return;
  state.silentEnds.push(ended.turnId);
}

export function noteRunStarted(
  state: ConversationState,
  run: { turnId: string; profile: Profile; now: number },
): void {
  const acknowledgeAt = state.desk.lease ? undefined : run.now + run.profile.acknowledgeAfterMs;
  state.runs.set(run.turnId, { turnId: run.turnId, acknowledgeAt });
}

/** A run has spoken: no acknowledgement is due any more, and after its last word it is no longer out. */
export function noteSaid(state: ConversationState, what: Say): void {
  dropReady(state, what);
  const run = state.runs.get(what.turnId);
  if (run) run.acknowledgeAt = undefined;
  if (what.final) state.runs.delete(what.turnId);
}

/** A person has the chat, as the delivery has found out: the words wait, and the desk is looked at. */
export function noteHeld(state: ConversationState, what: Say): void {
  dropReady(state, what);
  state.desk.held.push(what);
  state.desk.isRung = true;
}

/** Ready words stay where they are until their delivery has ended: a doubled say still finds them there. */
function dropReady(state: ConversationState, { outboxId }: Say): void {
  state.says = state.says.filter((say) => say.outboxId !== outboxId);
}

export function noteAcknowledged(state: ConversationState, turnId: string): void {
  const run = state.runs.get(turnId);
  if (run) run.acknowledgeAt = undefined;
}

/** The run's workflow has closed. One that never had its last word leaves a customer waiting: that must be mended. */
export function noteRunEnded(state: ConversationState, turnId: string): void {
  const words = [...state.says, ...state.desk.held];
  const hasLastWord = words.some((what) => what.turnId === turnId && what.final);
  if (state.runs.has(turnId) && !hasLastWord && !state.silentEnds.includes(turnId)) {
    state.silentEnds.push(turnId);
  }
}

/** The messages that wait are being claimed; those that come from now on are another turn's. */
export function noteTurnBegun(state: ConversationState): void {
  state.desk.debounce = undefined;
}

export function noteTurn(state: ConversationState, turn: PreparedTurn): void {
  state.doneUpTo = Math.max(state.doneUpTo, turn.upTo);
  state.upTo = Math.max(state.upTo, turn.upTo);
  state.inactivityMs = turn.decision.profile.inactivityMs;
  noteDecided(state.desk, turn);
  if (state.upTo === state.doneUpTo) state.desk.debounce = undefined;
  if (turn.lease) fallSilent(state);
}

export function noteSessionOpened(
  state: ConversationState,
  opened: SessionOpened,
  { now, random }: { now: number; random: () => number },
): void {
  state.inactivityMs = opened.pace.inactivityMs;
  noteOpened(state.desk, opened, { now, random });
}

/** What a look at the desk has found. */
export function noteDesk(state: ConversationState, found: DeskNow): void {
  const { released } = noteDeskNow(state.desk, found);
  state.says.unshift(...released);
  if (found.pace) state.inactivityMs = found.pace.inactivityMs;
  if (state.desk.lease) fallSilent(state);
}

/** While a person has the chat nothing is said: neither what is ready, nor that something is being worked on. */
function fallSilent(state: ConversationState): void {
  state.desk.held.push(...state.says.splice(0));
  for (const run of state.runs.values()) run.acknowledgeAt = undefined;
}

/** Nobody ends it before then. Undefined: it is over. */
export function noteSessionEnd(
  state: ConversationState,
  { awaitedUntil }: { awaitedUntil?: number | undefined },
): void {
  state.desk.awaitedUntil = awaitedUntil;
  if (awaitedUntil === undefined) state.desk.session = undefined;
}

/** Nothing lies in the inbox after what has been done: the bell was early or doubled. A later one rings again. */
export function noteInboxEmpty(state: ConversationState, rungUpTo: number): void {
  if (state.upTo === rungUpTo) state.upTo = state.doneUpTo;
  // What the session waited for is gone, perhaps together with the session.
  if (state.desk.session) state.desk.isRung = true;
}

export type NextThing =
  | { kind: 'look' }
  | { kind: 'say'; say: Say }
  | { kind: 'silentEnd'; turnId: string }
  | { kind: 'acknowledge'; turnId: string }
  | { kind: 'turn' }
  | { kind: 'resolve'; sessionId: string }
  | { kind: 'wait'; until: number }
  | { kind: 'end' };

/**
 * What to do now. Who has the chat comes first, because everything else depends on it; then words that are ready, new work,
 * and waiting.
 */
export function nextThing(state: ConversationState, now: number): NextThing {
  const { desk } = state;
  if (isLookDue(desk, now)) return { kind: 'look' };
  const spoken = desk.lease ? undefined : nextWords(state, now);
  if (spoken) return spoken;
  const dueAt = unansweredDueAt(state);
  if (dueAt <= now) return { kind: 'turn' };
  if (isBusy(state)) return { kind: 'wait', until: Math.min(dueAt, ...deadlines(state)) };
  const endAt = idleEndAt(state);
  if (endAt > now) return { kind: 'wait', until: Math.min(dueAt, ...deadlines(state), endAt) };
  return desk.session ? { kind: 'resolve', sessionId: desk.session.sessionId } : { kind: 'end' };
}

function nextWords(state: ConversationState, now: number): NextThing | undefined {
  const ready = state.says[0];
  if (ready) return { kind: 'say', say: ready };
  const silent = state.silentEnds[0];
  if (silent !== undefined) return { kind: 'silentEnd', turnId: silent };
  const due = [...state.runs.values()].find(
    (run) => run.acknowledgeAt !== undefined && run.acknowledgeAt <= now,
  );
  return due && { kind: 'acknowledge', turnId: due.turnId };
}

/** When the unanswered messages are taken as a turn; never, where there are none. */
function unansweredDueAt(state: ConversationState): number {
  // A run's first word comes before the next message is taken, so that answers keep the order of the questions; its
  // acknowledgement bounds the wait.
  const listening = [...state.runs.values()].some((run) => run.acknowledgeAt !== undefined);
  if (listening || state.upTo <= state.doneUpTo) return Number.POSITIVE_INFINITY;
  return turnDueAt(state.desk);
}

/** Something is open that a conversation outlives its silence for. */
export function isBusy({ runs, desk, upTo, doneUpTo }: ConversationState): boolean {
  return runs.size > 0 || desk.held.length > 0 || desk.lease !== undefined || upTo > doneUpTo;
}

function deadlines({ runs, desk }: ConversationState): number[] {
  const acknowledgements = [...runs.values()].flatMap((run) => run.acknowledgeAt ?? []);
  return [...acknowledgements, desk.lease?.until ?? Number.POSITIVE_INFINITY];
}

function idleEndAt({ desk, lastActivityAt, inactivityMs }: ConversationState): number {
  if (isResolved(desk)) return lastActivityAt;
  return Math.max(lastActivityAt + inactivityMs, desk.awaitedUntil ?? 0);
}
