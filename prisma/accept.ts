// The way in, typed: `aroko_accept` stores what came in one chat. Asked without a tenant, because nobody knows it before the
// account is looked up; it gives out ids, and a wrapped key to whoever encrypts under it.
import { z } from 'zod';
import type { Arrival, Speaker } from '../workflows/domain/incoming.js';
import type { Queryable } from './functions.js';
import type { Prisma } from './generated/client.js';
import type { WrappedKey } from './keys.js';

/** An address as the rows hold it. Ciphers are made by content.ts under the request's key, for the row they'll lie in. */
export interface SealedAddress {
  /** A fresh id, used if the row is new. */
  id: string;
  /** As in contact_aliases.kind: `phone`, `bsuid`, `parent`, `group`, `web`. */
  kind: string;
  hmac: Uint8Array;
  cipher: Uint8Array;
}

/** What the gateway hands over for messages of one chat, in their order. */
export interface AcceptRequest {
  channel: string;
  accountKey: string;
  /** A fresh id, used if nobody is known behind the addresses. */
  contactId: string;
  /** All that the platform said of who it is; one person. `isRetired`: they are leaving this one for another. */
  aliases: (SealedAddress & { isRetired?: boolean | undefined })[];
  /** Where replies go. Its id is a fresh one, or the chat's where that is known. */
  chat: SealedAddress & { chatKind: 'direct' | 'group' };
  /** The key believed to be the contact's, or a fresh one. */
  key: WrappedKey;
  /** How long a person who wrote from the shop's own phone keeps the chat. Absent: until it is given back. */
  leaseMs?: number | undefined;
  messages: AcceptMessage[];
  /** Takes note of the addresses of somebody who is known, at this moment; of nobody else, and without a message. */
  knownOnly?: { at: Date } | undefined;
}

export interface AcceptMessage {
  messageId: string;
  externalId: string;
  kind: string;
  /** The arrival gate's word; what only the database knows (ours, blocked) is decided there. */
  arrival: Arrival;
  speaker: Speaker;
  /** For inbox.content_cipher of `messageId`; absent where a message has no content. */
  content?: Uint8Array | undefined;
  contentHmac: Uint8Array;
  /** For inbox.details_cipher of `messageId`. */
  details?: Uint8Array | undefined;
  /** The message that it quotes, reacts to, edits or revokes. */
  quotedExternalId?: string | undefined;
  sentAt?: Date | undefined;
  /** REFs that a person at the shop's own phone wrote: one that waits for an answer makes it an operator's. */
  refs?: string[] | undefined;
  /** Written at the shop's own phone, and it doesn't take the chat over: long ago, or to somebody of the business. */
  takesNothing?: boolean | undefined;
  /** An owner command only if what it reacts to is a notice of ours to them. */
  isForNoticesOnly?: boolean | undefined;
  /** Where the platform keeps a file of it. */
  media?: { mimeType?: string | undefined; sha256?: string | undefined } | undefined;
}

/**
 * `accepted`: a new row that waits for a turn. `stored`: a new row that is settled already. `duplicate`: this row was here.
 * `conflict`: a row of this external id, with other content or in another chat, was here. `echo`: words of ours came back.
 */
export type AcceptedRow =
  | {
      outcome: 'accepted' | 'stored' | 'duplicate' | 'conflict';
      messageId: string;
      sequence: number;
      chatId: string;
      contactId: string;
      arrival: string;
      speaker: string;
      /** An edit of it came before it did, and has still to be applied. */
      isEdited: boolean;
    }
  | { outcome: 'echo'; outboxId: string };

/**
 * `again`: no message was written; encrypt again under `key` (or a new one where that is absent) and for `chatId`, and call
 * again. `nobody`: `knownOnly`, and nobody is known.
 */
export type AcceptOutcome =
  | {
      outcome: 'done';
      tenantId: string;
      accountId: string;
      /** Absent where all of it was here already. */
      chatId?: string | undefined;
      contactId?: string | undefined;
      keyId?: string | undefined;
      /** A person at the shop's own phone has the chat from now on. */
      isTaken: boolean;
      /** One for each message, in their order. */
      rows: AcceptedRow[];
    }
  | {
      outcome: 'again';
      tenantId: string;
      contactId?: string | undefined;
      chatId?: string | undefined;
      key?: WrappedKey | undefined;
    }
  | { outcome: 'nobody'; tenantId: string }
  | { outcome: 'unknown_account' };

/** Stores messages of one chat: one round trip, one commit. Once it has resolved, the platform may be told that we have them. */
export async function accept(prisma: Queryable, request: AcceptRequest): Promise<AcceptOutcome> {
  const { key, chat, knownOnly } = request;
  const json = JSON.stringify({
    channel: request.channel,
    accountKey: request.accountKey,
    isKnownOnly: knownOnly !== undefined,
    sentAt: knownOnly?.at.toISOString(),
    contact: { id: request.contactId, kind: chat.chatKind === 'group' ? 'group' : 'person' },
    aliases: request.aliases
      .map(({ isRetired, ...alias }) => ({ ...addressJson(alias), retired: isRetired ?? false }))
      // In one order everywhere, so that two first messages of one person wait for each other instead of locking each other out.
      .sort((one, other) => (one.hmac < other.hmac ? -1 : 1)),
    chat: { ...addressJson(chat), kind: chat.chatKind, addressKind: chat.kind },
    key: { id: key.keyId, wrapped: base64(key.wrapped), masterVersion: key.masterVersion },
    leaseMs: request.leaseMs,
    messages: request.messages.map(messageJson),
  });
  const [row] = await prisma.$queryRaw<{ result: unknown }[]>`select aroko_accept(${json}::jsonb) as result`;
  return acceptOutcome(row?.result);
}

function addressJson({ id, kind, hmac, cipher }: SealedAddress): Record<string, string> & { hmac: string } {
  return { id, kind, hmac: base64(hmac), cipher: base64(cipher) };
}

function messageJson(message: AcceptMessage): Prisma.InputJsonObject {
  return {
    id: message.messageId,
    externalId: message.externalId,
    kind: message.kind,
    arrival: message.arrival,
    speaker: message.speaker,
    contentHmac: base64(message.contentHmac),
    ...(message.content && { content: base64(message.content) }),
    ...(message.details && { details: base64(message.details) }),
    ...(message.quotedExternalId !== undefined && { quoted: message.quotedExternalId }),
    ...(message.sentAt && { sentAt: message.sentAt.toISOString() }),
    ...(message.refs && message.refs.length > 0 && { refs: message.refs }),
    ...(message.takesNothing && { takesNothing: true }),
    ...(message.isForNoticesOnly && { ifNotice: true }),
    ...(message.media && { media: { ...message.media } }),
  };
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

const acceptedRow = z.discriminatedUnion('outcome', [
  z
    .object({
      outcome: z.enum(['accepted', 'stored', 'duplicate', 'conflict']),
      id: z.string(),
      sequence: z.number(),
      chatId: z.string(),
      contactId: z.string(),
      arrival: z.string(),
      speaker: z.string(),
      isEdited: z.boolean().default(false),
    })
    .transform(({ id, ...row }) => ({ messageId: id, ...row })),
  z.object({ outcome: z.literal('echo'), outboxId: z.string() }),
]);

const acceptResult = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('done'),
    tenantId: z.string(),
    accountId: z.string(),
    chatId: z.string().optional(),
    contactId: z.string().optional(),
    keyId: z.string().optional(),
    isTaken: z.boolean().default(false),
    messages: z.array(acceptedRow),
  }),
  z.object({
    outcome: z.literal('again'),
    tenantId: z.string(),
    contactId: z.string().optional(),
    chatId: z.string().optional(),
    key: z
      .object({ id: z.string(), wrapped: z.string(), masterVersion: z.number() })
      .transform(({ id, wrapped, masterVersion }) => ({
        keyId: id,
        wrapped: new Uint8Array(Buffer.from(wrapped, 'base64')),
        masterVersion,
      }))
      .optional(),
  }),
  z.object({ outcome: z.literal('nobody'), tenantId: z.string() }),
  z.object({ outcome: z.literal('unknown_account') }),
]);

function acceptOutcome(result: unknown): AcceptOutcome {
  const read = acceptResult.parse(result);
  if (read.outcome !== 'done') return read;
  const { messages, ...done } = read;
  return { ...done, rows: messages };
}
