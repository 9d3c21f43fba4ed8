// The audit as it is read: by time for the export, by stream for whoever verifies it (audit-verification.ts). Lines are
// written by `appendAudit`, in the transaction of what they tell, and by nothing else.
import type { Tx } from '../database.js';
import { Prisma } from '../generated/client.js';

/** A line as it lies in the table. Hashes are hex. */
export interface AuditRow {
  stream: string;
  number: number;
  event: string;
  subjectId: string | null;
  actor: string;
  /** JSON as Postgres writes it: the hash covers exactly this text. */
  facts: string;
  /** UTC, with milliseconds: the hash covers exactly this text. */
  at: string;
  previousHash: string;
  hash: string;
}

const COLUMNS = Prisma.sql`stream, number, event, subject_id::text as "subjectId", actor, facts::text as facts,
  to_char(happened_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
  encode(previous_hash, 'hex') as "previousHash", encode(hash, 'hex') as hash`;

/** The place of a line in the order of time: streams are told apart by name, lines of a stream by number. */
export type AuditPlace = Pick<AuditRow, 'at' | 'stream' | 'number'>;

export interface AuditRange {
  /** Included. Absent: from the beginning. */
  from?: Date | undefined;
  /** Not included. Absent: up to now. */
  to?: Date | undefined;
  /** Absent: all of them. */
  stream?: string | undefined;
}

function within({ from, to, stream }: AuditRange): Prisma.Sql {
  const conditions = [Prisma.sql`tenant_id = aroko_tenant()`];
  if (from) conditions.push(Prisma.sql`happened_at >= ${from.toISOString()}::timestamptz`);
  if (to) conditions.push(Prisma.sql`happened_at < ${to.toISOString()}::timestamptz`);
  if (stream !== undefined) conditions.push(Prisma.sql`stream = ${stream}`);
  return Prisma.join(conditions, ' and ');
}

/** Lines in the order of time, after a place where one is given. */
export async function auditByTime(
  tx: Tx,
  { after, limit, ...range }: AuditRange & { after?: AuditPlace | undefined; limit: number },
): Promise<AuditRow[]> {
  const later = after
    ? Prisma.sql`and (happened_at, stream, number) > (${after.at}::timestamptz, ${after.stream}, ${after.number}::int)`
    : Prisma.empty;
  return tx.$queryRaw`
    select ${COLUMNS} from audit where ${within(range)} ${later}
    order by happened_at, stream, audit.number limit ${limit}::int`;
}

/** Where the last `count` lines of a range begin: everything from this place on. Undefined: there are none. */
export async function startOfTail(
  tx: Tx,
  { count, ...range }: AuditRange & { count: number },
): Promise<AuditPlace | undefined> {
  const [row] = await tx.$queryRaw<AuditPlace[]>`
    select to_char(happened_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, stream, number from (
      select happened_at, stream, number from audit where ${within(range)}
      order by happened_at desc, stream desc, number desc limit ${count}::int) tail
    order by happened_at, stream, number limit 1`;
  return row;
}

/** Lines in the order of streams and numbers, after one line and up to the end of a stream. */
export async function linesByStream(
  tx: Tx,
  range: { after: { stream: string; number: number }; upToStream: string; limit: number },
): Promise<AuditRow[]> {
  const { after, upToStream, limit } = range;
  return tx.$queryRaw`
    select ${COLUMNS} from audit
    where tenant_id = aroko_tenant() and (stream, number) > (${after.stream}, ${after.number}::int) and stream <= ${upToStream}
    order by stream, audit.number limit ${limit}::int`;
}

export interface StreamState {
  stream: string;
  /** Null: the stream has no head. */
  headNumber: number | null;
  headHash: string | null;
  /** The highest number among its lines; null: it has none. */
  highest: number | null;
}

/**
 * Streams by name after one, each as it was at one moment: whatever has a line, a head or a place in an anchor is a stream,
 * so that none can vanish by losing one of the three.
 */
export async function streamsAfter(
  tx: Tx,
  { after, limit }: { after: string; limit: number },
): Promise<StreamState[]> {
  const names = (table: string): Prisma.Sql => {
    const from = Prisma.raw(table);
    // A step from name to name through the index, however many lines a stream has.
    return Prisma.sql`(with recursive s as (
        select min(stream) as stream from ${from} where tenant_id = aroko_tenant() and stream > ${after}
        union all
        select (select min(n.stream) from ${from} n where n.tenant_id = aroko_tenant() and n.stream > s.stream)
        from s where s.stream is not null)
      select stream from s where stream is not null limit ${limit}::int)`;
  };
  return tx.$queryRaw`
    select k.stream, h.last_number as "headNumber", encode(h.last_hash, 'hex') as "headHash",
      (select max(a.number) from audit a where a.tenant_id = aroko_tenant() and a.stream = k.stream) as highest
    from (${names('audit')} union ${names('audit_heads')} union ${names('audit_anchor_heads')}) k
    left join audit_heads h on h.tenant_id = aroko_tenant() and h.stream = k.stream
    order by k.stream limit ${limit}::int`;
}

/** What an anchor says of a head that no line of now bears out. */
export interface AnchorMismatch {
  stream: string;
  anchor: number;
  number: number;
  /** Whether a line of this number is there. */
  isThere: boolean;
}

/** Of each stream of a range the first place in which it no longer is what an anchor says it was. */
export async function anchorMismatches(
  tx: Tx,
  { fromStream, upToStream }: { fromStream: string; upToStream: string },
): Promise<AnchorMismatch[]> {
  return tx.$queryRaw`
    select distinct on (k.stream) k.stream, k.anchor, k.last_number as number, a.hash is not null as "isThere"
    from audit_anchor_heads k
    left join audit a on a.tenant_id = k.tenant_id and a.stream = k.stream and a.number = k.last_number
    where k.tenant_id = aroko_tenant() and k.stream >= ${fromStream} and k.stream <= ${upToStream}
      and a.hash is distinct from k.last_hash
    order by k.stream, k.last_number, k.anchor`;
}

export interface AnchorRow {
  number: number;
  /** Of the hour, UTC: the root covers exactly this text. */
  hour: string;
  streams: number;
  root: string;
  anchoredAt: Date;
}

export async function anchorsAfter(
  tx: Tx,
  { after, limit }: { after: number; limit: number },
): Promise<AnchorRow[]> {
  return tx.$queryRaw`
    select number, to_char(hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as hour, streams,
      encode(root, 'hex') as root, anchored_at as "anchoredAt"
    from audit_anchors where tenant_id = aroko_tenant() and number > ${after}::int order by audit_anchors.number limit ${limit}::int`;
}

export interface AnchoredHead {
  stream: string;
  number: number;
  hash: string;
}

/** Heads of one anchor by the bytes of their names, as the root was computed. */
export async function headsOfAnchor(
  tx: Tx,
  { anchor, after, limit }: { anchor: number; after: string; limit: number },
): Promise<AnchoredHead[]> {
  return tx.$queryRaw`
    select stream, last_number as number, encode(last_hash, 'hex') as hash from audit_anchor_heads
    where tenant_id = aroko_tenant() and anchor = ${anchor}::int and stream collate "C" > ${after}
    order by stream collate "C" limit ${limit}::int`;
}

/** Heads that belong to no anchor: the anchor was deleted, or they were put in. */
export async function strayAnchor(tx: Tx): Promise<number | undefined> {
  const [row] = await tx.$queryRaw<{ anchor: number }[]>`
    select anchor from audit_anchor_heads k where tenant_id = aroko_tenant() and not exists (
      select from audit_anchors a where a.tenant_id = k.tenant_id and a.number = k.anchor)
    order by anchor limit 1`;
  return row?.anchor;
}

const GUARDED = ['audit', 'audit_anchors', 'audit_anchor_heads'];
/** Each table has one trigger against changes and one against being emptied. */
const TRIGGERS_EACH = 2;

/** Tables whose triggers against changes are missing or switched off. */
export async function unguardedTables(tx: Tx): Promise<string[]> {
  const rows = await tx.$queryRaw<{ name: string }[]>`
    select c.relname::text as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relname = any (${GUARDED}) and (
      select count(*) from pg_trigger t join pg_proc p on p.oid = t.tgfoid
      where t.tgrelid = c.oid and t.tgenabled in ('O', 'A') and p.proname = 'aroko_audit_is_final') < ${TRIGGERS_EACH}::int
    order by 1`;
  return rows.map(({ name }) => name);
}
