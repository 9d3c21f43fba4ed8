// Interfaces the workflows call; `activities/` implements them. Ids and codes in, ids and codes out: an id is all that
// Temporal ever holds of a conversation.
import type { ApprovalDecision, ApprovalSettlement } from './domain/approval.js';
import type { ApologyReason } from './domain/failures.js';
import type { OutboxState, SayKind } from './domain/message.js';
import type { NewerApproval, PlanOutcome, StepOutcome, Verdict } from './domain/plan.js';
import type { DeskNow, ResolvedBy, SessionOpened } from './domain/session.js';
import type { PreparedTurn } from './domain/turn.js';

export interface TurnActivities {
  /**
   * Claims what lies in the inbox after `after` as one turn and decides its route by the turn gates. Asked again before
   * the turn is closed, it returns the same turn and the same decision. Null: nothing to do. Where messages are answered
   * within sessions, `sessionId` names the one whose grace or debounce is over; without it one is opened, or found.
   */
  prepareTurn(input: {
    tenantId: string;
    chatId: string;
    after: number;
    sessionId?: string;
  }): Promise<PreparedTurn | SessionOpened | null>;
}

export interface DeskActivities {
  /**
   * Who has the chat and where its session stands. Gives a chat back whose lease is over, and resolves a waiting session in
   * which a person has written. Asked again it finds the same.
   */
  deskState(input: { tenantId: string; chatId: string }): Promise<DeskNow>;
  /** Ends a session, unless an operator's answer is awaited: then it is told until when, in epoch milliseconds. */
  resolveSession(input: {
    tenantId: string;
    chatId: string;
    sessionId: string;
    by: ResolvedBy;
  }): Promise<{ awaitedUntil?: number }>;
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
  /**
   * Sends one outbox row, at most once, and settles the messages it answers in the transaction that makes it sent. `held`:
   * a person has the chat, and it is said when the chat comes back. `unknown`: nobody knows whether it arrived; a status or
   * a person settles it, and it is never sent again.
   */
  deliver(input: { tenantId: string; outboxId: string }): Promise<{ state: OutboxState; held?: true }>;
  /** Tells the customer that the run is being worked on, unless the run has spoken meanwhile. */
  acknowledge(input: {
    tenantId: string;
    turnId: string;
  }): Promise<{ state: OutboxState | 'unneeded'; held?: true }>;
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
  /**
   * What the approval row says now; closes it as expired when its time is over. Where it was edited, what the newer one says,
   * and which that is. `notices`: messages to owners that this has brought, by outbox id; the run delivers them.
   */
  settleApproval(input: {
    tenantId: string;
    approvalId: string;
  }): Promise<{ settlement: ApprovalSettlement; newer?: NewerApproval; notices?: string[] }>;
  /** Reminds the owners who haven't said yes, once; the run delivers what was written. */
  remindApprovers(input: { tenantId: string; approvalId: string }): Promise<{ notices: string[] }>;
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

export type Activities = TurnActivities &
  DeskActivities &
  AnswerActivities &
  DeliveryActivities &
  ToolRunActivities;
