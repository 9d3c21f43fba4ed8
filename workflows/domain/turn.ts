// A turn: the messages that are answered together, and what was decided about them before any model was asked.
import type { SayKind } from './message.js';
import type { Actor } from './tool.js';

/** The numbers a workflow needs; workflows never read configuration themselves. All in milliseconds. */
export interface Profile {
  /** A person may answer a new session first; the assistant waits this long. Absent or 0: it answers at once. */
  graceMs?: number | undefined;
  /** Waits this long after a message for more of the same turn. 0: every message is a turn of its own. */
  debounceMs: number;
  /** The wait is drawn anew for each message between `debounceMs` and this. Absent: always `debounceMs`. */
  debounceMaxMs?: number | undefined;
  /** A person who writes in the chat keeps the assistant silent for this long after their last word. */
  leaseMs?: number | undefined;
  /** A run that has said nothing by then is acknowledged ("I'll check"). */
  acknowledgeAfterMs: number;
  /** The conversation workflow ends after this much silence; the next message starts a fresh one. */
  inactivityMs: number;
}

/** Stored before any model is asked; continuations refer to it (spec C4). */
export interface TurnDecision {
  decisionId: string;
  turnId: string;
  roleId: string;
  effort: 'low' | 'medium' | 'high';
  actor: Actor;
  configHash: string;
  profile: Profile;
  /** Epoch milliseconds. */
  expiresAt: number;
  route: TurnRoute;
}

/** A candidate with its place in the ranking; the reason holds words of the catalogue and the phrase files only. */
export interface RankedTool {
  tool: string;
  score: number;
  because: string;
}

export type TurnRoute =
  | { kind: 'answer' }
  | {
      kind: 'tools';
      candidates: string[];
      because: string;
      contextIds: string[];
      questionId?: string;
      /** Scores and reasons of the candidates. Absent: another gate chose them, for `because`. */
      ranking?: RankedTool[];
    }
  | { kind: 'fixed'; outboxId: string; gate: string; bells?: Bell[] }
  | { kind: 'silent'; reason: string; bells?: Bell[] }
  /** The customer's own yes or no to a run of theirs; stored already, the run has to be woken. */
  | { kind: 'decided'; approvalId: string; runId: string }
  | { kind: 'handOff'; reason: string; outboxId: string };

/**
 * Who else has to hear of what was stored with a decision. Rung after the commit by the conversation that took the turn;
 * rows decide, so a lost bell costs only the time until the sweep comes by.
 */
export type Bell =
  /** A run waits for this approval. */
  | { kind: 'decided'; runId: string; approvalId: string }
  /** Another chat has words to be delivered. */
  | { kind: 'say'; chatId: string; turnId: string; outboxId: string; sayKind: SayKind; final: boolean }
  /** The desk of a chat has changed: taken over, released, an operator has answered. */
  | { kind: 'desk'; chatId: string };

/** What `prepareTurn` gives the conversation: one turn, the same one when asked again. */
export interface PreparedTurn {
  turnId: string;
  /** The highest inbox sequence that belongs to this turn. */
  upTo: number;
  decision: TurnDecision;
}
