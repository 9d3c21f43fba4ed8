// A turn: the messages that are answered together, and what was decided about them before any model was asked.
import type { SayKind } from './message.js';
import type { Lease, Pace, SessionNow } from './session.js';
import type { Actor } from './tool.js';

/** The numbers a workflow needs; workflows never read configuration themselves. All in milliseconds. */
export interface Profile extends Pace {
  /** A person who writes in the chat keeps the assistant silent for this long after their last word. */
  leaseMs?: number | undefined;
  /** A run that has said nothing by then is acknowledged ("I'll check"). */
  acknowledgeAfterMs: number;
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
  /** Nobody says anything. `isHandedOff`: a person has the matter; absent: it needs no answer. */
  | { kind: 'silent'; reason: string; bells?: Bell[]; isHandedOff?: boolean }
  /** The customer's own yes or no to a run of theirs; stored already, the run has to be woken. */
  | { kind: 'decided'; approvalId: string; runId: string }
  /** A person takes the matter over; `notices` are messages to owners, by outbox id. */
  | { kind: 'handOff'; reason: string; outboxId: string; notices?: string[] };

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
  /** Where the chat's session stands after this turn. Absent: the turn belongs to none. */
  session?: SessionNow;
  /** A person has the chat. Absent: nobody had it when the turn was decided. */
  lease?: Lease;
}

/** Whether a stored decision may still be continued: by a yes, by an operator's answer (spec C4). */
export function isDecisionLive({ expiresAt }: Pick<TurnDecision, 'expiresAt'>, now: number): boolean {
  return now < expiresAt;
}
