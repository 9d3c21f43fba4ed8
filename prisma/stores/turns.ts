// Turns: which messages are answered together, and what was decided about them.
import type { Prisma } from '../generated/client.js';
import { parseJsonObject } from '../json.js';
import type { MessageState } from '../../workflows/domain/message.js';
import type { PreparedTurn, TurnDecision } from '../../workflows/domain/turn.js';
import { inOrder, type Scope, readable } from './scope.js';
import { takeoverAt, type Takeover } from './takeover.js';

export interface ChatRow {
  chatId: string;
  contactId: string;
  accountId: string;
  channel: string;
  accountKey: string;
  kind: 'direct' | 'group';
  /** A person has the chat now. */
  isPaused: boolean;
  /** Who has it. Absent: nobody. */
  takeover?: Takeover;
  /** What they write is kept and never answered (spec B11). */
  isBlocked?: boolean;
}

/** Locks the chat until the commit: whoever holds it decides what is next in this chat. */
export async function lockChat(scope: Scope, chatId: string): Promise<ChatRow> {
  const [row] = await scope.tx.$queryRaw<
    (Omit<ChatRow, 'isPaused' | 'takeover'> & {
      pausedAt: Date | null;
      pausedUntil: Date | null;
      pausedBy: string | null;
    })[]
  >`
    select c.id as "chatId", c.contact_id as "contactId", c.account_id as "accountId", a.channel, a.account_key as "accountKey", c.kind,
      c.paused_at as "pausedAt", c.paused_until as "pausedUntil", c.paused_by as "pausedBy", k.blocked_at is not null as "isBlocked"
    from chats c join channel_accounts a on a.id = c.account_id join contacts k on k.id = c.contact_id
    where c.id = ${chatId}::uuid for update of c`;
  if (!row) throw new Error('the chat of this conversation is not there');
  const { pausedAt, pausedUntil, pausedBy, ...chat } = row;
  const takeover = takeoverAt({ pausedAt, pausedUntil, pausedBy }, new Date());
  return { ...chat, isPaused: takeover !== undefined, ...(takeover && { takeover }) };
}

/** The account of ours that a chat goes by. */
export async function accountOfChat(
  scope: Scope,
  chatId: string,
): Promise<{ channel: string; accountKey: string }> {
  const { account } = await scope.tx.chat.findUniqueOrThrow({
    where: { id: chatId },
    select: { account: { select: { channel: true, accountKey: true } } },
  });
  return account;
}

export interface ClaimedTurn {
  turnId: string;
  firstSequence: number;
  upTo: number;
  /** Present where an earlier call has decided already. */
  decision?: TurnDecision;
}

/** The first turn after `after` that was claimed or decided and not taken further. */
export async function unfinishedTurn(
  scope: Scope,
  { chatId, after }: { chatId: string; after: number },
): Promise<ClaimedTurn | undefined> {
  const turn = await scope.tx.turn.findFirst({
    where: { chatId, firstSequence: { gt: after }, state: { in: ['claimed', 'decided'] } },
    orderBy: { firstSequence: 'asc' },
  });
  if (!turn) return undefined;
  const { id: turnId, firstSequence, upTo } = turn;
  const decision = readDecision(turn.decision);
  return { turnId, firstSequence, upTo, ...(decision && { decision }) };
}

/** Who wrote the next message that waits for a turn, and what the arrival gates made of it. */
export interface NextMessage {
  arrival: string;
  speaker: string;
}

export async function nextMessage(scope: Scope, chatId: string): Promise<NextMessage | undefined> {
  const row = await scope.tx.inbox.findFirst({
    where: { chatId, turnId: null, state: 'accepted' },
    orderBy: { sequence: 'asc' },
    select: { arrival: true, speaker: true },
  });
  return row ?? undefined;
}

/**
 * Makes the next waiting messages one turn: at most `limit` of them, of one speaker, and those for the assistant only. A
 * command or an operator's reply is a turn of its own. Undefined: none waits.
 */
export async function claimTurn(
  scope: Scope,
  { chatId, limit }: { chatId: string; limit: number },
): Promise<ClaimedTurn | undefined> {
  const waiting = await scope.tx.inbox.findMany({
    where: { chatId, turnId: null, state: 'accepted' },
    orderBy: { sequence: 'asc' },
    take: limit,
    select: { id: true, sequence: true, arrival: true, speaker: true },
  });
  const [first] = waiting;
  if (!first) return undefined;
  const isOfTurn = (row: NextMessage): boolean => row.arrival === 'turn' && row.speaker === first.speaker;
  const other = waiting.findIndex((row) => row !== first && !(isOfTurn(first) && isOfTurn(row)));
  const rows = other < 0 ? waiting : waiting.slice(0, other);
  const last = rows.at(-1) ?? first;
  // A turn has the id of its first message: one id to search for, from the webhook to the last reply.
  const turnId = first.id;
  await scope.tx.turn.create({
    data: {
      id: turnId,
      tenantId: scope.tenantId,
      chatId,
      firstSequence: first.sequence,
      upTo: last.sequence,
      state: 'claimed',
    },
  });
  await scope.tx.inbox.updateMany({ where: { id: { in: rows.map((row) => row.id) } }, data: { turnId } });
  return { turnId, firstSequence: first.sequence, upTo: last.sequence };
}

/** Stores what was decided. A turn that nobody will speak for is closed at once. */
export async function storeDecision(
  scope: Scope,
  { decision, gate, because }: { decision: TurnDecision; gate: string; because: string },
): Promise<void> {
  const { route, turnId } = decision;
  const ending = endingOf(route);
  await scope.tx.turn.update({
    where: { id: turnId },
    data: {
      state: ending ? 'closed' : 'decided',
      ...(ending && { outcome: ending.outcome, closedAt: new Date() }),
      decisionId: decision.decisionId,
      route: route.kind,
      gate,
      because,
      roleId: decision.roleId,
      effort: decision.effort,
      actor: decision.actor,
      configHash: decision.configHash,
      decision: parseJsonObject(JSON.stringify(decision)),
      decisionExpiresAt: new Date(decision.expiresAt),
      decidedAt: new Date(),
    },
  });
  if (ending) {
    await scope.tx.inbox.updateMany({
      where: { turnId, state: 'accepted' },
      data: { state: ending.state, reason: ending.reason, settledAt: new Date() },
    });
  }
}

/** Routes that need no words of their own close their turn at once. */
function endingOf(
  route: TurnDecision['route'],
): { outcome: string; state: MessageState; reason: string } | undefined {
  switch (route.kind) {
    case 'silent':
      return { outcome: 'silent', state: route.isHandedOff ? 'handed_off' : 'ignored', reason: route.reason };
    case 'decided':
      return { outcome: 'decided', state: 'merged', reason: 'answers our question; the run goes on' };
    case 'answer':
    case 'tools':
    case 'fixed':
    case 'handOff':
      return undefined;
  }
}

/** Whether this gate has told this chat since then (absent: ever) that a person goes on. */
export async function wasHandedOff(
  scope: Scope,
  { chatId, gate, since }: { chatId: string; gate: string; since: Date | undefined },
): Promise<boolean> {
  const told = await scope.tx.turn.findFirst({
    where: { chatId, gate, route: 'handOff', ...(since && { decidedAt: { gte: since } }) },
    select: { id: true },
  });
  return told !== null;
}

export interface TurnRow {
  turnId: string;
  chatId: string;
  contactId: string;
  firstSequence: number;
  upTo: number;
  state: string;
  isTainted: boolean;
  /** The gate that decided. */
  gate: string | null;
  decision: TurnDecision;
}

/** A decided turn with all that its stages need to know of it. */
export async function turnById(scope: Scope, turnId: string): Promise<TurnRow> {
  const turn = await scope.tx.turn.findUniqueOrThrow({ where: { id: turnId } });
  const chat = await scope.tx.chat.findUniqueOrThrow({
    where: { id: turn.chatId },
    select: { contactId: true },
  });
  const decision = readDecision(turn.decision);
  if (!decision) throw new Error('this turn was never decided');
  return {
    turnId,
    chatId: turn.chatId,
    contactId: chat.contactId,
    firstSequence: turn.firstSequence,
    upTo: turn.upTo,
    state: turn.state,
    isTainted: turn.tainted,
    gate: turn.gate,
    decision,
  };
}

/** Model input that holds untrusted content taints the turn (spec G9); a turn never becomes clean again. */
export async function taintTurn(scope: Scope, turnId: string): Promise<void> {
  await scope.tx.turn.update({ where: { id: turnId }, data: { tainted: true } });
}

export async function markRunning(scope: Scope, turnId: string): Promise<void> {
  await scope.tx.turn.updateMany({ where: { id: turnId, state: 'decided' }, data: { state: 'running' } });
}

/** Turns of this chat whose run waits for something: a yes, or that a person gives the chat back. */
export async function waitingRuns(scope: Scope, chatId: string): Promise<string[]> {
  const rows = await scope.tx.toolRun.findMany({
    where: { chatId, open: true, state: 'waiting' },
    orderBy: { startedAt: 'asc' },
    select: { turnId: true },
  });
  return rows.map((row) => row.turnId);
}

export interface TurnMessage {
  messageId: string;
  externalId: string;
  sequence: number;
  /** Empty where nobody can read it any more. */
  text: string;
  contentHmac: Uint8Array;
  quotedExternalId?: string;
  /** Who wrote it, by verified identity (`inbox.speaker`). Absent: the customer. */
  speaker?: string;
  /** What the arrival gates made of it. Absent: a turn of the assistant's. */
  arrival?: string;
  /** Its content was erased, or can't be opened. */
  isUnreadable?: boolean;
  /** The sender has taken it back since. */
  isRevoked?: boolean;
}

/** Kinds whose content is all there is to them. */
const WRITTEN = ['text', 'button', 'list'];

/** Whether all that somebody says with a message of this kind lies in its words, and nothing in a voice note or a picture. */
export function isWritten(kind: string): boolean {
  return WRITTEN.includes(kind);
}

/** What isn't written is named by its kind, before the words that came with it. */
function labelled(kind: string, text: string): string {
  return isWritten(kind) ? text : `[${kind}] ${text}`.trimEnd();
}

/** The customer's messages of a turn, in their order. */
export async function messagesOfTurn(scope: Scope, turnId: string): Promise<TurnMessage[]> {
  const rows = await scope.tx.inbox.findMany({ where: { turnId }, orderBy: { sequence: 'asc' } });
  return inOrder(rows, async (row) => {
    const text = await readable(scope, {
      table: 'inbox',
      column: 'content_cipher',
      rowId: row.id,
      keyId: row.keyId,
      cipher: row.contentCipher,
    });
    return {
      messageId: row.id,
      externalId: row.externalId,
      sequence: row.sequence,
      text: labelled(row.kind, text ?? ''),
      contentHmac: row.contentHmac,
      speaker: row.speaker,
      arrival: row.arrival,
      isUnreadable: text === undefined && (row.contentCipher !== null || isWritten(row.kind)),
      isRevoked: row.revokedAt !== null,
      ...(row.quotedExternalId !== null && { quotedExternalId: row.quotedExternalId }),
    };
  });
}

/** The newest message of a turn, by id: what an answer quotes, also where nobody can read the text any more. */
export async function lastMessageId(scope: Scope, turnId: string): Promise<string | undefined> {
  const row = await scope.tx.inbox.findFirst({
    where: { turnId },
    orderBy: { sequence: 'desc' },
    select: { id: true },
  });
  return row?.id;
}

export function prepared(turn: ClaimedTurn & { decision: TurnDecision }): PreparedTurn {
  return { turnId: turn.turnId, upTo: turn.upTo, decision: turn.decision };
}

/** The column holds what `storeDecision` wrote, in this project's own form. */
function readDecision(stored: Prisma.JsonValue): TurnDecision | undefined {
  if (stored === null) return undefined;
  if (!isDecision(stored))
    throw new TypeError('a stored decision is not of the form in which it was written');
  return stored;
}

function isDecision(value: unknown): value is TurnDecision {
  if (typeof value !== 'object' || value === null) return false;
  if (!('decisionId' in value && 'turnId' in value && 'profile' in value && 'route' in value)) return false;
  return typeof value.route === 'object' && value.route !== null && 'kind' in value.route;
}
