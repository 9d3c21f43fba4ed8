// What a run asks of its approval: how it stands, and whether it is time to remind.
import { toApprovalState, type ApprovalSettlement, type OnExpiry } from '../../workflows/domain/approval.js';
import { appendAudit } from '../functions.js';
import {
  newestOf,
  recordDecision,
  toOnExpiry,
  type ApprovalRow,
  type AskedApproval,
} from './approval-rows.js';
import type { Scope } from './scope.js';

export interface Settled extends AskedApproval {
  settlement: ApprovalSettlement;
  remindAt: Date | undefined;
  onExpiry: OnExpiry;
}

/**
 * What the row says now, for the run that was woken; where it was edited, what the newer one says. An open one whose time is
 * over is closed as expired.
 */
export async function settle(scope: Scope, approvalId: string): Promise<Settled> {
  const now = new Date();
  const named = await scope.tx.approval.findUniqueOrThrow({ where: { id: approvalId } });
  const { id } = await newestOf(scope, named);
  const expired = await scope.tx.approval.updateMany({
    where: { id, state: 'open', expiresAt: { lte: now } },
    data: { state: 'expired', decidedAt: now, heardAt: now },
  });
  const row = await scope.tx.approval.findUniqueOrThrow({ where: { id } });
  // Edited while we looked: there is a newer one.
  if (row.state === 'edited') return settle(scope, id);
  await scope.tx.approval.updateMany({
    where: { turnId: row.turnId, stepId: row.stepId, state: { not: 'open' }, heardAt: null },
    data: { heardAt: now },
  });
  if (expired.count === 1) {
    await recordDecision(scope, {
      approvalId: id,
      chatId: row.chatId,
      decision: 'expire',
      approver: { surface: 'temporal', id: 'clock' },
    });
  }
  return {
    settlement: settlementOf(row),
    approvalId: id,
    ref: row.ref,
    expiresAt: row.expiresAt,
    remindAt: row.remindedAt === null ? (row.remindAt ?? undefined) : undefined,
    onExpiry: toOnExpiry(row.onExpiry),
  };
}

function settlementOf(row: ApprovalRow): ApprovalSettlement {
  const state = toApprovalState(row.state);
  switch (state) {
    case 'open':
    case 'approved':
    case 'rejected':
    case 'expired':
      return state;
    case 'used':
      return 'approved';
    case 'edited':
      throw new Error('the end of a chain of edited requests is not edited');
  }
}

/**
 * Marks an open request as reminded, once, and audits it. `before`: it was marked already, by an attempt whose answer was lost.
 * `too_late`: it is decided or over.
 */
export async function markReminded(
  scope: Scope,
  approvalId: string,
): Promise<'reminded' | 'before' | 'too_late'> {
  await scope.tx.$queryRaw`select 1 from approvals where id = ${approvalId}::uuid for update`;
  const row = await scope.tx.approval.findUniqueOrThrow({ where: { id: approvalId } });
  const now = new Date();
  if (row.state !== 'open' || row.expiresAt <= now) return 'too_late';
  if (row.remindedAt !== null) return 'before';
  await scope.tx.approval.update({ where: { id: approvalId }, data: { remindedAt: now } });
  await appendAudit(scope.tx, {
    stream: row.chatId,
    event: 'approval_reminded',
    subjectId: approvalId,
    actor: 'assistant',
    facts: { ref: row.ref },
  });
  return 'reminded';
}
