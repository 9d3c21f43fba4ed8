// What pages and the API show of encrypted content. A row whose key was destroyed, or that can't be opened, shows as
// erased and spoils nothing around it.
import { ContentUnreadableError, KeyDestroyedError } from '../../keys.js';
import { openOptional, type Scope } from '../scope.js';

export interface SealedColumn {
  table: string;
  column: string;
  rowId: string;
  keyId: string | null;
  cipher: Uint8Array | null;
}

/** Undefined: there is no text, or nobody can read it any more. */
export async function readable(scope: Scope, sealed: SealedColumn): Promise<string | undefined> {
  try {
    return await openOptional(scope, sealed);
  } catch (error) {
    if (error instanceof KeyDestroyedError || error instanceof ContentUnreadableError) return undefined;
    throw error;
  }
}

interface AddressRow {
  id: string;
  keyId: string | null;
  addressCipher: Uint8Array | null;
}

/** Addresses of chats by chat id; a chat whose contact was erased is missing. */
export async function addressesOf(scope: Scope, chatIds: readonly string[]): Promise<Map<string, string>> {
  const rows: AddressRow[] = await scope.tx.chat.findMany({
    where: { id: { in: [...new Set(chatIds)] } },
    select: { id: true, keyId: true, addressCipher: true },
  });
  const addresses = new Map<string, string>();
  for (const row of rows) {
    const address = await readable(scope, {
      table: 'chats',
      column: 'address_cipher',
      rowId: row.id,
      keyId: row.keyId,
      cipher: row.addressCipher,
    });
    if (address !== undefined) addresses.set(row.id, address);
  }
  return addresses;
}

/** One after the other: a transaction has one connection, and after the first row the key is in memory. */
export async function inOrder<Row, View>(
  rows: readonly Row[],
  viewOf: (row: Row) => Promise<View>,
): Promise<View[]> {
  const views: View[] = [];
  for (const row of rows) views.push(await viewOf(row));
  return views;
}
