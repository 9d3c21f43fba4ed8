// Questions to people behind the desk. The row decides: one answer counts, and what has expired is never answered.
import { randomInt, randomUUID } from 'node:crypto';
import { REF_ALPHABET } from '../../workflows/domain/approval.js';
import { appendAudit } from '../functions.js';
import type { PrismaClient } from '../generated/client.js';
import { ContentUnreadableError, KeyDestroyedError } from '../keys.js';
import { openOutgoing, planMessage } from './outbox.js';
import { notify, type Scope } from './scope.js';

export interface OperatorRequest {
  requestId: string;
  chatId: string;
  contactId: string;
  operatorId: string;
  kind: 'media' | 'conversation';
  ref: string;
  state: string;
  remindAt: Date | null;
  remindedAt: Date | null;
  expiresAt: Date;
}

/** The origins of messages about a request, by whom they are for; `origin.id` is the request's. */
export const REQUEST_ORIGINS = {
  question: 'operator_request',
  reminder: 'operator_reminder',
  tooLate: 'operator_too_late',
  answer: 'operator_answer',
  nobody: 'operator_nobody',
} as const;

const SELECT = {
  id: true,
  chatId: true,
  contactId: true,
  operatorId: true,
  kind: true,
  ref: true,
  state: true,
  remindAt: true,
  remindedAt: true,
  expiresAt: true,
} as const;

/** Opens the one request of a step; asked again it is the same one. */
export async function openRequest(
  scope: Scope,
  request: {
    chatId: string;
    contactId: string;
    turnId: string;
    stepId: string;
    operatorId: string;
    kind: OperatorRequest['kind'];
    remindAt?: Date | undefined;
    expiresAt: Date;
  },
): Promise<{ request: OperatorRequest; isNew: boolean }> {
  const known = await scope.tx.operatorRequest.findFirst({
    where: { stepId: request.stepId },
    select: SELECT,
  });
  if (known) return { request: toRequest(known), isNew: false };
  const ref = await freshRef(scope);
  const row = await scope.tx.operatorRequest.create({
    data: {
      id: randomUUID(),
      tenantId: scope.tenantId,
      ref,
      ...request,
      remindAt: request.remindAt ?? null,
    },
    select: SELECT,
  });
  await notify(scope, { chatId: request.chatId, what: 'run' });
  await appendAudit(scope.tx, {
    stream: request.chatId,
    event: 'operator_asked',
    subjectId: row.id,
    actor: 'assistant',
    facts: { ref, operator: request.operatorId, kind: request.kind },
  });
  return { request: toRequest(row), isNew: true };
}

/** The request of a step. Undefined: none was opened. */
export async function requestOfStep(scope: Scope, stepId: string): Promise<OperatorRequest | undefined> {
  const row = await scope.tx.operatorRequest.findFirst({ where: { stepId }, select: SELECT });
  return row ? toRequest(row) : undefined;
}

/** What is planned to be said to the operator of this step's question, by outbox id, in its order. */
export async function plannedWordsOf(scope: Scope, stepId: string): Promise<string[]> {
  const request = await scope.tx.operatorRequest.findFirst({ where: { stepId }, select: { id: true } });
  if (!request) return [];
  const rows = await scope.tx.outbox.findMany({
    where: { originKind: REQUEST_ORIGINS.question, originId: request.id, state: 'planned' },
    orderBy: { ordinal: 'asc' },
    select: { id: true },
  });
  return rows.map(({ id }) => id);
}

export async function requestById(scope: Scope, requestId: string): Promise<OperatorRequest | undefined> {
  const row = await scope.tx.operatorRequest.findFirst({ where: { id: requestId }, select: SELECT });
  return row ? toRequest(row) : undefined;
}

/** The newest request of this code: one may come back into use after a while. */
export async function requestByRef(scope: Scope, ref: string): Promise<OperatorRequest | undefined> {
  const row = await scope.tx.operatorRequest.findFirst({
    where: { ref },
    orderBy: { askedAt: 'desc' },
    select: SELECT,
  });
  return row ? toRequest(row) : undefined;
}

/** Requests to this person that wait for an answer. */
export async function openRequestsOf(scope: Scope, operatorId: string): Promise<OperatorRequest[]> {
  const rows = await scope.tx.operatorRequest.findMany({
    where: { operatorId, state: 'open', expiresAt: { gt: new Date() } },
    orderBy: { askedAt: 'asc' },
    select: SELECT,
  });
  return rows.map(toRequest);
}

/** Which request a message of ours asked about. Undefined: this message of this chat is none. */
export async function requestOfMessage(
  scope: Scope,
  message: { chatId: string; externalId: string },
): Promise<string | undefined> {
  const row = await scope.tx.outbox.findFirst({
    where: {
      chatId: message.chatId,
      externalId: message.externalId,
      originKind: { in: [REQUEST_ORIGINS.question, REQUEST_ORIGINS.reminder] },
    },
    select: { originId: true },
  });
  return row?.originId;
}

/** A message that was planned again stands this much behind its first place. */
const AGAIN = 1_000;
/** It was refused because the operator hadn't written for a day: by us, or by the platform. */
const WINDOW_CODES = ['window_closed', '131047'];

/**
 * What the platform's window has kept from an operator (a picture, or a question without a template) is planned once more,
 * for those questions that still wait: called when the operator writes, which opens the window. Asked again, nothing more.
 */
export async function planUnreachedAgain(
  scope: Scope,
  { chatId, operatorId }: { chatId: string; operatorId: string },
): Promise<void> {
  const open = await openRequestsOf(scope, operatorId);
  if (open.length === 0) return;
  const kept = await scope.tx.outbox.findMany({
    where: {
      chatId,
      originKind: REQUEST_ORIGINS.question,
      originId: { in: open.map(({ requestId }) => requestId) },
      ordinal: { lt: AGAIN },
      state: 'failed',
      code: { in: WINDOW_CODES },
    },
    orderBy: [{ plannedAt: 'asc' }, { ordinal: 'asc' }],
  });
  for (const row of kept) {
    const request = open.find(({ requestId }) => requestId === row.originId);
    const content = await openUnlessErased(scope, row);
    if (!request || content?.text === undefined) continue;
    const { text, details } = content;
    await planMessage(scope, {
      chatId,
      contactId: request.contactId,
      turnId: null,
      origin: { kind: REQUEST_ORIGINS.question, id: row.originId, ordinal: row.ordinal + AGAIN },
      kind: 'acknowledgement',
      text,
      details,
    });
  }
}

async function openUnlessErased(
  scope: Scope,
  row: Parameters<typeof openOutgoing>[1],
): Promise<Awaited<ReturnType<typeof openOutgoing>> | undefined> {
  try {
    return await openOutgoing(scope, row);
  } catch (error) {
    if (error instanceof KeyDestroyedError || error instanceof ContentUnreadableError) return undefined;
    throw error;
  }
}

/** Takes the answer of an open request, once. False: it was answered, or its time is over. */
export async function answerRequest(
  scope: Scope,
  answer: { request: OperatorRequest; messageId: string; by: string },
): Promise<boolean> {
  return close(scope, answer.request, 'answered', { answerMessageId: answer.messageId }, answer.by);
}

/** Closes a request whose time is over. False: somebody answered meanwhile, or it isn't over. */
export async function expireRequest(scope: Scope, request: OperatorRequest): Promise<boolean> {
  if (request.expiresAt > new Date()) return false;
  return close(scope, request, 'expired', {}, 'clock');
}

/**
 * The code with which the question of a request has failed for good. Undefined: it arrived, or it still may; one that only the
 * window keeps is planned again once the operator writes.
 */
export async function codeOfUndeliverable(scope: Scope, requestId: string): Promise<string | undefined> {
  const rows = await scope.tx.outbox.findMany({
    where: { originKind: REQUEST_ORIGINS.question, originId: requestId, ordinal: { in: [0, AGAIN] } },
    orderBy: { ordinal: 'desc' },
    select: { state: true, code: true },
  });
  if (rows.some(({ state }) => state !== 'failed')) return undefined;
  const failed = rows.find(({ code }) => code === null || !WINDOW_CODES.includes(code));
  return failed && (failed.code ?? 'failed');
}

/** Closes a request whose question never arrived. False: it isn't open any more. */
export async function closeUndeliverable(
  scope: Scope,
  request: OperatorRequest,
  code: string,
): Promise<boolean> {
  return close(scope, request, 'undeliverable', {}, 'clock', {
    code,
  });
}

/** What hasn't gone out of a question that is closed says nothing any more, its pictures least of all. */
async function discardUnsaid(scope: Scope, { requestId }: OperatorRequest): Promise<void> {
  const unsaid = { originKind: REQUEST_ORIGINS.question, originId: requestId, state: 'planned' };
  const chats = await scope.tx.outbox.findMany({
    where: unsaid,
    distinct: ['chatId'],
    select: { chatId: true },
  });
  // A chat before its words, as whoever delivers them locks them.
  for (const { chatId } of chats)
    await scope.tx.$queryRaw`select 1 from chats where id = ${chatId}::uuid for update`;
  await scope.tx.outbox.updateMany({
    where: unsaid,
    data: { state: 'discarded', code: 'question_closed', settledAt: new Date() },
  });
}

async function close(
  scope: Scope,
  request: OperatorRequest,
  state: 'answered' | 'expired' | 'undeliverable',
  data: { answerMessageId?: string },
  by: string,
  facts: { code?: string } = {},
): Promise<boolean> {
  const now = new Date();
  const isInTime = state === 'answered' ? { expiresAt: { gt: now } } : {};
  const { count } = await scope.tx.operatorRequest.updateMany({
    where: { id: request.requestId, state: 'open', ...isInTime },
    data: { state, closedAt: now, ...data },
  });
  if (count === 0) return false;
  await discardUnsaid(scope, request);
  await notify(scope, { chatId: request.chatId, what: 'run' });
  await appendAudit(scope.tx, {
    stream: request.chatId,
    event:
      state === 'answered'
        ? 'operator_answered'
        : state === 'expired'
          ? 'operator_expired'
          : 'operator_unreached',
    subjectId: request.requestId,
    actor: by,
    facts: { ref: request.ref, operator: request.operatorId, ...facts },
  });
  return true;
}

/** Marks an open request as reminded, once. */
export async function markReminded(scope: Scope, requestId: string): Promise<boolean> {
  const now = new Date();
  const { count } = await scope.tx.operatorRequest.updateMany({
    where: { id: requestId, state: 'open', remindedAt: null, remindAt: { lte: now }, expiresAt: { gt: now } },
    data: { remindedAt: now },
  });
  return count === 1;
}

/** Requests that have to be reminded of or closed, of all tenants; ids only. `except`: ids of requests and tenants to leave out. */
export async function requestsDue(
  prisma: Pick<PrismaClient, '$queryRaw'>,
  { limit, except }: { limit: number; except: readonly string[] },
): Promise<{ tenantId: string; id: string }[]> {
  return prisma.$queryRaw`
    select tenant_id as "tenantId", request_id as id
      from aroko_operator_requests_due(${limit}::int, ${[...except]}::uuid[])`;
}

/**
 * The newest messages of a customer that hold media and that this operator hasn't answered about yet; oldest first. What a
 * colleague was shown, or what this one was shown and never answered, counts for nothing.
 */
export async function mediaToForward(
  scope: Scope,
  { chatId, operatorId, since, limit }: { chatId: string; operatorId: string; since: Date; limit: number },
): Promise<string[]> {
  const rows = await scope.tx.$queryRaw<{ id: string }[]>`
    select i.id from inbox i join media m on m.message_id = i.id and m.tenant_id = i.tenant_id
    where i.tenant_id = aroko_tenant() and i.chat_id = ${chatId}::uuid and i.speaker = 'customer'
      and i.revoked_at is null
      and i.received_at > greatest(${since}::timestamptz, (select max(r.asked_at) from operator_requests r
        where r.tenant_id = aroko_tenant() and r.chat_id = i.chat_id and r.kind = 'media'
          and r.operator_id = ${operatorId} and r.state = 'answered'))
    order by i.sequence desc limit ${limit}::int`;
  return rows.map(({ id }) => id).reverse();
}

/** Twenty draws among 17 million codes always find a free one, unless something is badly wrong. */
const REF_DRAWS = 20;

/** Free among the open requests and the open approvals: a code means one thing. */
async function freshRef(scope: Scope): Promise<string> {
  for (let draw = 0; draw < REF_DRAWS; draw++) {
    const letter = String.fromCharCode('A'.charCodeAt(0) + randomInt(26));
    const code = Array.from({ length: 4 }, () => REF_ALPHABET[randomInt(REF_ALPHABET.length)]).join('');
    const ref = `${letter}-${code}`;
    const taken = { where: { ref, state: 'open' } };
    const asked = await scope.tx.operatorRequest.count(taken);
    if (asked + (await scope.tx.approval.count(taken)) === 0) return ref;
  }
  throw new Error('no free REF code was found');
}

function toRequest(
  row: Omit<OperatorRequest, 'requestId' | 'kind'> & { id: string; kind: string },
): OperatorRequest {
  const { id, kind, ...rest } = row;
  return { ...rest, requestId: id, kind: kind === 'media' ? 'media' : 'conversation' };
}
