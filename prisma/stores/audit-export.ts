// The audit as JSON Lines, in the order of time. Read in batches, so that its length doesn't matter; facts stand as Postgres
// writes them, because the hash covers exactly that text.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database.js';
import { auditByTime, type AuditPlace, type AuditRange, type AuditRow } from './audit.js';

const ROWS_AT_ONCE = 1_000;
const LOOK_EVERY_MS = 1_000;
/**
 * A line has the time at which it was written and is seen once its transaction commits. No transaction of ours lasts longer
 * than this, so whoever follows looks so far back each time.
 */
const LATE_MS = 15_000;

export interface AuditExport extends AuditRange {
  /** The first line. Absent: that of the range. */
  start?: AuditPlace | undefined;
  /** Goes on with what is written. Absent: ends with what is there. */
  follow?: boolean | undefined;
}

/** One line of JSON for each line of the audit. */
export async function* exportAudit(
  from: { database: Database; tenantId: string },
  { start, follow, ...range }: AuditExport,
): AsyncGenerator<string> {
  const told = createMemory();
  for await (const row of rowsOf(from, range, start && before(start))) {
    told.add(row);
    yield lineOf(row);
  }
  // With nothing there, whatever comes is new.
  let since = told.newest() ?? Date.now();
  while (follow) {
    await sleep(LOOK_EVERY_MS);
    const recent = { ...range, from: later(range.from, new Date(since - LATE_MS)) };
    for await (const row of rowsOf(from, recent, undefined)) {
      if (told.has(row) || (start && isBefore(row, start))) continue;
      told.add(row);
      yield lineOf(row);
    }
    since = told.newest() ?? since;
    told.forgetBefore(since - 2 * LATE_MS);
  }
}

async function* rowsOf(
  { database, tenantId }: { database: Database; tenantId: string },
  range: AuditRange,
  start: AuditPlace | undefined,
): AsyncGenerator<AuditRow> {
  let after = start;
  for (;;) {
    const place = after;
    const rows = await database.inTenant(tenantId, (tx) =>
      auditByTime(tx, { ...range, after: place, limit: ROWS_AT_ONCE }),
    );
    yield* rows;
    after = rows.at(-1);
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

/** The place just before a line. */
function before(place: AuditPlace): AuditPlace {
  return { ...place, number: place.number - 1 };
}

/** Names of streams are ids, or one word: they sort alike here and in the database. */
function isBefore(row: AuditRow, start: AuditPlace): boolean {
  if (row.at !== start.at) return row.at < start.at;
  return row.stream === start.stream ? row.number < start.number : row.stream < start.stream;
}

function later(one: Date | undefined, other: Date): Date {
  return one && one > other ? one : other;
}

function lineOf({ facts, previousHash, hash, ...row }: AuditRow): string {
  const { at, stream, number, event, subjectId, actor } = row;
  const head = JSON.stringify({ at, stream, number, event, subjectId, actor });
  return `${head.slice(0, -1)},"facts":${facts},"previousHash":"${previousHash}","hash":"${hash}"}`;
}

/** What was told lately, and when the newest of it was written. */
function createMemory() {
  const places = new Map<string, number>();
  let newest: number | undefined;
  const nameOf = ({ stream, number }: AuditRow): string => `${stream}/${number}`;
  return {
    add(row: AuditRow): void {
      const at = Date.parse(row.at);
      newest = Math.max(newest ?? at, at);
      places.set(nameOf(row), at);
      // A long export passes through here: only its end can come again.
      if (places.size > 4 * ROWS_AT_ONCE) this.forgetBefore(newest - 2 * LATE_MS);
    },
    has: (row: AuditRow): boolean => places.has(nameOf(row)),
    newest: (): number | undefined => newest,
    forgetBefore(time: number): void {
      for (const [place, at] of places) if (at < time) places.delete(place);
    },
  };
}
