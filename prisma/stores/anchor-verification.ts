// Computes the chain of anchors again, each root from the one before it and the heads that had moved.
import { createHash } from 'node:crypto';
import type { Tx } from '../database.js';
import { anchorsAfter, headsOfAnchor, strayAnchor, type AnchorRow } from './audit.js';

export interface AnchorsReport {
  count: number;
  /** The newest; written down elsewhere, its root proves later that nothing up to it was changed. */
  newest?: { number: number; root: string; anchoredAt: Date };
  findings: AnchorFinding[];
}

export interface AnchorFinding {
  /** Absent: about all of them. */
  anchor?: number;
  /** In words. */
  what: string;
}

const ANCHORS_AT_ONCE = 200;
const HEADS_AT_ONCE = 2_000;

/** Runs a query in a short transaction of the tenant. */
export type Read = <Result>(query: (tx: Tx) => Promise<Result>) => Promise<Result>;

/** `knownRoot`: the root of an anchor that was written down earlier, hex; an anchor has to have it. */
export async function verifyAnchors(
  read: Read,
  { tenantId, knownRoot }: { tenantId: string; knownRoot?: string | undefined },
): Promise<AnchorsReport> {
  const report: AnchorsReport = { count: 0, findings: [] };
  let previous = { number: 0, root: createHash('sha256').update(`${tenantId}/anchors`).digest('hex') };
  let isKnown = false;
  for (;;) {
    const anchors = await read((tx) => anchorsAfter(tx, { after: previous.number, limit: ANCHORS_AT_ONCE }));
    for (const anchor of anchors) {
      const { number, root, anchoredAt } = anchor;
      const what = await anchorProblem(read, anchor, previous);
      if (what !== undefined && report.findings.length === 0) report.findings.push({ anchor: number, what });
      isKnown ||= root === knownRoot?.toLowerCase();
      report.count += 1;
      report.newest = { number, root, anchoredAt };
      previous = anchor;
    }
    if (anchors.length < ANCHORS_AT_ONCE) break;
  }
  const stray = await read(strayAnchor);
  if (stray !== undefined) {
    report.findings.push({ anchor: stray, what: 'its heads are there and it is missing: it was deleted' });
  }
  if (knownRoot !== undefined && !isKnown) {
    report.findings.push({ what: 'none has the root that was written down: they were made anew' });
  }
  return report;
}

async function anchorProblem(
  read: Read,
  anchor: AnchorRow,
  previous: { number: number; root: string },
): Promise<string | undefined> {
  if (anchor.number !== previous.number + 1) return `anchor ${previous.number + 1} before it is missing`;
  const hash = createHash('sha256').update(Buffer.from(previous.root, 'hex'));
  hash.update([anchor.number, anchor.hour, anchor.streams].join('\n'));
  for (let after = ''; ;) {
    const page = { anchor: anchor.number, after, limit: HEADS_AT_ONCE };
    const heads = await read((tx) => headsOfAnchor(tx, page));
    for (const { stream, number, hash: head } of heads) hash.update(`\n${stream} ${number} ${head}`);
    const last = heads.at(-1);
    if (!last || heads.length < HEADS_AT_ONCE) break;
    after = last.stream;
  }
  return hash.digest('hex') === anchor.root ? undefined : 'its root is not that of its heads: it was changed';
}
