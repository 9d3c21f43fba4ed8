// One turn as an engineer reads it: every row that belongs to it, in codes. What people and models wrote is opened only
// where it is asked for.
import { z } from 'zod';
import { conversationWorkflowId, toolRunWorkflowId } from '../../../workflows/domain/ids.js';
import type { Prisma } from '../../generated/client.js';
import type { Tx } from '../../database.js';
import { listHistories } from '../run-histories.js';
import { inOrder, readable, type Scope } from '../scope.js';
import { jsonObjectOf } from './approvals.js';

/** Opens one sealed text; undefined where nobody asked for content, or it is erased. */
type Open = (sealed: Parameters<typeof readable>[1]) => Promise<string | undefined>;

export type RunRecord = NonNullable<Awaited<ReturnType<typeof recordOfTurn>>>;

const candidates = z.array(z.object({ tool: z.string(), score: z.number(), because: z.string() }));

const include = {
  messages: { orderBy: { sequence: 'asc' } },
  run: true,
} satisfies Prisma.TurnInclude;

/**
 * Undefined: there is no such turn. Without `content` no key is needed.
 *
 * @param from.content opens what was written; the caller has it audited.
 */
export async function recordOfTurn(
  from: { tx: Tx; tenantId: string; content?: Scope['content'] | undefined },
  turnId: string,
) {
  const { tx, tenantId, content } = from;
  const open: Open = async (sealed) =>
    content === undefined ? undefined : readable({ tx, tenantId, content }, sealed);
  const turn = await tx.turn.findUnique({ where: { id: turnId }, include });
  if (!turn) return undefined;
  const { chatId, run } = turn;
  const steps = await tx.step.findMany({ where: { turnId }, orderBy: { ordinal: 'asc' } });
  const approvals = await tx.approval.findMany({
    where: { turnId },
    orderBy: { askedAt: 'asc' },
    include: { decisions: { orderBy: { decidedAt: 'asc' } } },
  });
  const sends = await tx.outbox.findMany({
    where: { turnId },
    orderBy: [{ plannedAt: 'asc' }, { ordinal: 'asc' }],
  });
  const subjects = [turnId, ...[steps, approvals, sends].flatMap((rows) => rows.map(({ id }) => id))];
  return {
    tenantId,
    chatId,
    turnId,
    workflowId: toolRunWorkflowId({ turnId }),
    conversationId: conversationWorkflowId({ tenantId, chatId }),
    turn: {
      state: turn.state,
      outcome: turn.outcome,
      route: turn.route,
      gate: turn.gate,
      because: turn.because,
      actor: turn.actor,
      roleId: turn.roleId,
      effort: turn.effort,
      configHash: turn.configHash,
      isTainted: turn.tainted,
      claimedAt: turn.claimedAt,
      decidedAt: turn.decidedAt,
      closedAt: turn.closedAt,
    },
    messages: await inOrder(turn.messages, async (message) => ({
      messageId: message.id,
      sequence: message.sequence,
      kind: message.kind,
      speaker: message.speaker,
      state: message.state,
      reason: message.reason,
      receivedAt: message.receivedAt,
      settledAt: message.settledAt,
      text: await open(contentOf('inbox', message)),
    })),
    run: run && {
      state: run.state,
      code: run.code,
      isOpen: run.open,
      configHash: run.configHash,
      startedAt: run.startedAt,
      closedAt: run.closedAt,
      candidates: candidates.catch([]).parse(run.candidates),
    },
    modelCalls: await modelCallsOf(tx, turnId),
    steps: await inOrder(steps, (step) => stepOf(open, step)),
    approvals: await inOrder(approvals, (approval) => approvalOf(open, approval)),
    sends: await inOrder(sends, async (send) => ({
      outboxId: send.id,
      origin: send.originKind,
      kind: send.kind,
      author: send.author,
      state: send.state,
      code: send.code,
      attempts: send.attempts,
      sequence: send.sequence,
      plannedAt: send.plannedAt,
      sendingAt: send.sendingAt,
      settledAt: send.settledAt,
      delivery: send.deliveryStatus,
      text: await open(contentOf('outbox', send)),
    })),
    failures: await failuresOf(tx, open, { tenantId, chatId, turn }),
    audit: await auditOf(tx, subjects),
    histories: await listHistories(tx, { turnIds: [turnId] }),
  };
}

function contentOf(
  table: 'inbox' | 'outbox',
  row: { id: string; keyId: string | null; contentCipher: Uint8Array | null },
): Parameters<Open>[0] {
  return { table, column: 'content_cipher', rowId: row.id, keyId: row.keyId, cipher: row.contentCipher };
}

async function stepOf(open: Open, step: Prisma.StepGetPayload<object>) {
  const place = { table: 'steps', rowId: step.id, keyId: step.keyId };
  const sealed = (column: string, cipher: Uint8Array | null): Parameters<Open>[0] => ({
    ...place,
    column,
    cipher,
  });
  return {
    stepId: step.id,
    ordinal: step.ordinal,
    tool: step.tool,
    effect: step.effect,
    gate: step.gate,
    state: step.state,
    rule: step.rule,
    failedCheck: step.failedCheck,
    code: step.code,
    isTainted: step.tainted,
    argumentsHash: step.argumentsHash,
    idempotencyKey: step.idempotencyKey,
    attempts: step.attempts,
    fence: step.fence,
    startedAt: step.startedAt,
    callBy: step.callBy,
    finishedAt: step.finishedAt,
    resultBytes: step.resultBytes,
    isPartial: step.partial,
    isDeclined: step.declined,
    ref: step.ref,
    settledBy: step.settledBy,
    settledAt: step.settledAt,
    because: await open(sealed('because_cipher', step.becauseCipher)),
    arguments: await open(sealed('arguments_cipher', step.argumentsCipher)),
    result: await open(sealed('result_cipher', step.resultCipher)),
  };
}

async function approvalOf(open: Open, approval: Prisma.ApprovalGetPayload<{ include: { decisions: true } }>) {
  return {
    approvalId: approval.id,
    ref: approval.ref,
    gate: approval.gate,
    rule: approval.rule,
    tool: approval.tool,
    stepId: approval.stepId,
    state: approval.state,
    needed: approval.needed,
    approvers: approval.approvers,
    askedAt: approval.askedAt,
    expiresAt: approval.expiresAt,
    remindedAt: approval.remindedAt,
    decidedAt: approval.decidedAt,
    heardAt: approval.heardAt,
    usedAt: approval.usedAt,
    replacesId: approval.replacesId,
    decisions: await inOrder(approval.decisions, async (decision) => ({
      decision: decision.decision,
      surface: decision.surface,
      approver: decision.approver,
      decidedAt: decision.decidedAt,
      reason: await open({
        table: 'approval_decisions',
        column: 'reason_cipher',
        rowId: decision.id,
        keyId: decision.keyId,
        cipher: decision.reasonCipher,
      }),
    })),
  };
}

async function modelCallsOf(tx: Tx, turnId: string) {
  return tx.modelCall.findMany({
    where: { turnId },
    orderBy: { calledAt: 'asc' },
    select: {
      purpose: true,
      model: true,
      outcome: true,
      inputTokens: true,
      outputTokens: true,
      latencyMs: true,
      calledAt: true,
    },
  });
}

/** Of the run itself, and of its conversation in the time of this turn: the chat's other turns have failures of their own. */
async function failuresOf(
  tx: Tx,
  open: Open,
  of: {
    tenantId: string;
    chatId: string;
    turn: { id: string; claimedAt: Date; closedAt: Date | null };
  },
) {
  const { id: turnId, claimedAt, closedAt } = of.turn;
  const rows = await tx.failure.findMany({
    where: {
      OR: [
        { workflowId: toolRunWorkflowId({ turnId }) },
        {
          workflowId: conversationWorkflowId(of),
          happenedAt: { gte: claimedAt, ...(closedAt && { lte: closedAt }) },
        },
      ],
    },
    orderBy: { happenedAt: 'asc' },
    take: FAILURES,
  });
  return inOrder(rows, async (row) => ({
    happenedAt: row.happenedAt,
    activity: row.activity,
    type: row.type,
    code: row.code,
    detail: await open({
      table: 'failures',
      column: 'detail_cipher',
      rowId: row.id,
      keyId: row.keyId,
      cipher: row.detailCipher,
    }),
  }));
}

/** An activity that is retried for days leaves a row each time. */
const FAILURES = 50;

async function auditOf(tx: Tx, subjects: string[]) {
  const rows = await tx.audit.findMany({
    where: { subjectId: { in: subjects } },
    orderBy: [{ happenedAt: 'asc' }, { number: 'asc' }],
    select: { stream: true, number: true, event: true, actor: true, facts: true, happenedAt: true },
  });
  return rows.map((row) => ({ ...row, facts: jsonObjectOf(JSON.stringify(row.facts)) ?? {} }));
}
