// Approvals as owners see them: what would be done exactly, who asked, which rule asks, who has said what, and what came of it.
import { z } from 'zod';
import { toApprovalState, type ApprovalState, type OnExpiry } from '../../../workflows/domain/approval.js';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import type { Prisma } from '../../generated/client.js';
import { toOnExpiry, type ApprovalEdits } from '../approval-rows.js';
import { inOrder, readable, type Scope } from '../scope.js';
import { addressesOf } from './addresses.js';

export interface ApprovalView {
  approvalId: string;
  ref: string;
  /** Who is asked: owners, or the customer who requested it. */
  gate: 'approve' | 'confirm';
  tool: string;
  /** As this request asked for them, also where it was edited since. Undefined: erased. */
  arguments: JsonObject | undefined;
  chatId: string;
  /** Where the chat lives. */
  channel: string;
  /** The chat's address; undefined: erased. */
  chat: string | undefined;
  contactId: string;
  rule: string;
  /** Content from outside may have suggested it. */
  isTainted: boolean;
  state: ApprovalState;
  askedAt: Date;
  expiresAt: Date;
  onExpiry: OnExpiry;
  /** Ids of the owners who are asked; empty: every owner. */
  approvers: string[];
  /** How many have to say yes. */
  needed: number;
  /** Who has, by owner id or surface. */
  yeses: string[];
  /** The REF that this one replaced, and the one that replaced it. */
  replaces?: string;
  replacedBy?: string;
  turnId: string;
  stepId: string;
  runState: string;
  stepState: string;
  /** What the customer was told in the end; undefined: nothing yet, or erased. */
  told: string | undefined;
  /** The last one. */
  decision?: DecisionView;
  /** All of them, in their order. */
  decisions: DecisionView[];
}

export interface DecisionView {
  decision: string;
  surface: string;
  approver: string;
  reason: string | undefined;
  /** What an edit changed; undefined: no edit, or erased. */
  edits: ApprovalEdits | undefined;
  decidedAt: Date;
}

const jsonObject = z.record(z.string(), z.json());
const editsShape = z.object({ before: jsonObject, after: jsonObject });

/** Reads what we stored ourselves; anything but an object shows as erased. */
export function jsonObjectOf(text: string | undefined): JsonObject | undefined {
  return parsedOf(jsonObject, text);
}

function parsedOf<Shape extends z.ZodType>(
  shape: Shape,
  text: string | undefined,
): z.output<Shape> | undefined {
  if (text === undefined) return undefined;
  try {
    const result = shape.safeParse(JSON.parse(text));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}

const include = {
  step: { select: { id: true, argumentsCipher: true, keyId: true, state: true, tainted: true } },
  run: { select: { state: true, contactId: true } },
  decisions: { orderBy: [{ decidedAt: 'asc' }, { id: 'asc' }] },
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
  const chatIds = rows.map((row) => row.chatId);
  const addresses = await addressesOf(scope, chatIds);
  const channels = await channelsOf(scope, chatIds);
  return inOrder(rows, (row) => viewOf(scope, row, { addresses, channels }));
}

/** The request that a REF means on surfaces of owners: the newest. */
export async function approvalByRef(scope: Scope, ref: string, now: Date): Promise<ApprovalView | undefined> {
  const views = await listApprovals(scope, { filter: { ref }, limit: 5, now });
  return views.find(({ gate }) => gate === 'approve');
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

async function channelsOf(scope: Scope, chatIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await scope.tx.chat.findMany({
    where: { id: { in: [...new Set(chatIds)] } },
    select: { id: true, account: { select: { channel: true } } },
  });
  return new Map(rows.map(({ id, account }) => [id, account.channel]));
}

async function viewOf(
  scope: Scope,
  row: Row,
  { addresses, channels }: { addresses: Map<string, string>; channels: Map<string, string> },
): Promise<ApprovalView> {
  const decisions = await inOrder(row.decisions, (decision) => decisionOf(scope, decision));
  const decision = decisions.at(-1);
  const edited = decisions.find(({ edits }) => edits !== undefined);
  const yeses = decisions.filter((one) => one.decision === 'approve').map(({ approver }) => approver);
  return {
    approvalId: row.id,
    ref: row.ref,
    gate: row.gate === 'confirm' ? 'confirm' : 'approve',
    tool: row.tool,
    arguments: row.state === 'edited' ? edited?.edits?.before : await argumentsOf(scope, row),
    chatId: row.chatId,
    channel: channels.get(row.chatId) ?? '',
    chat: addresses.get(row.chatId),
    contactId: row.run.contactId,
    rule: row.rule,
    isTainted: row.step.tainted,
    state: toApprovalState(row.state),
    askedAt: row.askedAt,
    expiresAt: row.expiresAt,
    onExpiry: toOnExpiry(row.onExpiry),
    approvers: row.approvers,
    needed: row.needed,
    yeses: [...new Set(yeses)],
    ...(await neighboursOf(scope, row)),
    turnId: row.turnId,
    stepId: row.stepId,
    runState: row.run.state,
    stepState: row.step.state,
    told: await toldAbout(scope, row.turnId),
    ...(decision && { decision }),
    decisions,
  };
}

async function argumentsOf(scope: Scope, { step }: Row): Promise<JsonObject | undefined> {
  const text = await readable(scope, {
    table: 'steps',
    column: 'arguments_cipher',
    rowId: step.id,
    keyId: step.keyId,
    cipher: step.argumentsCipher,
  });
  return jsonObjectOf(text);
}

async function decisionOf(scope: Scope, row: Row['decisions'][number]): Promise<DecisionView> {
  const open = (column: string, cipher: Uint8Array | null): Promise<string | undefined> =>
    readable(scope, { table: 'approval_decisions', column, rowId: row.id, keyId: row.keyId, cipher });
  return {
    decision: row.decision,
    surface: row.surface,
    approver: row.approver,
    decidedAt: row.decidedAt,
    reason: await open('reason_cipher', row.reasonCipher),
    edits: parsedOf(editsShape, await open('edits_cipher', row.editsCipher)),
  };
}

async function neighboursOf(scope: Scope, row: Row): Promise<{ replaces?: string; replacedBy?: string }> {
  const select = { ref: true };
  const before =
    row.replacesId === null
      ? null
      : await scope.tx.approval.findUnique({ where: { id: row.replacesId }, select });
  const after =
    row.state === 'edited'
      ? await scope.tx.approval.findFirst({ where: { replacesId: row.id }, select })
      : null;
  return { ...(before && { replaces: before.ref }), ...(after && { replacedBy: after.ref }) };
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
