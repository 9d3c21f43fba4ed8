// The rows of approvals and of what was said about them: written here, decided elsewhere.
import { randomUUID } from 'node:crypto';
import type { ApprovalDecision, Approver, OnExpiry } from '../../workflows/domain/approval.js';
import type { JsonObject } from '../../workflows/domain/tool.js';
import type { Tx } from '../database.js';
import { appendAudit } from '../functions.js';
import { notify, type Scope } from './scope.js';
import { freshRef } from './refs.js';

export type ApprovalRow = Awaited<ReturnType<Tx['approval']['findUniqueOrThrow']>>;

export interface ApprovalRequest {
  gate: 'approve' | 'confirm';
  chatId: string;
  turnId: string;
  stepId: string;
  tool: string;
  rule: string;
  argumentsHash: string;
  configHash: string;
  expiresAt: Date;
  /** Ids of the owners who are asked. Absent or empty: every owner. */
  approvers?: readonly string[] | undefined;
  /** How many of them have to say yes. Absent: one. */
  needed?: number | undefined;
  /** When those who haven't answered are reminded. Absent: never. */
  remindAt?: Date | undefined;
  /** Absent: the customer hears that nothing was arranged. */
  onExpiry?: OnExpiry | undefined;
}

export interface AskedApproval {
  approvalId: string;
  ref: string;
  expiresAt: Date;
}

/** Writes a request with a REF of its own, and audits it. `replaces`: the edited one that it follows. */
export async function createApproval(
  scope: Scope,
  { approvers = [], needed = 1, remindAt, onExpiry = 'refuse', ...request }: ApprovalRequest,
  replaces?: string,
): Promise<AskedApproval> {
  const approvalId = randomUUID();
  const ref = await freshRef(scope);
  await scope.tx.approval.create({
    data: {
      id: approvalId,
      tenantId: scope.tenantId,
      ref,
      ...request,
      approvers: [...approvers],
      needed,
      remindAt: remindAt ?? null,
      onExpiry,
      replacesId: replaces ?? null,
    },
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
      ...(needed > 1 && { needed }),
      ...(replaces !== undefined && { replaces }),
    },
  });
  return { approvalId, ref, expiresAt: request.expiresAt };
}

/** The request that asks now, at the end of a chain of edited ones. */
export async function newestOf(scope: Scope, row: ApprovalRow): Promise<ApprovalRow> {
  let newest = row;
  while (newest.state === 'edited') {
    newest = await scope.tx.approval.findFirstOrThrow({ where: { replacesId: newest.id } });
  }
  return newest;
}

/** What was asked and what is asked instead, as it is kept with the decision to edit. */
export interface ApprovalEdits {
  before: JsonObject;
  after: JsonObject;
}

/** Stores and audits what somebody, or the clock, has said about a request. */
export async function recordDecision(
  scope: Scope,
  decided: {
    approvalId: string;
    chatId: string;
    decision: ApprovalDecision | 'edit' | 'expire';
    approver: Approver;
    reason?: string | undefined;
    edits?: ApprovalEdits;
    facts?: Record<string, string>;
  },
): Promise<void> {
  const id = randomUUID();
  const chat = await scope.tx.chat.findUniqueOrThrow({
    where: { id: decided.chatId },
    select: { contactId: true },
  });
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, chat.contactId);
  const seal = (column: string, text: string): Uint8Array<ArrayBuffer> =>
    scope.content.sealText(key, { table: 'approval_decisions', column, rowId: id, text });
  await scope.tx.approvalDecision.create({
    data: {
      id,
      tenantId: scope.tenantId,
      approvalId: decided.approvalId,
      decision: decided.decision,
      surface: decided.approver.surface,
      approver: decided.approver.id,
      reasonCipher: decided.reason ? seal('reason_cipher', decided.reason) : null,
      editsCipher: decided.edits ? seal('edits_cipher', JSON.stringify(decided.edits)) : null,
      keyId: key.id,
    },
  });
  await notify(scope, { chatId: decided.chatId, what: 'approval' });
  await appendAudit(scope.tx, {
    stream: decided.chatId,
    event: `approval_${decided.decision}`,
    subjectId: decided.approvalId,
    actor: decided.approver.id,
    facts: { surface: decided.approver.surface, ...decided.facts },
  });
}

/** The column's check allows these two and no other. */
export function toOnExpiry(text: string): OnExpiry {
  return text === 'handOff' ? 'handOff' : 'refuse';
}
