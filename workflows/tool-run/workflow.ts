// One flagged turn from detection to its last word. A run never speaks to the customer: it writes to the outbox and
// signals the conversation.
import {
  ActivityFailure,
  condition,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  TemporalFailure,
} from '@temporalio/workflow';
import { databaseWork, modelWork, stepWork } from '../activity-options.js';
import type { Activities } from '../activity-ports.js';
import { say } from '../conversation/contract.js';
import type { ApprovalDecision, ApprovalSettlement } from '../domain/approval.js';
import { conversationWorkflowId } from '../domain/ids.js';
import type { SayKind } from '../domain/message.js';
import type { OpenApproval, ProposedStep, StepOutcome } from '../domain/plan.js';
import { decideApproval, type ToolRunInput } from './contract.js';
import { noteDecision, startApprovals, type ApprovalBells } from './state.js';

const { detect, validate, settleApproval, decideFromTemporal, apologize } =
  proxyActivities<Activities>(databaseWork);
const { plan, summarize, answer } = proxyActivities<Activities>(modelWork);
const { executeStep } = proxyActivities<Activities>(stepWork);

/** Detects, plans, validates, waits for a yes where one is needed, executes, summarizes, and says what came of it. */
export async function toolRunWorkflow(run: ToolRunInput): Promise<void> {
  const bells = startApprovals();
  setHandler(decideApproval, (decision) => noteDecision(bells, decision));
  try {
    await runTool(run, bells);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('run_failed', { turnId: run.turnId });
    const { outboxId } = await apologize({
      tenantId: run.tenantId,
      turnId: run.turnId,
      reason: 'assistant_unavailable',
    });
    await tell(run, { outboxId, kind: 'refusal' });
    throw error;
  }
}

async function runTool(run: ToolRunInput, bells: ApprovalBells): Promise<void> {
  const turn = { tenantId: run.tenantId, turnId: run.turnId };
  const { candidates } = await detect(turn);
  setCurrentDetails(`candidates: ${candidates.map(({ tool }) => tool).join(', ')}`);

  const planned = await plan(turn);
  switch (planned.kind) {
    case 'noTool':
      return tell(run, { ...(await answer(turn)), kind: 'answer' });
    case 'question':
      return tell(run, { outboxId: planned.outboxId, kind: 'question' });
    case 'denied':
      return tell(run, { outboxId: planned.outboxId, kind: 'refusal' });
    case 'steps':
      return carryOut(run, planned.proposed, bells);
  }
}

async function carryOut(run: ToolRunInput, proposed: ProposedStep[], bells: ApprovalBells): Promise<void> {
  for (const [index, step] of proposed.entries()) {
    const verdict = await validate.executeWithOptions({ ...databaseWork, summary: `check ${step.tool}` }, [
      { tenantId: run.tenantId, turnId: run.turnId, stepId: step.stepId },
    ]);
    // What an earlier step has done is told, whatever becomes of this one.
    if (verdict.kind !== 'accepted' && index > 0) return conclude(run);
    switch (verdict.kind) {
      case 'rejected':
        return tell(run, { outboxId: verdict.outboxId, kind: 'refusal' });
      case 'needsInput':
        return tell(run, { outboxId: verdict.outboxId, kind: 'question' });
      case 'alreadyOpen':
        return tell(run, { outboxId: verdict.outboxId, kind: 'answer' });
      case 'accepted': {
        const outcome = await carryOutStep(run, step, verdict.approval, bells);
        // The second step never runs after a first one that failed, was refused or is unknown.
        if (outcome?.kind !== 'succeeded') return conclude(run);
      }
    }
  }
  return conclude(run);
}

/** Nothing comes back where the step wasn't allowed to run. */
async function carryOutStep(
  run: ToolRunInput,
  step: ProposedStep,
  approval: OpenApproval | undefined,
  bells: ApprovalBells,
): Promise<StepOutcome | undefined> {
  if (approval) {
    const kind = approval.gate === 'confirm' ? 'question' : 'acknowledgement';
    await tell(run, { outboxId: approval.outboxId, kind, final: false });
    const settlement = await waitForDecision(run, approval, bells);
    if (settlement !== 'approved') return undefined;
  }
  setCurrentDetails(`executing \`${step.tool}\``);
  const outcome = await executeStep.executeWithOptions({ ...stepWork, summary: `execute ${step.tool}` }, [
    { tenantId: run.tenantId, stepId: step.stepId },
  ]);
  setCurrentDetails(`\`${step.tool}\`: ${outcome.kind}`);
  return outcome;
}

/** The row decides; a bell or the deadline only makes us look at it. */
async function waitForDecision(
  run: ToolRunInput,
  approval: OpenApproval,
  bells: ApprovalBells,
): Promise<ApprovalSettlement> {
  setCurrentDetails(
    `waiting for ${approval.gate === 'confirm' ? 'the customer' : 'the owner'}, REF ${approval.ref}, until ${new Date(approval.expiresAt).toISOString()}`,
  );
  for (;;) {
    await condition(
      () => bells.rung.has(approval.approvalId) || bells.typed.length > 0,
      Math.max(1, approval.expiresAt - Date.now()),
      {
        summary: `waiting for ${approval.gate === 'confirm' ? 'the customer' : 'the owner'}, ${approval.ref}`,
      },
    );
    bells.rung.delete(approval.approvalId);
    for (const typed of bells.typed.splice(0)) await decideTyped(run, typed);
    const { settlement } = await settleApproval({ tenantId: run.tenantId, approvalId: approval.approvalId });
    if (settlement !== 'open') return settlement;
  }
}

async function decideTyped(
  run: ToolRunInput,
  typed: { ref: string; decision: ApprovalDecision },
): Promise<void> {
  await decideFromTemporal.executeWithOptions(
    { ...databaseWork, summary: `${typed.decision} ${typed.ref} from Temporal` },
    [{ tenantId: run.tenantId, turnId: run.turnId, ...typed }],
  );
}

async function conclude(run: ToolRunInput): Promise<void> {
  const { outboxId, kind } = await summarize({ tenantId: run.tenantId, turnId: run.turnId });
  await tell(run, { outboxId, kind });
}

async function tell(
  run: ToolRunInput,
  what: { outboxId: string; kind: SayKind; final?: boolean },
): Promise<void> {
  const conversation = getExternalWorkflowHandle(conversationWorkflowId(run));
  try {
    await conversation.signal(say, {
      turnId: run.turnId,
      outboxId: what.outboxId,
      kind: what.kind,
      final: what.final ?? true,
    });
  } catch (error) {
    // Nobody listens: an engineer ended the conversation. The words lie in the outbox, and the gateway's sweep starts a
    // conversation that says them.
    if (!(error instanceof TemporalFailure)) throw error;
    log.warn('conversation_gone', { turnId: run.turnId });
  }
}
