// Everything an installation has written down, taken apart far enough that a text can't hide in it: files as bytes, rows
// as JSON, Temporal's histories with their payloads opened.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Client, Connection } from '@temporalio/client';
import type { Installation } from './installation.js';

/** A piece of a dump: where it was found, and its bytes. */
export interface Piece {
  where: string;
  bytes: Buffer;
}

/** The places in which a text is found, written plainly, as base64 at any offset, as hex, or as UTF-16. */
export function placesOf(text: string, pieces: Piece[]): string[] {
  const forms = formsOf(text);
  return pieces.filter(({ bytes }) => forms.some((form) => bytes.includes(form))).map(({ where }) => where);
}

function formsOf(text: string): Buffer[] {
  const plain = Buffer.from(text, 'utf8');
  // Base64 works in groups of three bytes: of each possible offset only what doesn't depend on the neighbours.
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), plain])
      .toString('base64')
      .slice(offset === 0 ? 0 : 4)
      .replace(/=+$/, '')
      .slice(0, -2),
  );
  const hex = plain.toString('hex');
  return [
    plain,
    Buffer.from(text, 'utf16le'),
    ...[hex, hex.toUpperCase(), ...base64].map((form) => Buffer.from(form, 'latin1')),
  ];
}

/** Every file below the data directory, among them the logs, Temporal's database and the files of Postgres. */
export function filesOf(directory: string): Piece[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      try {
        return [{ where: path.slice(directory.length + 1), bytes: readFileSync(path) }];
      } catch {
        // Postgres removes files of its own while we read.
        return [];
      }
    });
}

/** Every row of every table of our database, as the superuser reads them. */
export async function rowsOf(installation: Installation): Promise<Piece[]> {
  const tables = await installation.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const pieces = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await installation.query<{ row: unknown }>(`select to_jsonb(t) as row from ${name} t`);
      return rows.flatMap(({ row }, index) => opened(row, `${name}[${index}]`));
    }),
  );
  return pieces.flat();
}

/** Every workflow that Temporal knows: its history, and what it tells about it (memo, summary, details). */
export async function workflowsOf(installation: Installation): Promise<Piece[]> {
  const connection = await Connection.connect({ address: installation.facts().addresses.temporal });
  try {
    const client = new Client({ connection });
    const pieces: Piece[] = [];
    for await (const { workflowId, runId } of client.workflow.list()) {
      const handle = client.workflow.getHandle(workflowId, runId);
      const [history, description] = await Promise.all([handle.fetchHistory(), handle.describe()]);
      pieces.push(
        ...opened(history, workflowId),
        ...opened(description.raw, workflowId),
        ...opened(workflowId, 'ids'),
      );
    }
    return pieces;
  } finally {
    await connection.close();
  }
}

/** All texts and bytes inside a value; bytes that were written as hex, base64 or compressed are opened as well. */
function opened(value: unknown, where: string): Piece[] {
  if (typeof value === 'string')
    return [{ where, bytes: Buffer.from(value, 'utf8') }, ...decoded(value, where)];
  if (value instanceof Uint8Array) return openedBytes(Buffer.from(value), where);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    { where: `${where}.${key}`, bytes: Buffer.from(key, 'utf8') },
    ...opened(member, `${where}.${key}`),
  ]);
}

function decoded(text: string, where: string): Piece[] {
  if (/^\\x([0-9a-f]{2})+$/.test(text)) return openedBytes(Buffer.from(text.slice(2), 'hex'), where);
  if (/^[A-Za-z0-9+/]{16,}={0,2}$/.test(text)) return openedBytes(Buffer.from(text, 'base64'), where);
  return [];
}

function openedBytes(bytes: Buffer, where: string): Piece[] {
  const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return [
    { where, bytes },
    ...(isCompressed ? [{ where: `${where} (gzip)`, bytes: gunzipSync(bytes) }] : []),
  ];
}
