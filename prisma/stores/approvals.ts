// Approvals: the row is the arbiter. Every change is a compare-and-set, so that a double click, a late answer and two
// owners at once all come to one decision.
import { randomInt, randomUUID } from 'node:crypto';
import {
  REF_ALPHABET,
  type ApprovalDecision,
  type ApprovalSettlement,
  type ApprovalState,
  type ApprovalSurface,
} from '../../workflows/domain/approval.js';
import type { ContentCipher } from '../content.js';
import type { Tx } from '../database.js';
import { appendAudit } from '../functions.js';
import { notify, openOptional, type Scope } from './scope.js';

/** Opens the one approval of a step; asked again it returns the same one. Audits what was asked. */
export async function openApproval(
  scope: Scope,
  request: {
    gate: 'approve' | 'confirm';
    chatId: string;
    turnId: string;
    stepId: string;
    tool: string;
    rule: string;
    argumentsHash: string;
    configHash: string;
    expiresAt: Date;
  },
): Promise<{ approvalId: string; ref: string; expiresAt: Date }> {
  const known = await scope.tx.approval.findFirst({ where: { stepId: request.stepId } });
  if (known) return { approvalId: known.id, ref: known.ref, expiresAt: known.expiresAt };
  const approvalId = randomUUID();
  const ref = await freshRef(scope);
  await scope.tx.approval.create({
    data: { id: approvalId, tenantId: scope.tenantId, ref, ...request },
  });
  await notify(scope, { chatId: request.chatId, what: 'approval' });
  await appendAudit(scope.tx, {
    stream: request.chatId,
    event: 'approval_requested',
    subjectId: approvalId,
    actor: 'assistant',
    facts: {
      ref,
      gate: request.gate,
      tool: request.tool,
      rule: request.rule,
      argumentsHash: request.argumentsHash,
    },
  });
  return { approvalId, ref, expiresAt: request.expiresAt };
}

/** Twenty draws among 17 million codes always find a free one, unless something is badly wrong. */
const REF_DRAWS = 20;

async function freshRef(scope: Scope): Promise<string> {
  for (let draw = 0; draw < REF_DRAWS; draw++) {
    const letter = String.fromCharCode('A'.charCodeAt(0) + randomInt(26));
    const code = Array.from({ length: 4 }, () => REF_ALPHABET[randomInt(REF_ALPHABET.length)]).join('');
    const ref = `${letter}-${code}`;
    if ((await scope.tx.approval.count({ where: { ref, state: 'open' } })) === 0) return ref;
  }
  throw new Error('no free REF code was found');
}

export interface Decision {
  tenantId: string;
  key: { ref: string } | { approvalId: string };
  decision: ApprovalDecision;
  reason?: string | undefined;
  /** `chat`: the requester's own chat, which decides what asks for their own yes and nothing else. */
  approver: { surface: ApprovalSurface | 'chat'; id: string };
}

export interface DecisionOutcome {
  outcome: 'decided' | 'already_decided' | 'expired' | 'unknown';
  approvalId?: string;
  turnId?: string;
  state?: ApprovalState;
}

/**
 * The one place where an approval is decided, whatever the surface. Compares and sets in one statement; stores who, where
 * and why; audits. Waking the run is the caller's business, after the commit.
 */
export async function decide(tx: Tx, content: ContentCipher, request: Decision): Promise<DecisionOutcome> {
  const scope: Scope = { tx, tenantId: request.tenantId, content };
  const found = await tx.approval.findFirst({
    where: {
      ...('ref' in request.key ? { ref: request.key.ref } : { id: request.key.approvalId }),
      gate: request.approver.surface === 'chat' ? 'confirm' : 'approve',
    },
    // A REF may come back into use after years: the newest is meant.
    orderBy: { askedAt: 'desc' },
  });
  if (!found) return { outcome: 'unknown' };
  const to = request.decision === 'approve' ? 'approved' : 'rejected';
  const { count } = await tx.approval.updateMany({
    where: { id: found.id, state: 'open', expiresAt: { gt: new Date() } },
    data: { state: to, decidedAt: new Date() },
  });
  const known = { approvalId: found.id, turnId: found.turnId };
  if (count === 0) {
    const now = await tx.approval.findUniqueOrThrow({ where: { id: found.id } });
    const state = now.state as ApprovalState;
    return {
      outcome: state === 'open' || state === 'expired' ? 'expired' : 'already_decided',
      ...known,
      state,
    };
  }
  await recordDecision(scope, { ...request, approvalId: found.id, chatId: found.chatId });
  return { outcome: 'decided', ...known, state: to };
}

async function recordDecision(
  scope: Scope,
  decided: Omit<Decision, 'decision'> & {
    approvalId: string;
    chatId: string;
    decision: ApprovalDecision | 'expire';
  },
): Promise<void> {
  const id = randomUUID();
  const chat = await scope.tx.chat.findUniqueOrThrow({
    where: { id: decided.chatId },
    select: { contactId: true },
  });
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, chat.contactId);
  const place = { table: 'approval_decisions', column: 'reason_cipher', rowId: id };
  await scope.tx.approvalDecision.create({
    data: {
      id,
      tenantId: scope.tenantId,
      approvalId: decided.approvalId,
      decision: decided.decision,
      surface: decided.approver.surface,
      approver: decided.approver.id,
      reasonCipher: decided.reason ? scope.content.sealText(key, { ...place, text: decided.reason }) : null,
      keyId: key.id,
    },
  });
  await notify(scope, { chatId: decided.chatId, what: 'approval' });
  await appendAudit(scope.tx, {
    stream: decided.chatId,
    event: `approval_${decided.decision}`,
    subjectId: decided.approvalId,
    actor: decided.approver.id,
    facts: { surface: decided.approver.surface },
  });
}

/** What the row says now, for the run that was woken. An open one whose time is over is closed as expired. */
export async function settle(scope: Scope, approvalId: string): Promise<ApprovalSettlement> {
  const now = new Date();
  const expired = await scope.tx.approval.updateMany({
    where: { id: approvalId, state: 'open', expiresAt: { lte: now } },
    data: { state: 'expired', decidedAt: now, heardAt: now },
  });
  const row = await scope.tx.approval.findUniqueOrThrow({ where: { id: approvalId } });
  if (expired.count === 1) {
    await recordDecision(scope, {
      tenantId: scope.tenantId,
      key: { approvalId },
      approvalId,
      chatId: row.chatId,
      decision: 'expire',
      approver: { surface: 'temporal', id: 'clock' },
    });
  } else if (row.state !== 'open' && row.heardAt === null) {
    await scope.tx.approval.update({ where: { id: approvalId }, data: { heardAt: now } });
  }
  return row.state === 'used' ? 'approved' : (row.state as ApprovalSettlement);
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
      tenantId: scope.tenantId,
      key: { approvalId },
      approvalId,
      chatId,
      decision: 'expire',
      approver: { surface: 'temporal', id: 'run ended' },
    });
  }
}

/** The run that should hear of a decision is gone: nobody needs to ring for it any more, and nothing was done. */
export async function giveUpRun(tx: Tx, decided: { approvalId: string; turnId: string }): Promise<void> {
  await tx.approval.update({ where: { id: decided.approvalId }, data: { heardAt: new Date() } });
  await tx.step.updateMany({
    where: { turnId: decided.turnId, state: { in: ['proposed', 'accepted'] } },
    data: { state: 'refused', finishedAt: new Date() },
  });
  await tx.toolRun.updateMany({
    where: { turnId: decided.turnId, open: true },
    data: { state: 'failed', open: false, closedAt: new Date() },
  });
}

/** Takes the yes of a step, once. False: there is none, or it is for something else, or it was taken. */
export async function consumeApproval(
  scope: Scope,
  yes: { stepId: string; gate: 'approve' | 'confirm'; argumentsHash: string; configHash: string },
): Promise<boolean> {
  const { stepId, argumentsHash, configHash } = yes;
  const { count } = await scope.tx.approval.updateMany({
    // An owner's yes covers what needs only the requester's; never the other way round.
    where: {
      stepId,
      state: 'approved',
      argumentsHash,
      configHash,
      gate: { in: yes.gate === 'approve' ? ['approve'] : ['approve', 'confirm'] },
    },
    data: { state: 'used', usedAt: new Date() },
  });
  return count === 1;
}

/** The last word on the approval of a turn's step, for the sentence that the customer hears. */
export async function lastDecisionOfTurn(
  scope: Scope,
  turnId: string,
): Promise<
  { state: ApprovalState; gate: 'approve' | 'confirm'; isSuperseded: boolean; reason?: string } | undefined
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
  return { state: approval.state as ApprovalState, gate, isSuperseded, ...(reason && { reason }) };
}
