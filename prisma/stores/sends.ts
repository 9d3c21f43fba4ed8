// Sends over a channel with a call of its own. Planned → sending, committed before the call → sent, failed, or unknown. The
// call itself happens outside, between `markSending` and `settleSend`; whoever comes later finds `sending` and must not call
// again. A message that is too long for one becomes several rows, its parts, each with the same protocol (decision 0011).
import { randomUUID } from 'node:crypto';
import type { OutboxState, OutgoingDetails } from '../../workflows/domain/message.js';
import {
  lockOutgoing,
  auditDelivery,
  discardParts,
  markFailed,
  markSent,
  markUnknown,
  PART,
  partsOf,
  type Outgoing,
} from './deliveries.js';
import type { Scope } from './scope.js';

/** Discarded because a part before it did not arrive. */
const PART_FAILED = 'part_failed';

/** More refusals of a busy channel than this, and the message has failed: with growing delays, about a quarter of an hour. */
export const MOST_ATTEMPTS = 8;

/**
 * Locks what is next of this message: itself, or the first of its parts that hasn't been sent. Any part names the whole.
 * Undefined: there is no such row.
 */
export async function lockNextPart(scope: Scope, outboxId: string): Promise<Outgoing | undefined> {
  const named = await lockOutgoing(scope, outboxId);
  const first = named?.originKind === PART ? await lockOutgoing(scope, named.originId) : named;
  // Nothing was ever tried: there are no parts yet.
  if (first?.state !== 'sent') return first;
  const next = await scope.tx.outbox.findFirst({
    where: { originKind: PART, originId: first.outboxId, state: { not: 'sent' } },
    orderBy: { ordinal: 'asc' },
    select: { id: true },
  });
  return next ? lockOutgoing(scope, next.id) : first;
}

/** What is to be said in one part. */
export interface Part {
  text: string;
  details: OutgoingDetails;
}

/** Turns a message into several: the first part takes its row, the others get rows of their own behind it. */
export async function planParts(scope: Scope, row: Outgoing, [first, ...others]: Part[]): Promise<void> {
  if (!first) return;
  const { keyId, tainted } = await scope.tx.outbox.findUniqueOrThrow({
    where: { id: row.outboxId },
    select: { keyId: true, tainted: true },
  });
  if (keyId === null) throw new Error('a message with content has a key');
  const key = await scope.content.dataKeyById(scope.tx, scope.tenantId, keyId);
  const sealed = (rowId: string, { text, details }: Part) => ({
    contentCipher: scope.content.sealText(key, { table: 'outbox', column: 'content_cipher', rowId, text }),
    detailsCipher: scope.content.sealText(key, {
      table: 'outbox',
      column: 'details_cipher',
      rowId,
      text: JSON.stringify(details),
    }),
    contentHmac: scope.content.hmacContent(text),
  });
  await scope.tx.outbox.update({ where: { id: row.outboxId }, data: sealed(row.outboxId, first) });
  await scope.tx.outbox.createMany({
    data: others.map((part, index) => {
      const id = randomUUID();
      return {
        id,
        tenantId: scope.tenantId,
        chatId: row.chatId,
        turnId: row.turnId,
        originKind: PART,
        originId: row.outboxId,
        ordinal: index + 1,
        kind: row.kind,
        keyId,
        tainted,
        ...sealed(id, part),
      };
    }),
  });
}

/**
 * The fence: committed before the call, so that whoever finds the row later knows that a call may have been made. `said`:
 * the words exactly as they go out, by which an echo of them is recognised.
 */
export async function markSending(
  scope: Scope,
  row: Outgoing,
  { said }: { said: string | undefined },
): Promise<{ fence: string; attempt: number }> {
  const fence = randomUUID();
  const attempt = row.attempts + 1;
  await scope.tx.outbox.update({
    where: { id: row.outboxId },
    data: {
      state: 'sending',
      fence,
      attempts: attempt,
      sendingAt: new Date(),
      code: null,
      ...(said !== undefined && { contentHmac: scope.content.hmacContent(said) }),
    },
  });
  return { fence, attempt };
}

export type CallOutcome =
  | { kind: 'sent'; externalId: string }
  /** A clean refusal: nothing was sent, and the same may be tried again. */
  | { kind: 'again'; code: string }
  | { kind: 'failed'; code: string }
  | { kind: 'unknown'; code: string };

/**
 * Settles what the call has brought. `again` that has been tried often enough is `failed`. Where somebody else has settled
 * it meanwhile (a status, a person), what they found stays, unless we know better: that it was sent.
 */
export async function settleSend(
  scope: Scope,
  { outboxId, fence, outcome }: { outboxId: string; fence: string; outcome: CallOutcome },
): Promise<{ state: OutboxState; isWhole: boolean }> {
  const row = await lockOutgoing(scope, outboxId);
  if (!row) return { state: 'failed', isWhole: true };
  const isWhole = await isLastPart(scope, row);
  if (row.fence !== fence) return { state: row.state, isWhole };
  if (outcome.kind === 'sent') {
    return {
      state: await settleSent(scope, row, { externalId: outcome.externalId, isLast: isWhole }),
      isWhole,
    };
  }
  if (row.state !== 'sending') return { state: row.state, isWhole };
  return { state: await settleUnsent(scope, row, outcome), isWhole };
}

/** The platform took it, and may have said already that it never arrived: a report can overtake the answer to the call. */
async function settleSent(
  scope: Scope,
  row: Outgoing,
  sent: { externalId: string; isLast: boolean },
): Promise<OutboxState> {
  if (row.state === 'sent') return 'sent';
  const { deliveryStatus } = await scope.tx.outbox.findUniqueOrThrow({
    where: { id: row.outboxId },
    select: { deliveryStatus: true },
  });
  if (row.state === 'failed' && deliveryStatus === 'failed') {
    const { externalId } = sent;
    await scope.tx.outbox.update({ where: { id: row.outboxId }, data: { externalId } });
    return 'failed';
  }
  await markSent(scope, row, sent);
  return 'sent';
}

async function settleUnsent(
  scope: Scope,
  row: Outgoing,
  { kind, code }: Exclude<CallOutcome, { kind: 'sent' }>,
): Promise<OutboxState> {
  switch (kind) {
    case 'again':
      return row.attempts >= MOST_ATTEMPTS ? failSend(scope, row, code) : backToPlanned(scope, row, { code });
    case 'failed':
      return failSend(scope, row, code);
    case 'unknown':
      await markUnknown(scope, row, code);
      return 'unknown';
  }
}

async function backToPlanned(
  scope: Scope,
  { outboxId }: Outgoing,
  data: { code: string; attempts?: number; sendingAt?: Date },
): Promise<'planned'> {
  await scope.tx.outbox.update({ where: { id: outboxId }, data: { ...data, state: 'planned', fence: null } });
  return 'planned';
}

/** What the message needs isn't to be had yet: an attempt that told nobody anything. Too many of them, and it has failed. */
export async function noteNotReady(
  scope: Scope,
  { outboxId, code, isFinal }: { outboxId: string; code: string; isFinal: boolean },
): Promise<OutboxState> {
  const row = await lockOutgoing(scope, outboxId);
  if (row?.state !== 'planned') return row?.state ?? 'failed';
  const attempts = row.attempts + 1;
  if (isFinal || attempts >= MOST_ATTEMPTS) return failSend(scope, row, code);
  return backToPlanned(scope, row, { code, attempts, sendingAt: new Date() });
}

/** It will not arrive, and what was to follow it makes no sense without it. */
export async function failSend(scope: Scope, row: Outgoing, code: string): Promise<'failed'> {
  await discardParts(scope, row, PART_FAILED);
  await markFailed(scope, row, code);
  return 'failed';
}

/**
 * Does what follows from a status that the platform has reported, once the row has taken note of it (`delivery_status`, and
 * `code` of a failure): an open send is settled, and an answer that failed to arrive is withdrawn. Anything else changes
 * nothing, so it may be called for every status.
 */
export async function settleReported(scope: Scope, outboxId: string): Promise<OutboxState | undefined> {
  const row = await lockOutgoing(scope, outboxId);
  if (!row) return undefined;
  const { deliveryStatus } = await scope.tx.outbox.findUniqueOrThrow({
    where: { id: outboxId },
    select: { deliveryStatus: true },
  });
  if (deliveryStatus === null) return row.state;
  const isOpen = row.state === 'sending' || row.state === 'unknown';
  if (deliveryStatus === 'failed') {
    return isOpen || row.state === 'sent' ? failSend(scope, row, row.code ?? 'failed') : row.state;
  }
  if (!isOpen) return row.state;
  await markSent(scope, row, { isLast: await isLastPart(scope, row) });
  return 'sent';
}

/**
 * A person has found out what became of an unknown send: it arrived, or it didn't. Audited. It is not sent again: whoever
 * wants to say it once more says it themselves.
 */
export async function settleByPerson(
  scope: Scope,
  { outboxId, hasArrived, by }: { outboxId: string; hasArrived: boolean; by: string },
): Promise<{ outcome: 'settled' | 'not_unknown' }> {
  const row = await lockOutgoing(scope, outboxId);
  if (row?.state !== 'unknown') return { outcome: 'not_unknown' };
  if (hasArrived) await markSent(scope, row, { isLast: await isLastPart(scope, row) });
  else await failSend(scope, row, 'not_sent');
  await auditDelivery(scope, row, 'message_settled', { as: hasArrived ? 'sent' : 'failed' }, by);
  return { outcome: 'settled' };
}

/** Whether everything else of this message is settled. */
async function isLastPart(scope: Scope, row: Outgoing): Promise<boolean> {
  const open = await scope.tx.outbox.count({
    where: {
      ...partsOf(row),
      id: { not: row.outboxId },
      state: { in: ['planned', 'sending', 'unknown'] },
    },
  });
  return open === 0;
}
