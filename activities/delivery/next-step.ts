// What has to be done next about an outgoing message, decided in one transaction under the lock of its chat. On the web chat
// that transaction is the delivery. On WhatsApp it looks at everything that could stand in the way (a person who has the chat,
// the 24-hour window, limits, an attempt that never came back) and ends in a fence and the call that may now be made.
import type { WhatsappAccount } from '../../config/configuration.js';
import { ContentUnreadableError, KeyDestroyedError } from '../../prisma/keys.js';
import {
  markUnknown,
  sendByCommit,
  stopOutgoing,
  type Outgoing,
  type Settled,
} from '../../prisma/stores/deliveries.js';
import { mediaOfMessage } from '../../prisma/stores/media.js';
import { openOutgoing } from '../../prisma/stores/outbox.js';
import { quoteFor, recipientOf, type Recipient } from '../../prisma/stores/recipients.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { failSend, lockNextPart, markSending, planParts } from '../../prisma/stores/sends.js';
import { windowAt } from '../../prisma/stores/windows.js';
import type { Tenant } from '../tenants.js';
import type { SendLimiter } from '../whatsapp-cloud/limiter.js';
import { mediaKindOf, type MediaKind } from '../whatsapp-cloud/media-limits.js';
import type { Addressed, GraphMessage } from '../whatsapp-cloud/wire.js';
import { messageOf, partsOf, templateFor, type Part } from './compose.js';

/** An attempt that hasn't come back by then won't: the call's own time-out is shorter. */
export const GIVE_UP_MS = 15_000;

/** The platform's word for a closed window; a message that was refused with it goes on as a template. */
export const WINDOW_CLOSED = '131047';

/** What lies on the platform for a part of the message already, by outbox row. */
export type Uploads = Map<string, { kind: MediaKind; mediaId: string; filename: string }>;

export interface Call {
  outboxId: string;
  turnId: string | null;
  fence: string;
  attempt: number;
  account: WhatsappAccount;
  message: GraphMessage;
  to: Addressed;
}

export type NextStep =
  | { kind: 'settled'; settled: Settled; turnId: string | null; code?: string }
  /** `unsettled`: an earlier attempt may still come back. `busy`: the limits of the platform. */
  | { kind: 'wait'; waitMs: number; because: 'unsettled' | 'busy' }
  /** Media that aren't ours yet. */
  | { kind: 'fetch'; outboxId: string; messageId: string; attempt: number }
  /** Something has to lie on the platform before the message can name it. Repeating it tells nobody anything. */
  | { kind: 'upload'; outboxId: string; account: WhatsappAccount; attempt: number; what: UploadSource }
  | { kind: 'call'; call: Call };

export type UploadSource = { messageId: string; kind: MediaKind } | { text: string };

export interface Sending {
  tenant: Tenant;
  limiter: SendLimiter;
  uploads: Uploads;
}

export async function nextStep(scope: Scope, sending: Sending, outboxId: string): Promise<NextStep> {
  const row = await lockNextPart(scope, outboxId);
  // A signal may name anything; what isn't there can't be sent, and must not hold the chat up.
  if (!row) return { kind: 'settled', settled: { state: 'failed' }, turnId: null };
  if (row.channel === 'web') {
    return { kind: 'settled', settled: await sendByCommit(scope, row), turnId: row.turnId };
  }
  if (row.state === 'sending') return laterOrUnknown(scope, row);
  const stopped = await stopOutgoing(scope, row);
  if (stopped) return { kind: 'settled', settled: stopped, turnId: row.turnId };
  const { whatsapp } = sending.tenant.configuration.channels;
  const account = whatsapp.find(
    ({ accountKey }) => row.channel === 'whatsapp-cloud' && accountKey === row.accountKey,
  );
  if (!account) return fail(scope, row, 'account_missing');
  return nextOnWhatsApp(scope, sending, row, account);
}

/** An attempt that never came back: nobody knows whether it called. It gets its time, and a status may settle it meanwhile. */
async function laterOrUnknown(scope: Scope, row: Outgoing): Promise<NextStep> {
  const waitMs = (row.sendingAt?.getTime() ?? 0) + GIVE_UP_MS - Date.now();
  if (waitMs > 0) return { kind: 'wait', waitMs, because: 'unsettled' };
  await markUnknown(scope, row, 'interrupted');
  return { kind: 'settled', settled: { state: 'unknown' }, turnId: row.turnId, code: 'interrupted' };
}

async function nextOnWhatsApp(
  scope: Scope,
  { limiter, uploads }: Sending,
  row: Outgoing,
  account: WhatsappAccount,
): Promise<NextStep> {
  const recipient = await recipientOf(scope, row.chatId);
  if (!recipient) return fail(scope, row, 'no_address');
  const part = await readPart(scope, row);
  if (!part) return fail(scope, row, 'content_erased');
  const composed = isWindowClosed(row, recipient)
    ? templateOrNothing(part, row, account)
    : await compose(scope, row, { part, account, uploads });
  if ('kind' in composed) return composed.kind === 'fail' ? fail(scope, row, composed.code) : composed;
  const waitMs = limiter.take({
    accountKey: account.accountKey,
    recipient: recipient.address,
    perSecond: account.messagesPerSecond,
  });
  if (waitMs > 0) return { kind: 'wait', waitMs, because: 'busy' };
  const to: Addressed = {
    recipient: recipient.address,
    recipientKind: recipient.kind,
    replyTo: composed.message.type === 'template' ? undefined : await quoteFor(scope, row),
    callbackData: row.outboxId,
  };
  const { fence, attempt } = await markSending(scope, row, { said: composed.said });
  const { outboxId, turnId } = row;
  return { kind: 'call', call: { outboxId, turnId, fence, attempt, account, message: composed.message, to } };
}

async function fail(scope: Scope, row: Outgoing, code: string): Promise<NextStep> {
  return { kind: 'settled', settled: { state: await failSend(scope, row, code) }, turnId: row.turnId, code };
}

/** Undefined: erased, or broken. */
async function readPart(scope: Scope, row: Outgoing): Promise<Part | undefined> {
  const stored = await scope.tx.outbox.findUniqueOrThrow({ where: { id: row.outboxId } });
  try {
    const { text, details } = await openOutgoing(scope, stored);
    return text === undefined ? undefined : { text, details };
  } catch (error) {
    if (error instanceof KeyDestroyedError || error instanceof ContentUnreadableError) return undefined;
    throw error;
  }
}

function isWindowClosed(row: Outgoing, { customerWroteAt }: Recipient): boolean {
  if (row.code === WINDOW_CLOSED) return true;
  return !windowAt({ channel: row.channel, customerWroteAt }, new Date()).isOpen;
}

type Ready = { message: GraphMessage; said: string | undefined };
type NotReady = { kind: 'fail'; code: string } | Extract<NextStep, { kind: 'fetch' | 'upload' }>;

function templateOrNothing(part: Part, row: Outgoing, account: WhatsappAccount): Ready | NotReady {
  const template = templateFor(part, row.kind, account);
  if (!template) return { kind: 'fail', code: 'window_closed' };
  return { message: { type: 'template', template }, said: undefined };
}

async function compose(
  scope: Scope,
  row: Outgoing,
  { part, account, uploads }: { part: Part; account: WhatsappAccount; uploads: Uploads },
): Promise<Ready | NotReady> {
  const { mediaMessageId } = part.details;
  const media = mediaMessageId === undefined ? undefined : await mediaFor(scope, row, mediaMessageId);
  if (media && 'kind' in media) return media;
  const parts = partsOf(part, media?.as);
  const [first = part] = parts;
  if (parts.length > 1) await planParts(scope, row, parts);
  const { outboxId } = row;
  const attempt = row.attempts + 1;
  const uploaded = uploads.get(outboxId);
  if (media && !uploaded) {
    return { kind: 'upload', outboxId, account, attempt, what: { messageId: media.messageId, ...media.as } };
  }
  const composed = messageOf(first, uploaded);
  switch (composed.kind) {
    case 'impossible':
      return { kind: 'fail', code: composed.code };
    case 'document':
      return { kind: 'upload', outboxId, account, attempt, what: { text: composed.text } };
    case 'message':
      return { message: composed.message, said: composed.said };
  }
}

async function mediaFor(
  scope: Scope,
  { outboxId, attempts }: Outgoing,
  messageId: string,
): Promise<{ messageId: string; as: { kind: MediaKind } } | NotReady> {
  const media = await mediaOfMessage(scope, messageId);
  if (media?.state === 'remote') return { kind: 'fetch', outboxId, messageId, attempt: attempts + 1 };
  if (media?.state !== 'stored') return { kind: 'fail', code: 'media_missing' };
  const kind = mediaKindOf({ mimeType: media.mimeType ?? '', bytes: media.bytes ?? 0 });
  return kind ? { messageId, as: { kind } } : { kind: 'fail', code: 'media_too_large' };
}
