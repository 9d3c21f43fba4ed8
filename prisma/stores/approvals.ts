// Approvals: the row is the arbiter. Every change is a compare-and-set under the row's lock, so that a double click, a late
// answer and two owners at once all come to one decision.
import {
  answered,
  answerRefusal,
  toApprovalState,
  type ApprovalDecision,
  type ApprovalState,
  type Approver,
  type OnExpiry,
} from '../../workflows/domain/approval.js';
import type { ContentCipher } from '../content.js';
import type { Tx } from '../database.js';
import { appendAudit } from '../functions.js';
import { auditRefusal, isGuessing, noteWrongCode } from './approval-refusals.js';
import {
  createApproval,
  newestOf,
  recordDecision,
  toOnExpiry,
  type ApprovalRequest,
  type ApprovalRow,
  type AskedApproval,
} from './approval-rows.js';
import { openOptional, type Scope } from './scope.js';

export type { ApprovalRequest, AskedApproval } from './approval-rows.js';

/** Opens the one approval of a step; asked again it returns the same one. Audits what was asked. */
export async function openApproval(scope: Scope, request: ApprovalRequest): Promise<AskedApproval> {
  const known = await scope.tx.approval.findFirst({
    where: { stepId: request.stepId, state: { not: 'edited' } },
  });
  if (known) return { approvalId: known.id, ref: known.ref, expiresAt: known.expiresAt };
  return createApproval(scope, request);
}

export type ApprovalKey = { ref: string } | { approvalId: string };

export interface Decision {
  tenantId: string;
  key: ApprovalKey;
  decision: ApprovalDecision;
  reason?: string | undefined;
  /** `chat`: the requester's own chat, which decides what asks for their own yes and nothing else. */
  approver: Approver;
  /** The chat in which it was said, for the audit of a code that is nobody's. Absent: not in a chat. */
  saidIn?: string | undefined;
}

/** Why a decision changed nothing. */
export type DecisionRefusal =
  | 'already_said'
  | 'already_decided'
  | 'expired'
  | 'edited'
  | 'not_asked'
  | 'unknown'
  /** So many wrong codes came from there that none is looked up for a while. */
  | 'too_many_codes';

export interface DecisionOutcome {
  /** `counted`: a yes, and others have to say theirs. */
  outcome: 'decided' | 'counted' | DecisionRefusal;
  approvalId?: string;
  turnId?: string;
  ref?: string;
  state?: ApprovalState;
  /** After `counted` and `already_said`: how many more have to say yes. */
  missing?: number;
  /** After `edited`: the REF that asks now. */
  newRef?: string;
}

/**
 * The one place where an approval is decided, whatever the surface. Looks and changes under the row's lock; stores who,
 * where and why; audits, also what it refuses. Waking the run is the caller's business, after the commit.
 */
export async function decide(tx: Tx, content: ContentCipher, request: Decision): Promise<DecisionOutcome> {
  const scope: Scope = { tx, tenantId: request.tenantId, content };
  const { approver, decision } = request;
  const found = await findForDecision(scope, request);
  if ('outcome' in found) return found;
  const { row } = found;
  const known = { approvalId: row.id, turnId: row.turnId, ref: row.ref };
  const said = await scope.tx.approvalDecision.findMany({
    where: { approvalId: row.id, decision: 'approve' },
    select: { approver: true },
  });
  const yeses = new Set(said.map((yes) => yes.approver));
  const answer = answered({ needed: row.needed, yeses }, { decision, approverId: approver.id });
  if (answer.outcome === 'already_said') {
    await auditRefusal(scope, { ...known, stream: row.chatId, approver, decision, outcome: 'already_said' });
    return { ...known, ...answer, state: 'open' };
  }
  if (answer.outcome === 'decided') {
    const { state } = answer;
    await tx.approval.update({ where: { id: row.id }, data: { state, decidedAt: new Date() } });
  }
  const { reason } = request;
  await recordDecision(scope, { approvalId: row.id, chatId: row.chatId, decision, approver, reason });
  return { ...known, state: 'open', ...answer };
}

/** The row that is meant, locked, open, in time, and asked of this approver; or why not, audited. */
export async function findForDecision(
  scope: Scope,
  request: Omit<Decision, 'tenantId' | 'decision' | 'reason'> & { decision: ApprovalDecision | 'edit' },
): Promise<{ row: ApprovalRow } | (DecisionOutcome & { outcome: DecisionRefusal })> {
  const { key, approver, decision } = request;
  const stream = request.saidIn ?? 'tenant';
  if ('ref' in key && (await isGuessing(scope, approver))) {
    await auditRefusal(scope, { stream, approver, decision, outcome: 'too_many_codes' });
    return { outcome: 'too_many_codes' };
  }
  const meant = await findMeant(scope, key, approver);
  if (!meant) {
    await noteWrongCode(scope, { stream, approver, decision });
    return { outcome: 'unknown' };
  }
  await scope.tx.$queryRaw`select 1 from approvals where id = ${meant.id}::uuid for update`;
  const row = await scope.tx.approval.findUniqueOrThrow({ where: { id: meant.id } });
  const refusal = await refusalOf(scope, row, approver);
  if (!refusal) return { row };
  const { approvalId = row.id, ref = row.ref } = refusal;
  await auditRefusal(scope, {
    approvalId,
    ref,
    stream: row.chatId,
    approver,
    decision,
    outcome: refusal.outcome,
  });
  return refusal;
}

/** Owners decide what asks owners, the requester what asks the requester; neither finds the other's. */
export async function findMeant(
  scope: Scope,
  key: ApprovalKey,
  approver: Approver,
): Promise<{ id: string; stepId: string } | null> {
  return scope.tx.approval.findFirst({
    where: {
      ...('ref' in key ? { ref: key.ref } : { id: key.approvalId }),
      gate: approver.surface === 'chat' ? 'confirm' : 'approve',
    },
    // A REF may come back into use after years: the newest is meant.
    orderBy: { askedAt: 'desc' },
    select: { id: true, stepId: true },
  });
}

async function refusalOf(
  scope: Scope,
  row: ApprovalRow,
  approver: Approver,
): Promise<(DecisionOutcome & { outcome: DecisionRefusal }) | undefined> {
  const state = toApprovalState(row.state);
  const standing = { ...row, state, expiresAt: row.expiresAt.getTime() };
  const outcome = answerRefusal(standing, approver, Date.now());
  if (outcome === undefined) return undefined;
  const known = { outcome, approvalId: row.id, turnId: row.turnId, ref: row.ref };
  switch (outcome) {
    case 'not_asked':
      return known;
    case 'expired':
    case 'already_decided':
      return { ...known, state };
    case 'edited':
      return { ...known, state, newRef: (await newestOf(scope, row)).ref };
  }
}

/** Who decided when the customer went on to something else: nobody said no, and nobody needs to hear of it. */
const SUPERSEDED = 'superseded';

/** The requester's own answer to a confirmation of an earlier turn: decided here, the run is woken by the caller. */
export async function decideOwn(
  scope: Scope,
  answer: { askedByTurnId: string; decision: ApprovalDecision; by: { contactId: string } | 'superseded' },
): Promise<DecisionOutcome> {
  const asked = await scope.tx.approval.findFirst({
    where: { turnId: answer.askedByTurnId, gate: 'confirm' },
    select: { id: true },
  });
  if (!asked) return { outcome: 'unknown' };
  return decide(scope.tx, scope.content, {
    tenantId: scope.tenantId,
    key: { approvalId: asked.id },
    decision: answer.decision,
    approver: { surface: 'chat', id: answer.by === 'superseded' ? SUPERSEDED : answer.by.contactId },
  });
}

/** Nobody will carry out what was asked for: what is still open is closed, so that no yes is given to nothing. */
export async function withdrawApprovals(
  scope: Scope,
  { turnId, chatId }: { turnId: string; chatId: string },
): Promise<void> {
  const open = await scope.tx.approval.findMany({ where: { turnId, state: 'open' }, select: { id: true } });
  const now = new Date();
  for (const { id: approvalId } of open) {
    await scope.tx.approval.update({
      where: { id: approvalId },
      data: { state: 'expired', decidedAt: now, heardAt: now },
    });
    await recordDecision(scope, {
      approvalId,
      chatId,
      decision: 'expire',
      approver: { surface: 'temporal', id: 'run ended' },
    });
  }
}

/** The run that should hear of a decision is gone: nobody needs to ring for it any more, and nothing was done. */
export async function giveUpRun(tx: Tx, decided: { approvalId: string; turnId: string }): Promise<void> {
  const { chatId } = await tx.approval.update({
    where: { id: decided.approvalId },
    data: { heardAt: new Date() },
    select: { chatId: true },
  });
  // It may have been edited: the newer one asks for a yes to nothing.
  await tx.approval.updateMany({
    where: { turnId: decided.turnId, state: 'open' },
    data: { state: 'expired', decidedAt: new Date(), heardAt: new Date() },
  });
  await tx.step.updateMany({
    where: { turnId: decided.turnId, state: { in: ['proposed', 'accepted'] } },
    data: { state: 'refused', finishedAt: new Date() },
  });
  await tx.toolRun.updateMany({
    where: { turnId: decided.turnId, open: true },
    data: { state: 'failed', open: false, closedAt: new Date() },
  });
  await appendAudit(tx, {
    stream: chatId,
    event: 'run_given_up',
    subjectId: decided.turnId,
    actor: 'gateway',
    facts: { approvalId: decided.approvalId },
  });
}

/**
 * Takes the yes of a step, once. False: there is none, or too few have said it, or it is for something else, or it was taken.
 * The yeses are counted again here: what lets a step run is what people have said, not what a column says of it.
 */
export async function consumeApproval(
  scope: Scope,
  yes: { stepId: string; gate: 'approve' | 'confirm'; argumentsHash: string; configHash: string },
): Promise<boolean> {
  const { stepId, argumentsHash, configHash } = yes;
  // An owner's yes covers what needs only the requester's; never the other way round.
  const gates = yes.gate === 'approve' ? ['approve'] : ['approve', 'confirm'];
  const count = await scope.tx.$executeRaw`
    update approvals a set state = 'used', used_at = now()
    where a.step_id = ${stepId}::uuid and a.state = 'approved' and a.gate = any(${gates})
      and a.arguments_hash = ${argumentsHash} and a.config_hash = ${configHash}
      and (select count(distinct d.approver) from approval_decisions d
           where d.approval_id = a.id and d.decision = 'approve') >= a.needed`;
  return count === 1;
}

/** The last word on the approval of a turn's step, for the sentence that the customer hears. */
export async function lastDecisionOfTurn(
  scope: Scope,
  turnId: string,
): Promise<
  | {
      state: ApprovalState;
      gate: 'approve' | 'confirm';
      isSuperseded: boolean;
      onExpiry: OnExpiry;
      reason?: string;
    }
  | undefined
> {
  const approval = await scope.tx.approval.findFirst({ where: { turnId }, orderBy: { askedAt: 'desc' } });
  if (!approval) return undefined;
  const decision = await scope.tx.approvalDecision.findFirst({
    where: { approvalId: approval.id },
    orderBy: { decidedAt: 'desc' },
  });
  const reason =
    decision &&
    (await openOptional(scope, {
      table: 'approval_decisions',
      column: 'reason_cipher',
      rowId: decision.id,
      keyId: decision.keyId,
      cipher: decision.reasonCipher,
    }));
  const gate = approval.gate === 'confirm' ? 'confirm' : 'approve';
  const isSuperseded = decision?.approver === SUPERSEDED;
  const [state, onExpiry] = [toApprovalState(approval.state), toOnExpiry(approval.onExpiry)];
  return { state, gate, isSuperseded, onExpiry, ...(reason && { reason }) };
}
