// What the planner proposed and what the validator made of it. Ids, hashes and codes only: content stays in Postgres.
import type { Effect } from './tool.js';
import type { ErrorCode } from './failures.js';

export interface ProposedStep {
  stepId: string;
  tool: string;
  argumentsHash: string;
}

export type PlanOutcome =
  | { kind: 'noTool' }
  | { kind: 'question'; questionId: string; outboxId: string }
  /** `notices`: messages to owners, by outbox id, where a person takes the matter over. */
  | { kind: 'denied'; code: ErrorCode; outboxId: string; notices?: string[] }
  | { kind: 'steps'; proposed: ProposedStep[] };

export interface OpenApproval {
  /** `approve`: an owner decides. `confirm`: whoever asked for it, in the same chat. */
  gate: 'approve' | 'confirm';
  approvalId: string;
  ref: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  /** What the customer hears: that the owner has been asked, or the question to themselves. */
  outboxId: string;
  /** Messages to owners, by outbox id; the run delivers them. Absent: nobody is written to. */
  notices?: string[];
  /** When those who haven't answered are reminded, in epoch milliseconds. Absent: never. */
  remindAt?: number;
}

/** The request that asks since an owner has edited the one that the run waited for. */
export type NewerApproval = Pick<OpenApproval, 'approvalId' | 'ref' | 'expiresAt' | 'remindAt'>;

export type Verdict =
  | {
      kind: 'accepted';
      stepId: string;
      tool: string;
      effect: Effect;
      /** Which policy rule decided. */
      rule: string;
      requestKey: string;
      tainted: boolean;
      /** Present where the rule asks for somebody's yes. */
      approval?: OpenApproval;
    }
  | {
      kind: 'rejected';
      stepId: string;
      check: string;
      code: ErrorCode;
      outboxId: string;
      /** Messages to owners, where a person takes the matter over. */
      notices?: string[];
    }
  | { kind: 'needsInput'; questionId: string; outboxId: string }
  | { kind: 'alreadyOpen'; runId: string; outboxId: string };

export type StepOutcome =
  /**
   * `declined`: the tool has answered that it hasn't done it. `words`: to somebody else than the customer, by outbox id; the
   * run delivers them in their order.
   */
  | { kind: 'succeeded'; resultId: string; partial: boolean; declined?: true; words?: string[] }
  | { kind: 'failed'; code: ErrorCode; retry: boolean }
  | { kind: 'refused'; reason: RefusalReason }
  /** Nobody knows whether it happened. `notices`: messages to owners, by outbox id. */
  | { kind: 'unknown'; stepId: string; notices?: string[] }
  /** A person has the chat. Nothing was done and the yes still stands: try again when it is released, or at `until`. */
  | { kind: 'parked'; until?: number };

/** Why a step that had a plan was never carried out. */
export type RefusalReason = 'not_approved' | 'expired' | 'paused' | 'changed';
