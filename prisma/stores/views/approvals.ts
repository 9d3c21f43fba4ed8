// Approvals as owners see them: what would be done exactly, who asked, which rule asks, and what came of it.
import { z } from 'zod';
import type { ApprovalState } from '../../../workflows/domain/approval.js';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import type { Prisma } from '../../generated/client.js';
import { inOrder, readable, type Scope } from '../scope.js';
import { addressesOf } from './addresses.js';

export interface ApprovalView {
  approvalId: string;
  ref: string;
  /** Who is asked: owners, or the customer who requested it. */
  gate: 'approve' | 'confirm';
  tool: string;
  /** Undefined: erased. */
  arguments: JsonObject | undefined;
  /** The chat's address; undefined: erased. */
  chat: string | undefined;
  rule: string;
  state: ApprovalState;
  askedAt: Date;
  expiresAt: Date;
  turnId: string;
  runState: string;
  stepState: string;
  /** What the customer was told in the end; undefined: nothing yet, or erased. */
  told: string | undefined;
  decision?: {
    decision: string;
    surface: string;
    approver: string;
    reason: string | undefined;
    decidedAt: Date;
  };
}

const jsonObject = z.record(z.string(), z.json());

/** Reads what we stored ourselves; anything but an object shows as erased. */
export function jsonObjectOf(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const result = jsonObject.safeParse(JSON.parse(text));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}

const include = {
  step: { select: { id: true, argumentsCipher: true, keyId: true, state: true } },
  run: { select: { state: true } },
  decisions: { orderBy: { decidedAt: 'desc' }, take: 1 },
} satisfies Prisma.ApprovalInclude;

type Row = Prisma.ApprovalGetPayload<{ include: typeof include }>;

/**
 * By state: what owners decide; a `confirm` is the customer's own business and shows with its run only. `open`: still to be
 * decided, in time. `closed`: everything else. A REF alone finds the newest first.
 */
export type ApprovalFilter =
  { state: ApprovalState | 'closed' | 'all' } | { ref: string } | { turnId: string } | { approvalId: string };

/** Open ones with the nearest deadline first, others the newest first. */
export async function listApprovals(
  scope: Scope,
  { filter, limit, now }: { filter: ApprovalFilter; limit: number; now: Date },
): Promise<ApprovalView[]> {
  const isOpen = 'state' in filter && filter.state === 'open';
  const rows = await scope.tx.approval.findMany({
    where: whereOf(filter, now),
    orderBy: isOpen ? [{ expiresAt: 'asc' }, { id: 'asc' }] : [{ askedAt: 'desc' }, { id: 'asc' }],
    take: limit,
    include,
  });
  const addresses = await addressesOf(
    scope,
    rows.map((row) => row.chatId),
  );
  return inOrder(rows, (row) => viewOf(scope, row, addresses));
}

function whereOf(filter: ApprovalFilter, now: Date): Prisma.ApprovalWhereInput {
  if ('ref' in filter) return { ref: filter.ref };
  if ('turnId' in filter) return { turnId: filter.turnId };
  if ('approvalId' in filter) return { id: filter.approvalId };
  switch (filter.state) {
    case 'all':
      return { gate: 'approve' };
    case 'open':
      return { gate: 'approve', state: 'open', expiresAt: { gt: now } };
    case 'closed':
      return { gate: 'approve', OR: [{ state: { not: 'open' } }, { expiresAt: { lte: now } }] };
    default:
      return { gate: 'approve', state: filter.state };
  }
}

async function viewOf(scope: Scope, row: Row, addresses: Map<string, string>): Promise<ApprovalView> {
  const text = await readable(scope, {
    table: 'steps',
    column: 'arguments_cipher',
    rowId: row.step.id,
    keyId: row.step.keyId,
    cipher: row.step.argumentsCipher,
  });
  const [decision] = row.decisions;
  return {
    approvalId: row.id,
    ref: row.ref,
    gate: row.gate === 'confirm' ? 'confirm' : 'approve',
    tool: row.tool,
    arguments: jsonObjectOf(text),
    chat: addresses.get(row.chatId),
    rule: row.rule,
    state: stateOf(row.state),
    askedAt: row.askedAt,
    expiresAt: row.expiresAt,
    turnId: row.turnId,
    runState: row.run.state,
    stepState: row.step.state,
    told: await toldAbout(scope, row.turnId),
    ...(decision && {
      decision: {
        decision: decision.decision,
        surface: decision.surface,
        approver: decision.approver,
        decidedAt: decision.decidedAt,
        reason: await readable(scope, {
          table: 'approval_decisions',
          column: 'reason_cipher',
          rowId: decision.id,
          keyId: decision.keyId,
          cipher: decision.reasonCipher,
        }),
      },
    }),
  };
}

async function toldAbout(scope: Scope, turnId: string): Promise<string | undefined> {
  const said = await scope.tx.outbox.findFirst({ where: { turnId, originKind: 'summary', state: 'sent' } });
  if (!said) return undefined;
  return readable(scope, {
    table: 'outbox',
    column: 'content_cipher',
    rowId: said.id,
    keyId: said.keyId,
    cipher: said.contentCipher,
  });
}

const STATES: Record<ApprovalState, true> = {
  open: true,
  approved: true,
  rejected: true,
  expired: true,
  used: true,
};

function stateOf(state: string): ApprovalState {
  if (isApprovalState(state)) return state;
  throw new Error('an approval is in a state that the migration does not allow');
}

export function isApprovalState(state: string): state is ApprovalState {
  return Object.hasOwn(STATES, state);
}
