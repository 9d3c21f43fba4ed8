// Computes the audit again: every line of every stream, every head, every anchor. It walks in bounded batches, each a short
// transaction, while the desk goes on writing. The hashes are computed here and not by the database that is being checked,
// from the same text as in the functions aroko_audit and aroko_anchor.
import { createHash } from 'node:crypto';
import type { Database } from '../database.js';
import { verifyAnchors, type AnchorsReport, type Read } from './anchor-verification.js';
import {
  anchorMismatches,
  linesByStream,
  streamsAfter,
  unguardedTables,
  type AnchorMismatch,
  type AuditRow,
  type StreamState,
} from './audit.js';

/** The first thing that is wrong in a stream, with the number of the line it was found at. */
export interface AuditFinding {
  stream: string;
  number: number;
  kind:
    | 'changed'
    | 'unlinked'
    | 'missing'
    | 'cut_off'
    | 'beyond_head'
    | 'no_head'
    | 'head_replaced'
    | 'differs_from_anchor'
    | 'cut_off_since_anchor';
  /** In words. */
  what: string;
}

export interface AuditReport {
  streams: number;
  rows: number;
  findings: AuditFinding[];
  anchors: AnchorsReport;
  /** Tables that nothing keeps from being changed. */
  unguarded: string[];
}

const STREAMS_AT_ONCE = 200;
const ROWS_AT_ONCE = 2_000;

/** `knownRoot`: the root of an anchor that was written down earlier, hex; the anchor has to be there unchanged. */
export async function verifyAudit(
  database: Database,
  { tenantId, knownRoot }: { tenantId: string; knownRoot?: string | undefined },
): Promise<AuditReport> {
  const read: Read = (query) => database.inTenant(tenantId, query);
  const unguarded = await read(unguardedTables);
  const streams = await verifyStreams(read, tenantId);
  return { ...streams, anchors: await verifyAnchors(read, { tenantId, knownRoot }), unguarded };
}

type StreamsReport = Pick<AuditReport, 'streams' | 'rows' | 'findings'>;

async function verifyStreams(read: Read, tenantId: string): Promise<StreamsReport> {
  const report: StreamsReport = { streams: 0, rows: 0, findings: [] };
  for (let after = ''; ;) {
    const { states, mismatches } = await read(async (tx) => {
      const page = await streamsAfter(tx, { after, limit: STREAMS_AT_ONCE });
      const [fromStream, upToStream] = [page[0]?.stream ?? '', page.at(-1)?.stream ?? ''];
      return { states: page, mismatches: await anchorMismatches(tx, { fromStream, upToStream }) };
    });
    const [first, last] = [states[0], states.at(-1)];
    if (!first || !last) return report;
    const walks = new Map(states.map((state) => [state.stream, startWalk(tenantId, state)]));
    await walkLines(read, { first, last }, walks, report);
    const seenByAnchors = new Map(mismatches.map((mismatch) => [mismatch.stream, mismatch]));
    for (const walk of walks.values()) {
      report.streams += 1;
      const finding = endWalk(walk, seenByAnchors.get(walk.state.stream));
      if (finding) report.findings.push(finding);
    }
    after = last.stream;
  }
}

interface Walk {
  state: StreamState;
  /** Of the last line that was looked at. */
  number: number;
  hash: string;
  finding?: AuditFinding;
}

function startWalk(tenantId: string, state: StreamState): Walk {
  return { state, number: 0, hash: sha256(`${tenantId}/${state.stream}`) };
}

async function walkLines(
  read: Read,
  { first, last }: { first: StreamState; last: StreamState },
  walks: Map<string, Walk>,
  report: StreamsReport,
): Promise<void> {
  // Numbers begin with 1, unless somebody has put a line before it.
  let after = { stream: first.stream, number: -2_147_483_648 };
  for (;;) {
    const range = { after, upToStream: last.stream, limit: ROWS_AT_ONCE };
    const rows = await read((tx) => linesByStream(tx, range));
    for (const row of rows) {
      const walk = walks.get(row.stream);
      // Written since the stream was looked at: the next verification's.
      if (!walk || row.number > (walk.state.highest ?? 0)) continue;
      report.rows += 1;
      step(walk, row);
    }
    const end = rows.at(-1);
    if (!end || rows.length < ROWS_AT_ONCE) return;
    after = { stream: end.stream, number: end.number };
  }
}

function step(walk: Walk, row: AuditRow): void {
  if (!walk.finding) {
    const finding = lineFinding(walk, row);
    if (finding) walk.finding = finding;
  }
  walk.number = row.number;
  walk.hash = row.hash;
}

/** What is wrong with a line, seen from the one before it. */
function lineFinding({ number: before, hash: previous }: Walk, row: AuditRow): AuditFinding | undefined {
  const { stream, number } = row;
  if (number !== before + 1) {
    if (number < 1) return { stream, number, kind: 'unlinked', what: 'a line was put in before line 1' };
    const until = number - 1 === before + 1 ? '' : ` to ${number - 1}`;
    return { stream, number: before + 1, kind: 'missing', what: `line ${before + 1}${until} is missing` };
  }
  if (row.hash !== hashOf(row, row.previousHash)) {
    return {
      stream,
      number,
      kind: 'changed',
      what: 'its content is not what its hash says: the line was changed',
    };
  }
  if (row.previousHash !== previous) {
    const what =
      number === 1
        ? 'it is not the beginning of this stream: the lines before it were cut off, or it was replaced'
        : `it does not follow line ${number - 1}: one of the two was replaced, put in, or moved`;
    return { stream, number, kind: 'unlinked', what };
  }
  return undefined;
}

/** The same text as in the function aroko_audit. */
function hashOf(row: AuditRow, previousHash: string): string {
  const { number, event, subjectId, actor, facts, at } = row;
  return createHash('sha256')
    .update(Buffer.from(previousHash, 'hex'))
    .update([number, event, subjectId ?? '-', actor, facts, at].join('\n'), 'utf8')
    .digest('hex');
}

/** The first of what is wrong with the lines, the head, and what anchors have seen. */
function endWalk(walk: Walk, mismatch: AnchorMismatch | undefined): AuditFinding | undefined {
  const found = [walk.finding ?? headFinding(walk), mismatch && anchorFinding(mismatch)];
  return found
    .filter((finding) => finding !== undefined)
    .reduce<AuditFinding | undefined>(
      (first, finding) => (first && first.number <= finding.number ? first : finding),
      undefined,
    );
}

function headFinding({ state, number: last, hash }: Walk): AuditFinding | undefined {
  const { stream, headNumber, headHash } = state;
  const highest = state.highest ?? 0;
  if (last < highest) {
    return { stream, number: last + 1, kind: 'missing', what: 'it went missing while it was looked for' };
  }
  if (headNumber === null) {
    if (highest === 0) return undefined;
    return {
      stream,
      number: highest,
      kind: 'no_head',
      what: 'the stream has lines and no head: the head was deleted',
    };
  }
  if (highest < headNumber) {
    const what = `the head knows ${headNumber} lines: from this one on they were cut off`;
    return { stream, number: highest + 1, kind: 'cut_off', what };
  }
  if (highest > headNumber) {
    const what = `the head knows only ${headNumber} lines: this one was put in, or the head was replaced`;
    return { stream, number: headNumber + 1, kind: 'beyond_head', what };
  }
  if (headHash !== hash) {
    const what = 'the head names another last line: the head was replaced';
    return { stream, number: headNumber, kind: 'head_replaced', what };
  }
  return undefined;
}

function anchorFinding({ stream, anchor, number, isThere }: AnchorMismatch): AuditFinding {
  return isThere
    ? {
        stream,
        number,
        kind: 'differs_from_anchor',
        what: `anchor ${anchor} has seen another line here: the stream was written anew since`,
      }
    : {
        stream,
        number,
        kind: 'cut_off_since_anchor',
        what: `anchor ${anchor} has seen this line, and it is missing: lines were cut off since`,
      };
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
