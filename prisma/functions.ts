// The SQL functions of the migrations, typed. All but `appendAudit` are asked without a tenant; they give out ids only.

import type { Prisma, PrismaClient } from './generated/client.js';
import type { Tx } from './database.js';
import type { Bytes, WrappedKey } from './keys.js';

type Queryable = Pick<PrismaClient, '$queryRaw'>;

/** What the gateway hands over for one message. Ciphers are made by content.ts under `keyId`, for the row they'll lie in. */
export interface AcceptRequest {
  channel: string;
  accountKey: string;
  /** The kind of address that `contactHmac` is of, as in contact_aliases.kind (`phone`, `lid`, `web` …). */
  addressKind: string;
  chatHmac: Uint8Array;
  contactHmac: Uint8Array;
  chatKind: 'direct' | 'group';
  messageId: string;
  externalId: string;
  kind: string;
  /** The arrival gate's word: `turn` goes on to the turn gates, anything else is stored and left. */
  arrival: string;
  /** For inbox.content_cipher of `messageId`; absent where a message has no content. */
  contentCipher?: Uint8Array | undefined;
  contentHmac: Uint8Array;
  quotedExternalId?: string | undefined;
  sentAt?: Date | undefined;
  /** A fresh id, used if the contact is new. */
  contactId: string;
  /** The key believed to be the contact's, or a fresh one. */
  keyId: string;
  keyWrapped: Uint8Array;
  masterVersion: number;
  /** A fresh id, used if the address is new. */
  aliasId: string;
  /** For contact_aliases.address_cipher of `aliasId`. */
  aliasCipher?: Uint8Array | undefined;
  /** A fresh id, used if the chat is new. */
  chatId: string;
  /** For chats.address_cipher of `chatId`. */
  chatCipher?: Uint8Array | undefined;
}

interface InboxRow {
  tenantId: string;
  chatId: string;
  contactId: string;
  messageId: string;
  sequence: number;
  keyId: string;
}

/**
 * `accepted`: a new row that waits for a turn. `stored`: a new row that is settled already (blocked, or left by an arrival gate).
 * `duplicate`: this row was here. `conflict`: a row of this external id, with other content, was here.
 * `wrong_key`: nothing was written; encrypt again under `key`, or under a new one where that is absent, and call again.
 */
export type AcceptOutcome =
  | ({ outcome: 'accepted' | 'stored' | 'duplicate' | 'conflict' } & InboxRow)
  | {
      outcome: 'wrong_key';
      tenantId: string;
      /** Absent: the contact isn't known yet. */
      contactId?: string;
      key?: WrappedKey;
    }
  | { outcome: 'unknown_account' };

interface AcceptRow {
  outcome: string;
  tenant_id: string | null;
  chat_id: string | null;
  contact_id: string | null;
  message_id: string | null;
  sequence: number | null;
  key_id: string | null;
  key_wrapped: Bytes | null;
  master_version: number | null;
}

/** Stores one message: one round trip, one commit. Once it has resolved, the platform may be told that we have the message. */
export async function accept(prisma: Queryable, message: AcceptRequest): Promise<AcceptOutcome> {
  const m = message;
  const [row] = await prisma.$queryRaw<AcceptRow[]>`
    select * from aroko_accept(
      ${m.channel}, ${m.accountKey}, ${m.addressKind}, ${m.chatHmac}, ${m.contactHmac}, ${m.chatKind},
      ${m.messageId}::uuid, ${m.externalId}, ${m.kind}, ${m.arrival}, ${m.contentCipher ?? null}::bytea, ${m.contentHmac},
      ${m.quotedExternalId ?? null}, ${m.sentAt?.toISOString() ?? null}::timestamptz,
      ${m.contactId}::uuid, ${m.keyId}::uuid, ${m.keyWrapped}, ${m.masterVersion}::int,
      ${m.aliasId}::uuid, ${m.aliasCipher ?? null}::bytea, ${m.chatId}::uuid, ${m.chatCipher ?? null}::bytea)`;
  return acceptOutcome(row);
}

function acceptOutcome(row: AcceptRow | undefined): AcceptOutcome {
  const {
    outcome,
    tenant_id: tenantId,
    chat_id: chatId,
    contact_id: contactId,
  } = row ?? { outcome: 'nothing' };
  const {
    message_id: messageId,
    sequence,
    key_id: keyId,
    key_wrapped: wrapped,
    master_version: masterVersion,
  } = row ?? {};
  if (outcome === 'unknown_account') return { outcome };
  if (outcome === 'wrong_key' && tenantId) {
    return {
      outcome,
      tenantId,
      ...(contactId && { contactId }),
      ...(keyId && wrapped && masterVersion && { key: { keyId, wrapped, masterVersion } }),
    };
  }
  if (outcome === 'accepted' || outcome === 'stored' || outcome === 'duplicate' || outcome === 'conflict') {
    if (tenantId && chatId && contactId && messageId && sequence && keyId) {
      return { outcome, tenantId, chatId, contactId, messageId, sequence, keyId };
    }
  }
  throw new Error(`aroko_accept answered ${outcome} without what belongs to it`);
}

/**
 * Adds a line to an audit stream (a chat's id, or `tenant`) and answers its number. Call it last in the transaction: the
 * head of the stream is locked until the commit. `facts`: ids, codes and counts only.
 */
export async function appendAudit(
  tx: Tx,
  entry: {
    stream: string;
    event: string;
    subjectId?: string | undefined;
    actor: string;
    facts: Prisma.InputJsonObject;
  },
): Promise<number> {
  const [row] = await tx.$queryRaw<{ number: number }[]>`
    select aroko_audit(${entry.stream}, ${entry.event}, ${entry.subjectId ?? null}::uuid, ${entry.actor},
      ${JSON.stringify(entry.facts)}::jsonb) as number`;
  if (!row) throw new Error('aroko_audit answered nothing');
  return row.number;
}

/** Whose account this is; undefined when nobody's, or when it is disabled. */
export async function tenantOfAccount(
  prisma: Queryable,
  account: { channel: string; accountKey: string },
): Promise<{ tenantId: string; accountId: string } | undefined> {
  const [row] = await prisma.$queryRaw<{ tenantId: string; accountId: string }[]>`
    select tenant_id as "tenantId", account_id as "accountId" from aroko_tenant_of_account(${account.channel}, ${account.accountKey})`;
  return row;
}

export async function tenantBySlug(prisma: Queryable, slug: string): Promise<string | undefined> {
  const [row] = await prisma.$queryRaw<{ id: string | null }[]>`select aroko_tenant_by_slug(${slug}) as id`;
  return row?.id ?? undefined;
}

/** Also of a link that is used or expired: whether it still opens a door is decided in the tenant's transaction. */
export async function tenantOfLoginLink(
  prisma: Queryable,
  tokenHash: Uint8Array,
): Promise<string | undefined> {
  const [row] = await prisma.$queryRaw<
    { id: string | null }[]
  >`select aroko_tenant_of_login_link(${tokenHash}) as id`;
  return row?.id ?? undefined;
}

/** Of a session that is open now. */
export async function tenantOfSession(prisma: Queryable, tokenHash: Uint8Array): Promise<string | undefined> {
  const [row] = await prisma.$queryRaw<
    { id: string | null }[]
  >`select aroko_tenant_of_session(${tokenHash}) as id`;
  return row?.id ?? undefined;
}

/** For the sweep: only what has been waiting for longer than this, and so many at most. */
export interface SweepRange {
  olderThanMs: number;
  limit: number;
}

/** Chats with messages or turns that nobody is working on; `upTo` is the bell to ring. */
export async function chatsBehind(
  prisma: Queryable,
  { olderThanMs, limit }: SweepRange,
): Promise<{ tenantId: string; chatId: string; upTo: number }[]> {
  return prisma.$queryRaw`
    select tenant_id as "tenantId", chat_id as "chatId", up_to as "upTo"
    from aroko_chats_behind(make_interval(secs => ${olderThanMs / 1000}::float8), ${limit}::int)`;
}

/** Says of runs (outbox rows) that no conversation has taken up. */
export async function saysWaiting(
  prisma: Queryable,
  { olderThanMs, limit }: SweepRange,
): Promise<{ tenantId: string; chatId: string; turnId: string; outboxId: string; kind: string }[]> {
  return prisma.$queryRaw`
    select tenant_id as "tenantId", chat_id as "chatId", turn_id as "turnId", outbox_id as "outboxId", kind
    from aroko_says_waiting(make_interval(secs => ${olderThanMs / 1000}::float8), ${limit}::int)`;
}

/** Approvals that were decided and whose run hasn't taken note. `turnId` names the run. */
export async function decisionsUnheard(
  prisma: Queryable,
  { olderThanMs, limit }: SweepRange,
): Promise<{ tenantId: string; approvalId: string; turnId: string }[]> {
  return prisma.$queryRaw`
    select tenant_id as "tenantId", approval_id as "approvalId", turn_id as "turnId"
    from aroko_decisions_unheard(make_interval(secs => ${olderThanMs / 1000}::float8), ${limit}::int)`;
}
