// Asking for the yes that policy demands: an owner's, or the requester's own (spec D2).
import type { PolicyAnswer } from '../../config/policy.js';
import { openApproval } from '../../prisma/stores/approvals.js';
import { openQuestion } from '../../prisma/stores/questions.js';
import type { OpenApproval } from '../../workflows/domain/plan.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';
import { planNotices } from '../approvals/notices.js';
import { hashOfTerms } from '../call-hash.js';
import { say } from '../sentences.js';
import { renderCall } from './render-call.js';
import { minutesFromNow, tell, type Validation } from './validation.js';

/** Nothing where policy lets the call pass. */
export async function askForYes(
  validation: Validation,
  tool: ToolDefinition,
  policy: PolicyAnswer,
): Promise<OpenApproval | undefined> {
  const { gate, rule, approvers, needed, onExpiry, remindAfterMinutes } = policy;
  if (gate !== 'approve' && gate !== 'confirm') return undefined;
  const { scope, tenant, turn, step } = validation;
  // No yes is waited for beyond the decision that it continues.
  const wanted = new Date(
    Math.min(minutesFromNow(policy.expiresAfterMinutes).getTime(), turn.decision.expiresAt),
  );
  const remindBefore = (end: Date): Date | undefined =>
    remindAfterMinutes === undefined
      ? undefined
      : new Date(end.getTime() - (policy.expiresAfterMinutes - remindAfterMinutes) * 60_000);
  const approval = await openApproval(scope, {
    gate,
    chatId: turn.chatId,
    turnId: turn.turnId,
    stepId: step.stepId,
    tool: step.tool,
    rule,
    approvers,
    needed,
    onExpiry,
    remindAt: remindBefore(wanted),
    argumentsHash: step.argumentsHash,
    configHash: hashOfTerms(tenant.configuration, step.tool),
    expiresAt: wanted,
  });
  // Of the request that is there, which an earlier attempt may have opened.
  const { approvalId, ref, expiresAt } = approval;
  const remindAt = remindBefore(expiresAt);
  const { outboxId } =
    gate === 'approve'
      ? await tell(validation, { kind: 'acknowledgement', text: say(tenant, 'waitingForOwner', { ref }) })
      : await askRequester(validation, tool, expiresAt);
  const notices =
    gate === 'approve' ? await planNotices(scope, tenant, { approvalId, about: 'request' }) : [];
  return {
    gate,
    approvalId,
    ref,
    expiresAt: expiresAt.getTime(),
    outboxId,
    ...(notices.length > 0 && { notices }),
    ...(remindAt && { remindAt: remindAt.getTime() }),
  };
}

/** The question shows what will be done, in the runtime's words and not a model's. */
async function askRequester(
  validation: Validation,
  tool: ToolDefinition,
  expiresAt: Date,
): Promise<{ outboxId: string }> {
  const { scope, tenant, turn, step } = validation;
  await openQuestion(scope, {
    chatId: turn.chatId,
    contactId: turn.contactId,
    turnId: turn.turnId,
    kind: 'confirm',
    tool: tool.name,
    missing: [],
    arguments: step.arguments,
    isTainted: turn.isTainted,
    expiresAt,
  });
  const what = renderCall(tool, step.arguments, tenant.configuration.business);
  return tell(validation, { kind: 'question', text: say(tenant, 'confirmRequest', { what }) });
}
