// The files of a folder of webhooks, whatever else lies in it.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { idsIn, numbersIn, webhooksIn, type Found } from './find.js';

export interface DataFile {
  /** Below the folder. */
  file: string;
  found: Found[];
  /** The file as it is: posted so where it is one webhook or no JSON at all. */
  bytes: Uint8Array;
  /** Why nothing was found in it; absent: it is JSON, and was looked through. */
  problem?: 'not_json' | 'too_large' | 'unreadable';
  /** The whole file is one webhook and nothing else. */
  isWhole: boolean;
}

/** Thirty webhooks of the largest kind that the platform sends. */
const LARGEST_BYTES = 100 * 1024 * 1024;
/** As many numbers as one business may have, beside that of the load. */
const MOST_NUMBERS = 199;

/** The JSON files below a folder, by name; files of other kinds (licences, tables) aren't data. Or one file. */
export function readData(path: string): DataFile[] {
  if (!statSync(path).isDirectory()) return [readFile(path, path)];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.json$/i.test(file) && !isDirectory(join(path, file)))
    .sort()
    .map((file) => readFile(join(path, file), file));
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function readFile(path: string, file: string): DataFile {
  const nothing = { file, found: [], bytes: new Uint8Array(), isWhole: false };
  try {
    if (statSync(path).size > LARGEST_BYTES) return { ...nothing, problem: 'too_large' };
    const bytes = readFileSync(path);
    return { ...nothing, bytes, ...readJson(bytes) };
  } catch {
    return { ...nothing, problem: 'unreadable' };
  }
}

function readJson(bytes: Buffer): Pick<DataFile, 'found' | 'isWhole'> | { problem: 'not_json' } {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return { problem: 'not_json' };
  }
  const found = webhooksIn(json);
  const [first, second] = found;
  const isWhole =
    second === undefined && first?.place === '' && hasNoOtherKeys(json, Object.keys(first.webhook));
  return { found, isWhole };
}

function hasNoOtherKeys(json: unknown, keys: string[]): boolean {
  return typeof json === 'object' && json !== null && Object.keys(json).every((key) => keys.includes(key));
}

/** Numbers that a business can have; placeholders of a documentation aren't. */
export function numbersOf(data: readonly DataFile[]): string[] {
  const ids = numbersIn(data.flatMap(({ found }) => found));
  return [...ids]
    .filter((id) => /^\d{5,20}$/.test(id))
    .sort()
    .slice(0, MOST_NUMBERS);
}

const jsonObject = z.record(z.string(), z.unknown());

/** The same webhook with ids of its own: recorded samples use ids again for other messages. */
export function withOwnIds({ place, webhook }: Found, mark: string): Found {
  const text = idsIn([{ place, webhook }]).reduce(
    (json, id) => json.replaceAll(JSON.stringify(id), JSON.stringify(`${id}.${mark}`)),
    JSON.stringify(webhook),
  );
  return { place, webhook: jsonObject.parse(JSON.parse(text)) };
}
