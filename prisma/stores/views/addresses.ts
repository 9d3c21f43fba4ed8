// Addresses of chats as people read them: in messages to whoever sits behind the desk.
import { readable, type Scope } from '../scope.js';

interface AddressRow {
  id: string;
  keyId: string | null;
  addressCipher: Uint8Array | null;
  addressKind: string | null;
  account: { channel: string };
}

/** By chat id; a number as one dials it. A chat whose contact was erased is missing. */
export async function addressesOf(scope: Scope, chatIds: readonly string[]): Promise<Map<string, string>> {
  const rows: AddressRow[] = await scope.tx.chat.findMany({
    where: { id: { in: [...new Set(chatIds)] } },
    select: {
      id: true,
      keyId: true,
      addressCipher: true,
      addressKind: true,
      account: { select: { channel: true } },
    },
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
    if (address !== undefined) addresses.set(row.id, isNumber(row, address) ? `+${address}` : address);
  }
  return addresses;
}

function isNumber({ account, addressKind }: AddressRow, address: string): boolean {
  return account.channel !== 'web' && (addressKind ?? 'phone') === 'phone' && /^\d+$/.test(address);
}
