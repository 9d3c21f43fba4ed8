// What every store function gets first: one tenant's transaction and the means to read and write its content.
import type { ContentCipher } from '../content.js';
import type { Database, Tx } from '../database.js';
import { ContentUnreadableError, KeyDestroyedError } from '../keys.js';

export interface Scope {
  tx: Tx;
  tenantId: string;
  content: ContentCipher;
}

/** Opens a transaction as a scope. */
export type InScope = <Result>(tenantId: string, work: (scope: Scope) => Promise<Result>) => Promise<Result>;

export function createInScope(database: Database, content: ContentCipher): InScope {
  return (tenantId, work) => database.inTenant(tenantId, (tx) => work({ tx, tenantId, content }));
}

/** Opens text that may be absent: a message without content, or a row from before its column was used. */
export async function openOptional(
  scope: Scope,
  sealed: { table: string; column: string; rowId: string; keyId: string | null; cipher: Uint8Array | null },
): Promise<string | undefined> {
  const { keyId, cipher, ...place } = sealed;
  if (keyId === null || cipher === null) return undefined;
  return scope.content.openText(scope.tx, scope.tenantId, { ...place, keyId, cipher });
}

/** The same, where a row that nobody can read any more (erased, or broken) must spoil nothing around it. */
export async function readable(
  scope: Scope,
  sealed: Parameters<typeof openOptional>[1],
): Promise<string | undefined> {
  try {
    return await openOptional(scope, sealed);
  } catch (error) {
    if (error instanceof KeyDestroyedError || error instanceof ContentUnreadableError) return undefined;
    throw error;
  }
}

/** What a message says, of a row of the inbox or the outbox. Undefined: nobody can read it any more. */
export function contentOf(
  scope: Scope,
  table: 'inbox' | 'outbox',
  row: { id: string; keyId: string | null; contentCipher: Uint8Array | null },
): Promise<string | undefined> {
  return readable(scope, {
    table,
    column: 'content_cipher',
    rowId: row.id,
    keyId: row.keyId,
    cipher: row.contentCipher,
  });
}

/** The same for the rows of a list, in their order: the keys of all of them are one round trip. */
export async function readableTogether(
  scope: Scope,
  sealed: readonly Parameters<typeof openOptional>[1][],
): Promise<(string | undefined)[]> {
  const keyIds = sealed.flatMap(({ keyId, cipher }) => (keyId === null || cipher === null ? [] : [keyId]));
  const usable =
    keyIds.length === 0 ? new Set() : await scope.content.usableKeys(scope.tx, scope.tenantId, keyIds);
  return inOrder(sealed, async (one) => (usable.has(one.keyId) ? readable(scope, one) : undefined));
}

/** One after the other: a transaction has one connection, and reading a row may have to fetch its key. */
export async function inOrder<Row, Result>(
  rows: readonly Row[],
  read: (row: Row) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const row of rows) results.push(await read(row));
  return results;
}

/** Tells listeners (pages, event streams) that something of this chat has changed; goes out with the commit. */
export async function notify(
  scope: Scope,
  change: { chatId: string; what: 'inbox' | 'outbox' | 'approval' | 'run' },
): Promise<void> {
  const payload = JSON.stringify({ tenant: scope.tenantId, chat: change.chatId, what: change.what });
  await scope.tx.$queryRaw`select pg_notify('aroko_changes', ${payload})::text`;
}
