// Approvals as owners see them: what would be done exactly, who asked, which rule asks, who has said what, and what came of it.
import { z } from 'zod';
import { toApprovalState, type ApprovalState, type OnExpiry } from '../../../workflows/domain/approval.js';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import type { Prisma } from '../../generated/client.js';
import { toOnExpiry, type ApprovalEdits } from '../approval-rows.js';
import { inOrder, readable, type Scope } from '../scope.js';
import { windowClosesAt } from '../windows.js';
import { chatLabels, type ChatLabel } from './chat-labels.js';

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
  /** The chat as people tell it from others; absent where nobody asked for it. */
  with?: ChatLabel | undefined;
  /** Until when the customer can be written to freely; absent: there is no such end. */
  windowClosesAt?: Date | undefined;
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
  /** What the one that this one replaced asked for, and who changed it. Absent: it replaces none, or was erased. */
  changedFrom?: { arguments: JsonObject; by: string; at: Date };
  turnId: string;
  stepId: string;
  runState: string;
  stepState: string;
  /** The tool has answered that it hasn't done it. */
  isDeclined: boolean;
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
  step: {
    select: { id: true, argumentsCipher: true, keyId: true, state: true, tainted: true, declined: true },
  },
  run: { select: { state: true, contactId: true } },
  decisions: { orderBy: [{ decidedAt: 'asc' }, { id: 'asc' }] },
} satisfies Prisma.ApprovalInclude;

type Row = Prisma.ApprovalGetPayload<{ include: typeof include }>;

/**
 * By state: what owners decide; a `confirm` is the customer's own business and shows with its run only. `open`: still to be
 * decided, in time. `closed`: everything else. A REF alone finds the newest first.
 */
export type ApprovalFilter =
  | {
      state: ApprovalState | 'closed' | 'all';
      tool?: string | undefined;
      among?: readonly string[] | undefined;
    }
  | { ref: string }
  | { turnId: string }
  | { approvalId: string };

/** Open ones with the nearest deadline first, others the newest first. */
export async function listApprovals(
  scope: Scope,
  {
    filter,
    limit,
    now,
    before,
  }: {
    filter: ApprovalFilter;
    limit: number;
    now: Date;
    /** Goes on behind this request. */
    before?: string | undefined;
  },
): Promise<ApprovalView[]> {
  const rows = await scope.tx.approval.findMany({
    where: whereOf(filter, now),
    orderBy: orderOf(filter),
    take: limit,
    ...(before !== undefined && { cursor: { id: before }, skip: 1 }),
    include,
  });
  const chatIds = rows.map((row) => row.chatId);
  const labels = await chatLabels(scope, chatIds);
  const closing = await windowClosesAt(scope, chatIds);
  return inOrder(rows, (row) => viewOf(scope, row, { labels, closing }));
}

/** Addresses are sealed: a text is looked for among so many requests, the newest. */
export const SEARCHED_AT_MOST = 500;

/** Ids of the requests whose REF, customer's number or own name holds the text, whatever the case. */
export async function approvalsWithText(
  scope: Scope,
  { filter, text, now }: { filter: ApprovalFilter; text: string; now: Date },
): Promise<string[]> {
  const rows = await scope.tx.approval.findMany({
    where: whereOf(filter, now),
    orderBy: orderOf(filter),
    take: SEARCHED_AT_MOST,
    select: { id: true, ref: true, chatId: true },
  });
  const labels = await chatLabels(
    scope,
    rows.map((row) => row.chatId),
  );
  const wanted = folded(text);
  return rows.flatMap(({ id, ref, chatId }) => {
    const label = labels.get(chatId);
    // A number is written with a plus by people, and without one by the platform.
    const places = [
      ref,
      ref.replace('-', ''),
      ref.replace('-', ' '),
      `+${label?.address ?? ''}`,
      label?.name ?? '',
    ];
    return places.some((place) => folded(place).includes(wanted)) ? [id] : [];
  });
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** Every tool that owners were ever asked about, by name. */
export async function toolsAskedAbout({ tx }: Scope): Promise<string[]> {
  const rows = await tx.approval.findMany({
    where: { gate: 'approve' },
    distinct: ['tool'],
    select: { tool: true },
  });
  return rows.map(({ tool }) => tool).sort();
}

function orderOf(filter: ApprovalFilter): Prisma.ApprovalOrderByWithRelationInput[] {
  const isOpen = 'state' in filter && filter.state === 'open';
  return isOpen ? [{ expiresAt: 'asc' }, { id: 'asc' }] : [{ askedAt: 'desc' }, { id: 'asc' }];
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
  const { state, tool, among } = filter;
  const which = {
    gate: 'approve',
    ...(tool !== undefined && { tool }),
    ...(among && { id: { in: [...among] } }),
  };
  switch (state) {
    case 'all':
      return which;
    case 'open':
      return { ...which, state: 'open', expiresAt: { gt: now } };
    case 'closed':
      return { ...which, OR: [{ state: { not: 'open' } }, { expiresAt: { lte: now } }] };
    default:
      return { ...which, state };
  }
}

async function viewOf(
  scope: Scope,
  row: Row,
  { labels, closing }: { labels: Map<string, ChatLabel>; closing: Map<string, Date> },
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
    channel: labels.get(row.chatId)?.channel ?? '',
    chat: labels.get(row.chatId)?.address,
    contactId: row.run.contactId,
    with: labels.get(row.chatId),
    windowClosesAt: closing.get(row.chatId),
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
    isDeclined: row.step.declined,
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

async function neighboursOf(
  scope: Scope,
  row: Row,
): Promise<Pick<ApprovalView, 'replaces' | 'replacedBy' | 'changedFrom'>> {
  const before =
    row.replacesId === null
      ? null
      : await scope.tx.approval.findUnique({
          where: { id: row.replacesId },
          select: { ref: true, decisions: { where: { decision: 'edit' } } },
        });
  const after =
    row.state === 'edited'
      ? await scope.tx.approval.findFirst({ where: { replacesId: row.id }, select: { ref: true } })
      : null;
  const changed = before?.decisions[0] && (await decisionOf(scope, before.decisions[0]));
  return {
    ...(before && { replaces: before.ref }),
    ...(after && { replacedBy: after.ref }),
    ...(changed?.edits && {
      changedFrom: { arguments: changed.edits.before, by: changed.approver, at: changed.decidedAt },
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
