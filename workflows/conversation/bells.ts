// Signals to other workflows. The rows have decided already, so a workflow that is gone is noted and no more: whatever it
// should have heard lies in Postgres, and the gateway's sweep comes by.
import { getExternalWorkflowHandle, log, type SignalDefinition, TemporalFailure } from '@temporalio/workflow';
import { conversationWorkflowId, toolRunWorkflowId } from '../domain/ids.js';
import type { Bell } from '../domain/turn.js';
import { decideApproval, releaseRun } from '../tool-run/contract.js';
import { deskChanged, say } from './contract.js';

/** Rings in another chat, or for a run. */
export function ring(tenantId: string, bell: Bell): Promise<void> {
  switch (bell.kind) {
    case 'decided':
      // The run looks at the approval itself.
      return signal(toolRunWorkflowId({ turnId: bell.runId }), decideApproval, [
        { approvalId: bell.approvalId },
      ]);
    case 'say': {
      const { turnId, outboxId, sayKind: kind, final } = bell;
      const chat = conversationWorkflowId({ tenantId, chatId: bell.chatId });
      return signal(chat, say, [{ turnId, outboxId, kind, final }]);
    }
    case 'desk':
      return signal(conversationWorkflowId({ tenantId, chatId: bell.chatId }), deskChanged, []);
  }
}

/** Nobody has the chat any more: a run that was parked with its yes goes on. */
export function returnRun(turnId: string): Promise<void> {
  return signal(toolRunWorkflowId({ turnId }), releaseRun, []);
}

async function signal<Args extends unknown[]>(
  workflowId: string,
  definition: SignalDefinition<Args>,
  args: Args,
): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowId).signal(definition, ...args);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    log.warn('workflow_gone', { workflowId, signal: definition.name });
  }
}
