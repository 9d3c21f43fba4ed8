// What the turn gates see: the messages, the chat, the tenant, and the few things of Postgres that decide.
import type { OpenQuestion } from '../../prisma/stores/questions.js';
import type { Scope } from '../../prisma/stores/scope.js';
import type { ToolContext } from '../../prisma/stores/contexts.js';
import type { ChatRow, TurnMessage } from '../../prisma/stores/turns.js';
import type { OpenSession } from '../../workflows/domain/session.js';
import type { Actor } from '../../workflows/domain/tool.js';
import type { Bell, RankedTool } from '../../workflows/domain/turn.js';
import type { Tenant } from '../tenants.js';

export interface TurnContext {
  scope: Scope;
  tenant: Tenant;
  chat: ChatRow;
  turnId: string;
  actor: Actor;
  messages: TurnMessage[];
  /** All messages of the turn as one text. */
  text: string;
  question: OpenQuestion | undefined;
  contexts: ToolContext[];
  /** The session that the turn belongs to, as it was before. Absent: none. */
  session?: OpenSession | undefined;
}

/** A gate decides or passes on (nothing). Gates stand in a fixed order: spec A1. */
export interface TurnGate {
  name: string;
  decide(turn: TurnContext): GateOutcome | undefined | Promise<GateOutcome | undefined>;
}

export type GateOutcome = { because: string } & (
  | { kind: 'answer' }
  | {
      kind: 'tools';
      candidates: string[];
      contextIds: string[];
      questionId?: string;
      /** Where the detector chose: its scores and reasons. */
      ranking?: RankedTool[];
    }
  /** `bells`: who else has to hear of what was stored. */
  | { kind: 'fixed'; text: string; as: 'answer' | 'refusal'; bells?: Bell[] }
  /** A person takes the matter over, and the customer hears it. */
  | { kind: 'handOff'; text: string }
  /** Nobody says anything; `isHandedOff`: because a person has the matter already. */
  | { kind: 'silent'; isHandedOff?: boolean; bells?: Bell[] }
  | { kind: 'decided'; approvalId: string; runId: string }
);
