// What a conversation remembers of its desk: the session, who has the chat, and words that are held back meanwhile. Pure,
// like the rest of the memory. The rows decide; this only says when to look at them and when to keep still.
import {
  debounced,
  type Debounce,
  type DeskNow,
  type Lease,
  type OpenSession,
  type Pace,
  type SessionOpened,
} from '../domain/session.js';
import type { PreparedTurn } from '../domain/turn.js';
import type { Say } from './contract.js';

export interface DeskMemory {
  /** Absent: none is open, or nobody has looked yet. */
  session?: OpenSession | undefined;
  /** The pace of the chat's sessions. Absent: it has had none yet. */
  pace?: Pace | undefined;
  debounce?: Debounce | undefined;
  /** A person has the chat. */
  lease?: Lease | undefined;
  /** Words that were ready while a person had the chat. */
  held: Say[];
  /** Something has changed, and nobody has looked yet. */
  isRung: boolean;
  /** An operator's answer is awaited until then: the session doesn't end before. */
  awaitedUntil?: number | undefined;
}

export function quietDesk(): DeskMemory {
  return { held: [], isRung: false };
}

/** One more message came. `random`: in [0, 1). */
export function noteMessage(desk: DeskMemory, { now, random }: { now: number; random: () => number }): void {
  if (desk.session?.state !== 'active' || !desk.pace) return;
  desk.debounce = debounced(desk.debounce, { pace: desk.pace, now, random: random() });
}

/** A session begins, or goes on after the conversation was interrupted; what is unanswered waits for its grace or debounce. */
export function noteOpened(
  desk: DeskMemory,
  { opened, pace }: SessionOpened,
  { now, random }: { now: number; random: () => number },
): void {
  noteLease(desk, undefined);
  desk.session = opened;
  desk.pace = pace;
  desk.debounce = undefined;
  noteMessage(desk, { now, random });
}

/** Where the session stands after a turn was decided. */
export function noteDecided(desk: DeskMemory, { session, lease, decision }: PreparedTurn): void {
  if (session) {
    desk.session = session.state === 'resolved' ? undefined : session;
    desk.pace = decision.profile;
  }
  noteLease(desk, lease);
}

/** As the rows say it. Given back without a bell: what was held back meanwhile waits for a look. */
function noteLease(desk: DeskMemory, lease: Lease | undefined): void {
  if (desk.lease && !lease) desk.isRung = true;
  desk.lease = lease;
}

/** When the unanswered messages are a turn: the instant, which may be past. */
export function turnDueAt({ session, debounce, lease }: DeskMemory): number {
  // Taken at once, in silence: whoever has the chat answers them.
  if (lease || !session) return Number.NEGATIVE_INFINITY;
  if (session.state === 'waiting') return session.graceUntil;
  return debounce?.dueAt ?? Number.NEGATIVE_INFINITY;
}

/** Somebody has to look: a bell has rung, or the lease's time is over. */
export function isLookDue({ isRung, lease }: DeskMemory, now: number): boolean {
  return isRung || (lease?.until !== undefined && lease.until <= now);
}

/** Somebody looks now; a bell that rings meanwhile asks for another look. */
export function noteLooking(desk: DeskMemory): void {
  desk.isRung = false;
}

/** What a look has found. Nobody has the chat any more: what was held is said. */
export function noteDeskNow(desk: DeskMemory, { session, pace, lease }: DeskNow): { released: Say[] } {
  desk.session = session;
  desk.pace = pace ?? desk.pace;
  desk.lease = lease;
  if (!session) desk.debounce = undefined;
  return { released: lease ? [] : desk.held.splice(0) };
}

/** The chat has had sessions, and none is open: nothing is left to wait for. */
export function isResolved({ pace, session }: DeskMemory): boolean {
  return pace !== undefined && session === undefined;
}
