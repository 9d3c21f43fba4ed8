// Addresses of chats, as pages and the API show them.
import { readable, type Scope } from '../scope.js';

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
