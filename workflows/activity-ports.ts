// Interfaces the workflows call; `activities/` implements them. Ids and codes in, ids and codes out: an id is all that
// Temporal ever holds of a conversation.
import type { ApprovalDecision, ApprovalSettlement } from './domain/approval.js';
import type { ApologyReason } from './domain/failures.js';
import type { OutboxState, SayKind } from './domain/message.js';
import type { PlanOutcome, StepOutcome, Verdict } from './domain/plan.js';
import type { PreparedTurn } from './domain/turn.js';

export interface TurnActivities {
  /**
   * Claims what lies in the inbox after `after` as one turn and decides its route by the turn gates. Asked again before
   * the turn is closed, it returns the same turn and the same decision. Null: nothing to do.
   */
  prepareTurn(input: { tenantId: string; chatId: string; after: number }): Promise<PreparedTurn | null>;
}

export interface AnswerActivities {
  /** Normal chat: asks the model with this chat's memory and no tool, and writes the reply to the outbox. */
  answer(input: { tenantId: string; turnId: string }): Promise<{ outboxId: string }>;
  /** Writes the honest sentence for a turn that can't be finished. */
  apologize(input: {
    tenantId: string;
    turnId: string;
    reason: ApologyReason;
  }): Promise<{ outboxId: string }>;
}

export interface DeliveryActivities {
  /** Sends one outbox row, at most once, and settles the messages it answers in the same transaction. */
  deliver(input: { tenantId: string; outboxId: string }): Promise<{ state: OutboxState }>;
  /** Tells the customer that the run is being worked on, unless the run has spoken meanwhile. */
  acknowledge(input: { tenantId: string; turnId: string }): Promise<{ state: OutboxState | 'unneeded' }>;
}

export interface ToolRunActivities {
  /** Registers the run and ranks its candidates with reasons, so that one history tells the whole story. */
  detect(input: { tenantId: string; turnId: string }): Promise<{
    candidates: { tool: string; score: number; because: string }[];
  }>;
  /** Asks the model for a plan over the candidates; a proposal, stored, never an authority. */
  plan(input: { tenantId: string; turnId: string }): Promise<PlanOutcome>;
  /** The fifteen checks; opens the approval where policy asks for one. */
  validate(input: { tenantId: string; turnId: string; stepId: string }): Promise<Verdict>;
  /** What the approval row says now; closes it as expired when its time is over. */
  settleApproval(input: {
    tenantId: string;
    approvalId: string;
  }): Promise<{ settlement: ApprovalSettlement }>;
  /** A decision that came as a signal from the Temporal UI or CLI, where policy lists that surface. */
  decideFromTemporal(input: {
    tenantId: string;
    turnId: string;
    ref: string;
    decision: ApprovalDecision;
  }): Promise<{ accepted: boolean }>;
  /** Carries the step out, at most once. All else is loaded by id: no caller can hand it other arguments. */
  executeStep(input: { tenantId: string; stepId: string }): Promise<StepOutcome>;
  /** Says what came of the run in words, from stored results only, and closes the run. */
  summarize(input: { tenantId: string; turnId: string }): Promise<{ outboxId: string; kind: SayKind }>;
}

export type Activities = TurnActivities & AnswerActivities & DeliveryActivities & ToolRunActivities;
