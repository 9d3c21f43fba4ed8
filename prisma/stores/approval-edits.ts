// An edited request: over, and followed by another one that asks once more. Nobody's yes goes over to it.
import type { Approver, OnExpiry } from '../../workflows/domain/approval.js';
import {
  createApproval,
  recordDecision,
  toOnExpiry,
  type ApprovalEdits,
  type AskedApproval,
} from './approval-rows.js';
import {
  findForDecision,
  findMeant,
  type ApprovalKey,
  type DecisionOutcome,
  type DecisionRefusal,
} from './approvals.js';
import type { Scope } from './scope.js';
import type { StepPolicy } from './steps.js';

export interface ApprovalTerms {
  tool: string;
  rule: string;
  argumentsHash: string;
  configHash: string;
  expiresAt: Date;
  approvers: readonly string[];
  needed: number;
  remindAt: Date | undefined;
  onExpiry: OnExpiry;
  /** Why policy asks. Absent: as before. */
  policy?: StepPolicy;
}

/** What an edit starts from: the request and its step, both locked. */
export interface Editable {
  approvalId: string;
  ref: string;
  chatId: string;
  turnId: string;
  stepId: string;
  terms: Omit<ApprovalTerms, 'argumentsHash' | 'configHash' | 'policy'>;
}

/** Finds and locks what is to be edited: the step first, as the executing activity does, then the request. */
export async function lockForEdit(
  scope: Scope,
  request: { key: ApprovalKey; approver: Approver; saidIn?: string | undefined },
): Promise<{ editable: Editable } | (DecisionOutcome & { outcome: DecisionRefusal })> {
  const meant = await findMeant(scope, request.key, request.approver);
  if (meant) await scope.tx.$queryRaw`select 1 from steps where id = ${meant.stepId}::uuid for update`;
  const found = await findForDecision(scope, { ...request, decision: 'edit' });
  if ('outcome' in found) return found;
  const { row } = found;
  const { id: approvalId, ref, chatId, turnId, stepId, tool, rule, expiresAt, approvers, needed } = row;
  const remindAt = row.remindedAt === null ? (row.remindAt ?? undefined) : undefined;
  const onExpiry = toOnExpiry(row.onExpiry);
  const terms = { tool, rule, expiresAt, approvers, needed, remindAt, onExpiry };
  return { editable: { approvalId, ref, chatId, turnId, stepId, terms } };
}

/**
 * Closes a request as edited, gives its step the other arguments, and asks once more under a REF of its own. `editable` was
 * locked in this transaction. Undefined: the step has gone on, or the person's key is another one now; nothing has changed.
 */
export async function replaceApproval(
  scope: Scope,
  editable: Editable,
  edit: { approver: Approver; edits: ApprovalEdits; terms: ApprovalTerms },
): Promise<AskedApproval | undefined> {
  const { approvalId, chatId, turnId, stepId } = editable;
  const { approver, edits } = edit;
  const { policy, ...terms } = edit.terms;
  const chat = await scope.tx.chat.findUniqueOrThrow({ where: { id: chatId }, select: { contactId: true } });
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, chat.contactId);
  const text = JSON.stringify(edits.after);
  const place = { table: 'steps', column: 'arguments_cipher', rowId: stepId };
  const changed = await scope.tx.step.updateMany({
    where: { id: stepId, state: 'accepted', startedAt: null, keyId: key.id },
    data: {
      argumentsCipher: scope.content.sealText(key, { ...place, text }),
      argumentsHash: terms.argumentsHash,
      rule: terms.rule,
      ...(policy && { policy: { ...policy } }),
    },
  });
  if (changed.count === 0) return undefined;
  await scope.tx.approval.update({
    where: { id: approvalId },
    data: { state: 'edited', decidedAt: new Date() },
  });
  const asked = await createApproval(
    scope,
    { gate: 'approve', chatId, turnId, stepId, ...terms },
    approvalId,
  );
  await recordDecision(scope, {
    approvalId,
    chatId,
    decision: 'edit',
    approver,
    edits,
    facts: { replacedBy: asked.approvalId, argumentsHash: terms.argumentsHash },
  });
  return asked;
}
