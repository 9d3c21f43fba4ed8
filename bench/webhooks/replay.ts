// Posts every webhook of a folder, one after the other, and tells for each file what became of it.
import { withOwnIds, type DataFile } from './data.js';
import { countsOf, idsIn, type Found } from './find.js';
import type { Answer, Posted, Poster } from './post.js';

export interface Replay {
  files: number;
  webhooks: number;
  messages: number;
  statuses: number;
  /** Messages that are in the ledger: stored now, or already there; echoes of ours among them. */
  accepted: number;
  /** Messages that are kept beside the ledger with a code, and files and webhooks that were refused. */
  refused_with_reason: number;
  events: number;
  crashes: number;
  /** Messages of acknowledged webhooks that are neither in the ledger nor kept as an event. */
  lost: number;
  lines: Line[];
  /** Why messages and files were refused, with counts. */
  reasons: Record<string, number>;
  /** Messages that the gateway says are new rows. */
  rows: number;
}

export interface Line {
  file: string;
  /** How many webhooks were found in it. */
  found: number;
  /** What the gateway said became of each. */
  outcomes: string[];
  /** The platform's ids of its messages, as they were posted. */
  ids: string[];
}

const PROBLEMS = {
  not_json: 'it is no JSON',
  too_large: 'it is larger than 100 MB',
  unreadable: 'it can’t be read',
} as const;

export async function replay(
  data: readonly DataFile[],
  poster: Poster,
  onProgress: () => void,
): Promise<Replay> {
  const all = data.flatMap(({ found }) => found);
  const result: Replay = {
    files: data.length,
    webhooks: all.length,
    ...countsOf(all),
    accepted: 0,
    refused_with_reason: 0,
    events: 0,
    crashes: 0,
    lost: 0,
    lines: [],
    reasons: {},
    rows: 0,
  };
  for (const file of data) {
    const line: Line = { file: file.file, found: file.found.length, outcomes: [], ids: [] };
    result.lines.push(line);
    await replayFile(file, { poster, result, line });
    onProgress();
  }
  return result;
}

interface To {
  poster: Poster;
  result: Replay;
  line: Line;
}

async function replayFile({ found, bytes, isWhole, problem }: DataFile, to: To): Promise<void> {
  const { outcomes } = to.line;
  if (problem) outcomes.push(await refuseFile(bytes, problem, to));
  else if (found.length === 0) outcomes.push('no webhook in it');
  for (const one of found) {
    // A file that is one webhook goes out byte for byte: that is what would have been signed.
    const outcome = await replayWebhook(one, isWhole ? bytes : one.webhook, to);
    outcomes.push(one.place === '' ? outcome : `${one.place}: ${outcome}`);
  }
}

/** What isn't JSON is posted all the same: the gateway has to refuse it, and nothing more may happen. */
async function refuseFile(
  bytes: Uint8Array,
  problem: NonNullable<DataFile['problem']>,
  { poster, result }: Omit<To, 'line'>,
): Promise<string> {
  refuse(result, problem);
  if (problem !== 'not_json') return `not posted: ${PROBLEMS[problem]}`;
  const posted = await poster.post(bytes);
  const isRefused = posted.status >= 400 && posted.status < 500;
  if (!isRefused) result.crashes += 1;
  return `${PROBLEMS[problem]}: ${isRefused ? 'refused with' : 'answered with'} ${posted.status}`;
}

async function replayWebhook(found: Found, body: unknown, to: To): Promise<string> {
  const { poster, result, line } = to;
  const posted = await postSafely(poster, body);
  if (posted === undefined) {
    refuse(result, 'too_deep');
    return 'not posted: it is nested too deep to be written as JSON';
  }
  const { status, answer, problem } = posted;
  const expected = countsOf([found]).messages;
  if (status === 200 && answer) {
    if (expected > 0 && answer.refused['conflict'] === expected && inLedger(answer) === 0)
      return replayUnderOwnIds(found, answer, to);
    line.ids.push(...idsIn([found]));
    count(result, answer, expected);
    return inWords(answer);
  }
  if (status >= 400 && status < 500) {
    refuse(result, `http_${status}`, Math.max(1, expected));
    return `refused with ${status}: ${problem ?? 'no reason given'}`;
  }
  result.crashes += 1;
  return status === 0 ? 'no answer' : `answered with ${status}`;
}

/** Its ids are those of other messages of the folder, which the gateway rightly refuses: it is posted as a message of its own. */
async function replayUnderOwnIds(found: Found, first: Answer, { poster, result, line }: To): Promise<string> {
  const own = withOwnIds(found, `own${result.lines.length}-${line.outcomes.length}`);
  const posted = await postSafely(poster, own.webhook);
  if (posted?.status !== 200 || !posted.answer) {
    result.crashes += 1;
    return `${inWords(first)}; under an id of its own: answered with ${posted?.status ?? 'nothing'}`;
  }
  result.events += first.events;
  line.ids.push(...idsIn([own]));
  count(result, posted.answer, countsOf([found]).messages);
  return `${inWords(first)}; under an id of its own: ${inWords(posted.answer)}`;
}

async function postSafely(poster: Poster, body: unknown): Promise<Posted | undefined> {
  try {
    return await poster.post(body);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function count(result: Replay, answer: Answer, expected: number): void {
  result.accepted += inLedger(answer);
  result.rows += answer.accepted + answer.stored;
  result.events += answer.events;
  for (const [code, many] of Object.entries(answer.refused)) refuse(result, code, many);
  const refused = Object.values(answer.refused).reduce((sum, many) => sum + many, 0);
  const missing = expected - inLedger(answer) - refused;
  if (missing <= 0) return;
  // What has no form that can be taken apart is kept whole, as one event.
  if (answer.events > refused + answer.statusesUnmatched) refuse(result, 'kept_as_event', missing);
  else result.lost += missing;
}

function inLedger({ accepted, stored, duplicates, echoes }: Answer): number {
  return accepted + stored + duplicates + echoes;
}

function refuse(result: Replay, reason: string, many = 1): void {
  result.refused_with_reason += many;
  result.reasons[reason] = (result.reasons[reason] ?? 0) + many;
}

function inWords(answer: Answer): string {
  const parts: [string, number][] = [
    ['waiting for a turn', answer.accepted],
    ['stored and settled', answer.stored],
    ['here already', answer.duplicates],
    ['words of ours', answer.echoes],
    ['reports', answer.statuses - answer.statusesUnmatched],
    ['reports about others', answer.statusesUnmatched],
    ...Object.entries(answer.refused).map(([code, many]): [string, number] => [`kept aside (${code})`, many]),
    ['events', answer.events],
  ];
  const told = parts.filter(([, many]) => many > 0).map(([what, many]) => `${many} ${what}`);
  return told.length > 0 ? told.join(', ') : 'acknowledged, nothing in it';
}
