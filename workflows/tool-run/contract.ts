// All that outsiders import of a tool run: its input and its signals.
import { defineSignal } from '@temporalio/workflow';
import type { ApprovalDecision } from '../domain/approval.js';

export interface ToolRunInput {
  tenantId: string;
  chatId: string;
  turnId: string;
}

/**
 * `{ approvalId }` is the doorbell every surface of ours rings after its transaction. `{ ref, decision }` is for an
 * engineer at the Temporal UI or CLI, and counts only where policy lists that surface.
 */
export type DecideApproval = { approvalId: string } | { ref: string; decision: ApprovalDecision };

export const TOOL_RUN_WORKFLOW = 'toolRunWorkflow';
export const decideApproval = defineSignal<[DecideApproval]>('decideApproval');
/** Nobody has the chat any more: a run that was parked with its yes tries again. */
export const releaseRun = defineSignal('releaseRun');
