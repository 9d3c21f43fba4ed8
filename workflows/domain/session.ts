// A session of a desk (spec B1): a person may answer first, then the assistant does, until it is over. Chats whose profile
// asks for neither grace nor debounce have none.

/** The numbers of a profile that make sessions. All in milliseconds. */
export interface Pace {
  /** A person may answer a new session first; the assistant waits this long. Absent or 0: it answers at once. */
  graceMs?: number | undefined;
  /** Waits this long after a message for more of the same turn. 0: every message is a turn of its own. */
  debounceMs: number;
  /** The wait is drawn anew for each message between `debounceMs` and this. Absent: always `debounceMs`. */
  debounceMaxMs?: number | undefined;
  /** After this much silence it is over; the next message starts afresh. */
  inactivityMs: number;
}

/** `waiting`: the grace runs, and somebody at the desk may answer. `active`: the assistant answers. */
export const OPEN_SESSION_STATES = ['waiting', 'active'] as const;
export type OpenSessionState = (typeof OPEN_SESSION_STATES)[number];

/**
 * How a session ended. `human`: a person wrote while it was waiting. `ai_timeout`: the assistant had no answer. `timeout`:
 * nobody has written for long. `manual`: by hand, or it was for people: the desk was staffed.
 */
export const RESOLVED_BY = ['human', 'ai_timeout', 'timeout', 'manual'] as const;
export type ResolvedBy = (typeof RESOLVED_BY)[number];

export interface OpenSession {
  sessionId: string;
  state: OpenSessionState;
  /** Epoch milliseconds. */
  graceUntil: number;
}

/** A person has the chat; the assistant is silent. */
export interface Lease {
  /** When it returns by itself, in epoch milliseconds. Absent: it has to be released. */
  until?: number;
}

/** What `prepareTurn` answers in place of a turn where a session has to be opened first. */
export interface SessionOpened {
  opened: OpenSession;
  pace: Pace;
  /** The fixed first message (spec B11), to be delivered now. Absent: there is none, or it was planned before. */
  firstMessageId?: string;
}

/** Where a session stands once a turn of it has been decided. */
export type SessionNow = OpenSession | { sessionId: string; state: 'resolved'; by: ResolvedBy };

/** What a look at the desk finds. */
export interface DeskNow {
  /** Absent: none is open. */
  session?: OpenSession;
  /** With a session: its pace. */
  pace?: Pace;
  /** Absent: no person has the chat. */
  lease?: Lease;
  /** Turns whose runs have more to do and may go on: nobody has the chat. */
  runs: string[];
}

/** Whether messages are answered within sessions at all. */
export function hasSessions({
  graceMs = 0,
  debounceMs,
  debounceMaxMs = 0,
}: Omit<Pace, 'inactivityMs'>): boolean {
  return graceMs > 0 || debounceMs > 0 || debounceMaxMs > 0;
}

/** Messages of one turn, while more of them may come. */
export interface Debounce {
  /** When the first of them came. */
  firstAt: number;
  dueAt: number;
}

/** However fast somebody goes on typing, they are answered within this many times the upper bound. */
const LONGEST_WAITS = 3;

/** Restarted by each message, and bounded from the first. `random`: in [0, 1), drawn anew for each message. */
export function debounced(
  pending: Debounce | undefined,
  { pace, now, random }: { pace: Pace; now: number; random: number },
): Debounce {
  const { debounceMs, debounceMaxMs = debounceMs } = pace;
  const firstAt = pending?.firstAt ?? now;
  const waitMs = Math.round(debounceMs + random * (debounceMaxMs - debounceMs));
  return { firstAt, dueAt: Math.min(now + waitMs, firstAt + LONGEST_WAITS * debounceMaxMs) };
}
