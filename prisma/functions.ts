// The SQL functions of the migrations, typed. All but `appendAudit` are asked without a tenant; they give out ids only.

import { Prisma, type PrismaClient } from './generated/client.js';
import type { Tx } from './database.js';

export type Queryable = Pick<PrismaClient, '$queryRaw'>;

export interface AuditEntry {
  /** A chat's id, or `tenant`. */
  stream: string;
  event: string;
  subjectId?: string | undefined;
  actor: string;
  /** Ids, codes and counts only. */
  facts: Prisma.InputJsonObject;
}

/**
 * The call that adds a line to an audit stream and gives its number, as a part of a statement that writes something else
 * too: one round trip for both.
 */
export function auditCall(entry: AuditEntry): Prisma.Sql {
  return Prisma.sql`aroko_audit(${entry.stream}, ${entry.event}, ${entry.subjectId ?? null}::uuid, ${entry.actor},
    ${JSON.stringify(entry.facts)}::jsonb)`;
}

/**
 * Adds a line to an audit stream and answers its number. Call it last in the transaction: the head of the stream is locked
 * until the commit.
 */
export async function appendAudit(tx: Tx, entry: AuditEntry): Promise<number> {
  const [row] = await tx.$queryRaw<{ number: number }[]>`select ${auditCall(entry)} as number`;
  if (!row) throw new Error('aroko_audit answered nothing');
  return row.number;
}

/** Anchors the heads of the tenant's audit streams. Undefined: done in this hour already, or nothing has moved since. */
export async function anchorHeads(
  tx: Tx,
): Promise<{ number: number; root: string; streams: number; moved: number } | undefined> {
  const [row] = await tx.$queryRaw<{ number: number; root: string; streams: number; moved: number }[]>`
    select number, encode(root, 'hex') as root, streams, moved from aroko_anchor()`;
  return row;
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

/** Chats that a person had, and whose lease is over: nobody has given them back. */
export async function leasesOver(
  prisma: Queryable,
  { olderThanMs, limit }: SweepRange,
): Promise<{ tenantId: string; chatId: string }[]> {
  return prisma.$queryRaw`
    select tenant_id as "tenantId", chat_id as "chatId"
    from aroko_leases_over(make_interval(secs => ${olderThanMs / 1000}::float8), ${limit}::int)`;
}

/** Runs that have more to do or to say, by turn id, from the one after `after` on. */
export async function runsOpen(
  prisma: Queryable,
  { olderThanMs, limit, after }: SweepRange & { after: string },
): Promise<{ tenantId: string; chatId: string; turnId: string }[]> {
  return prisma.$queryRaw`
    select tenant_id as "tenantId", chat_id as "chatId", turn_id as "turnId"
    from aroko_runs_open(make_interval(secs => ${olderThanMs / 1000}::float8), ${after}::uuid, ${limit}::int)`;
}
