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
import { databaseWork, modelWork, sendWork, stepWork } from '../activity-options.js';
import type { Activities } from '../activity-ports.js';
import { say } from '../conversation/contract.js';
import type { ApprovalDecision, ApprovalSettlement } from '../domain/approval.js';
import { conversationWorkflowId } from '../domain/ids.js';
import type { SayKind } from '../domain/message.js';
import type { OpenApproval, ProposedStep, StepOutcome } from '../domain/plan.js';
import { decideApproval, releaseRun, type ToolRunInput } from './contract.js';
import { nextDeadline, noteDecision, noteRelease, startBells, type Awaited, type RunBells } from './state.js';

const { detect, validate, settleApproval, remindApprovers, decideFromTemporal, apologize } =
  proxyActivities<Activities>(databaseWork);
const { deliver } = proxyActivities<Activities>(sendWork);
const { plan, summarize, answer } = proxyActivities<Activities>(modelWork);
const { executeStep } = proxyActivities<Activities>(stepWork);

/** What hasn't reached an owner by then is no news any more. */
const LAST_DELIVERY_MS = 60_000;

/** Detects, plans, validates, waits for a yes where one is needed, executes, summarizes, and says what came of it. */
export async function toolRunWorkflow(run: ToolRunInput): Promise<void> {
  const bells = startBells();
  setHandler(decideApproval, (decision) => noteDecision(bells, decision));
  setHandler(releaseRun, () => noteRelease(bells));
  try {
    await runTool(run, bells);
    // A run that ends takes what it is doing with it.
    if (bells.underDelivery > 0) await condition(() => bells.underDelivery === 0, LAST_DELIVERY_MS);
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

async function runTool(run: ToolRunInput, bells: RunBells): Promise<void> {
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
      sendNotices(run, bells, planned.notices);
      return tell(run, { outboxId: planned.outboxId, kind: 'refusal' });
    case 'steps':
      return carryOut(run, planned.proposed, bells);
  }
}

async function carryOut(run: ToolRunInput, proposed: ProposedStep[], bells: RunBells): Promise<void> {
  for (const [index, step] of proposed.entries()) {
    const verdict = await validate.executeWithOptions({ ...databaseWork, summary: `check ${step.tool}` }, [
      { tenantId: run.tenantId, turnId: run.turnId, stepId: step.stepId },
    ]);
    // What an earlier step has done is told, whatever becomes of this one.
    if (verdict.kind !== 'accepted' && index > 0) return conclude(run);
    switch (verdict.kind) {
      case 'rejected':
        sendNotices(run, bells, verdict.notices);
        return tell(run, { outboxId: verdict.outboxId, kind: 'refusal' });
      case 'needsInput':
        return tell(run, { outboxId: verdict.outboxId, kind: 'question' });
      case 'alreadyOpen':
        return tell(run, { outboxId: verdict.outboxId, kind: 'answer' });
      case 'accepted': {
        const outcome = await carryOutStep(run, step, verdict.approval, bells);
        // The second step never runs after a first one that failed, was declined or refused, or is unknown.
        if (outcome?.kind !== 'succeeded' || outcome.declined) return conclude(run);
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
  bells: RunBells,
): Promise<StepOutcome | undefined> {
  if (approval) {
    const kind = approval.gate === 'confirm' ? 'question' : 'acknowledgement';
    await tell(run, { outboxId: approval.outboxId, kind, final: false });
    sendNotices(run, bells, approval.notices);
    const settlement = await waitForDecision(run, approval, bells);
    if (settlement !== 'approved') return undefined;
  }
  for (;;) {
    setCurrentDetails(`executing \`${step.tool}\``);
    bells.isReleased = false;
    const outcome = await executeStep.executeWithOptions({ ...stepWork, summary: `execute ${step.tool}` }, [
      { tenantId: run.tenantId, stepId: step.stepId },
    ]);
    setCurrentDetails(`\`${step.tool}\`: ${outcome.kind}`);
    if (outcome.kind === 'unknown') sendNotices(run, bells, outcome.notices);
    if (outcome.kind === 'succeeded') void sendInOrder(run, bells, outcome.words);
    if (outcome.kind !== 'parked') return outcome;
    await waitForRelease(step, outcome, bells);
  }
}

/** The row decides; a bell or a deadline only makes us look at it. An edited request is followed to the one that asks now. */
async function waitForDecision(
  run: ToolRunInput,
  approval: OpenApproval,
  bells: RunBells,
): Promise<ApprovalSettlement> {
  const whom = approval.gate === 'confirm' ? 'the customer' : 'the owner';
  let awaited: Awaited = approval;
  describeWaiting(whom, awaited);
  for (;;) {
    const { approvalId, ref } = awaited;
    const deadline = nextDeadline(awaited);
    const isRung = await condition(
      () => bells.rung.has(approvalId) || bells.typed.length > 0,
      Math.max(1, deadline.at - Date.now()),
      { summary: `waiting for ${whom}, ${ref}` },
    );
    if (!isRung && deadline.isReminder) {
      awaited = { approvalId, ref, expiresAt: awaited.expiresAt };
      const reminded = await remindApprovers({ tenantId: run.tenantId, approvalId });
      sendNotices(run, bells, reminded.notices);
      continue;
    }
    bells.rung.delete(approvalId);
    for (const typed of bells.typed.splice(0)) await decideTyped(run, typed);
    const { settlement, newer, notices } = await settleApproval({ tenantId: run.tenantId, approvalId });
    sendNotices(run, bells, notices);
    if (settlement !== 'open') return settlement;
    if (newer) {
      awaited = newer;
      describeWaiting(whom, awaited);
    }
  }
}

function describeWaiting(whom: string, { ref, expiresAt }: Awaited): void {
  setCurrentDetails(`waiting for ${whom}, REF ${ref}, until ${new Date(expiresAt).toISOString()}`);
}

/** A bell may be lost: without a time at which the chat comes back by itself, somebody looks now and then. */
const LOOK_EVERY_MS = 3_600_000;

/** A person has the chat: nothing was done, and the yes still stands when they give it back. */
async function waitForRelease(
  step: ProposedStep,
  { until }: Extract<StepOutcome, { kind: 'parked' }>,
  bells: RunBells,
): Promise<void> {
  const back = until === undefined ? '' : `, at the latest ${new Date(until).toISOString()}`;
  setCurrentDetails(`\`${step.tool}\` is parked until the chat is given back${back}`);
  const waitMs = until === undefined ? LOOK_EVERY_MS : Math.max(1, until - Date.now());
  await condition(() => bells.isReleased, waitMs, { summary: 'parked, a person has the chat' });
}

/** To owners, in chats of their own; not waited for, because a channel that is away keeps nobody from deciding elsewhere. */
function sendNotices(run: ToolRunInput, bells: RunBells, notices: readonly string[] = []): void {
  for (const outboxId of notices) void deliverNotice(run, bells, outboxId);
}

/** To one person behind the desk, a question before its pictures; not waited for either. */
async function sendInOrder(run: ToolRunInput, bells: RunBells, words: readonly string[] = []): Promise<void> {
  // The run doesn't end between two of them.
  bells.underDelivery += 1;
  try {
    for (const [index, outboxId] of words.entries()) {
      const isSent = await deliverNotice(run, bells, outboxId, 'question to an operator');
      // Pictures without their question would say nothing: what is left then is the sweep's.
      if (index === 0 && !isSent) return;
    }
  } finally {
    bells.underDelivery -= 1;
  }
}

async function deliverNotice(
  { tenantId, turnId }: ToolRunInput,
  bells: RunBells,
  outboxId: string,
  summary = 'notice to an owner',
): Promise<boolean> {
  bells.underDelivery += 1;
  try {
    const { state } = await deliver.executeWithOptions({ ...sendWork, summary }, [{ tenantId, outboxId }]);
    return state === 'sent';
  } catch (error) {
    // Nobody waits for it: thrown here it would be nobody's, and the run would stand still. A cancelled run ends here too.
    if (!(error instanceof TemporalFailure)) throw error;
    log.warn('notice_failed', { turnId, outboxId });
    return false;
  } finally {
    bells.underDelivery -= 1;
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
