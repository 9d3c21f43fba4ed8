// Posts every webhook of a folder, one after the other, and tells for each file what became of it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { countsOf, idsIn, numbersIn, webhooksIn, type Found } from './find.js';
import type { Answer, Poster } from './post.js';

export interface DataFile {
  file: string;
  found: Found[];
  isJson: boolean;
}

export interface Replay {
  files: number;
  webhooks: number;
  messages: number;
  statuses: number;
  /** Messages that are in the ledger: stored now, or already there; echoes of ours among them. */
  accepted: number;
  refused_with_reason: number;
  events: number;
  crashes: number;
  /** For each file how many webhooks were found in it, and what became of each. */
  lines: { file: string; found: number; outcomes: string[] }[];
  /** Why messages and files were refused, with counts. */
  reasons: Record<string, number>;
  /** Messages that the gateway says are new rows. */
  rows: number;
}

/** The JSON files below a folder, by name. Files of other kinds (licences, tables) aren't data. */
export function readData(directory: string): DataFile[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => {
      let json: unknown;
      try {
        json = JSON.parse(readFileSync(join(directory, file), 'utf8'));
      } catch {
        return { file, found: [], isJson: false };
      }
      return { file, found: webhooksIn(json), isJson: true };
    });
}

/** Numbers that a business can have; placeholders of a documentation aren't. */
export function numbersOf(data: readonly DataFile[]): string[] {
  const ids = numbersIn(data.flatMap(({ found }) => found));
  return [...ids].filter((id) => /^\d{5,20}$/.test(id)).sort();
}

const jsonObject = z.record(z.string(), z.unknown());

/** Recorded samples use ids again for other messages; with ids of its own each webhook is taken for itself. */
export function withOwnIds(data: readonly DataFile[]): DataFile[] {
  let count = 0;
  return data.map(({ found, ...file }) => ({
    ...file,
    found: found.map(({ place, webhook }) => {
      count += 1;
      const text = idsIn([{ place, webhook }]).reduce(
        (json, id) => json.replaceAll(JSON.stringify(id), JSON.stringify(`${id}.${count}`)),
        JSON.stringify(webhook),
      );
      return { place, webhook: jsonObject.parse(JSON.parse(text)) };
    }),
  }));
}

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
    lines: [],
    reasons: {},
    rows: 0,
  };
  const refuse = (reason: string, count = 1): void => {
    result.refused_with_reason += count;
    result.reasons[reason] = (result.reasons[reason] ?? 0) + count;
  };

  for (const { file, found, isJson } of data) {
    const outcomes: string[] = [];
    result.lines.push({ file, found: found.length, outcomes });
    if (!isJson) {
      refuse('not_json');
      outcomes.push('refused: it is no JSON');
    }
    for (const { place, webhook } of found) {
      const tell = (outcome: string) => outcomes.push(place === '' ? outcome : `${place}: ${outcome}`);
      const { status, answer, problem } = await poster.post(webhook);
      if (status === 200 && answer) {
        const { accepted, stored, duplicates, echoes } = answer;
        result.accepted += accepted + stored + duplicates + echoes;
        result.rows += accepted + stored;
        result.events += answer.events;
        for (const [code, count] of Object.entries(answer.refused)) refuse(code, count);
        tell(inWords(answer));
      } else if (status >= 400 && status < 500) {
        refuse(`http_${status}`, Math.max(1, countsOf([{ place, webhook }]).messages));
        tell(`refused with ${status}: ${problem ?? 'no reason given'}`);
      } else {
        result.crashes += 1;
        tell(status === 0 ? 'no answer' : `answered with ${status}`);
      }
    }
    onProgress();
  }
  return result;
}

function inWords(answer: Answer): string {
  const parts: [string, number][] = [
    ['waiting for a turn', answer.accepted],
    ['stored', answer.stored],
    ['here already', answer.duplicates],
    ['words of ours', answer.echoes],
    ['reports', answer.statuses - answer.statusesUnmatched],
    ['reports about others', answer.statusesUnmatched],
    ...Object.entries(answer.refused).map(([code, count]): [string, number] => [
      `kept aside (${code})`,
      count,
    ]),
    ['events', answer.events],
  ];
  return parts
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
}
