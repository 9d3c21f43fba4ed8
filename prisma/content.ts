// Content at rest. Everything that people or models wrote lies in a …_cipher column, encrypted under the key that the row
// names in key_id, and bound to its place: a ciphertext moved to another row, column or key can't be opened.

import type { Tx } from './database.js';
import { Prisma } from './generated/client.js';
import {
  ContentUnreadableError,
  KeyDestroyedError,
  deriveKey,
  hmac,
  openBytes,
  sealBytes,
  type Bytes,
  type DataKey,
  type Keyring,
} from './keys.js';

/** Where a ciphertext lies: SQL names, as in the migration. */
export interface Place {
  table: string;
  column: string;
  rowId: string;
}

/** Encrypts for one place, under one key. */
export function encrypt({
  key,
  plaintext,
  ...place
}: Place & { key: DataKey; plaintext: string | Uint8Array }): Bytes {
  const plain = typeof plaintext === 'string' ? Buffer.from(plaintext, 'utf8') : plaintext;
  return sealBytes(key.secret, contextOf(place, key.id), plain);
}

/** The reverse. Throws ContentUnreadableError, which names the place and nothing of the content. */
export function decrypt({ key, cipher, ...place }: Place & { key: DataKey; cipher: Uint8Array }): Bytes {
  const plain = openBytes(key.secret, contextOf(place, key.id), cipher);
  if (!plain) throw new ContentUnreadableError(`${place.table}.${place.column} of ${place.rowId}`);
  return plain;
}

function contextOf({ table, column, rowId }: Place, keyId: string): string {
  return `${table}|${rowId}|${column}|${keyId}`;
}

type Sealed = Place & { keyId: string; cipher: Uint8Array };

export interface ContentCipher {
  /** For what has no tenant's transaction yet: the gateway's first message of a contact. */
  readonly keyring: Keyring;
  /** The key of a row's key_id, for reading. Throws KeyDestroyedError. */
  dataKeyById(tx: Tx, tenantId: string, keyId: string): Promise<DataKey>;
  /** Which of these keys still work: one round trip for all, and then they are at hand for the rows of a list. */
  usableKeys(tx: Tx, tenantId: string, keyIds: readonly string[]): Promise<Set<string>>;
  /** The contact's live key, for writing; made in this transaction where there is none. An erasure waits for the commit. */
  keyOfContact(tx: Tx, tenantId: string, contactId: string): Promise<DataKey>;
  /** The tenant's own key, for content that is about no person. */
  tenantKey(tx: Tx, tenantId: string): Promise<DataKey>;
  sealText(key: DataKey, content: Place & { text: string }): Bytes;
  seal(key: DataKey, content: Place & { bytes: Uint8Array }): Bytes;
  /** Throws KeyDestroyedError, ContentUnreadableError. */
  openText(tx: Tx, tenantId: string, content: Sealed): Promise<string>;
  open(tx: Tx, tenantId: string, content: Sealed): Promise<Bytes>;
  hmacAddress(text: string): Bytes;
  hmacContent(text: string): Bytes;
  /** Equality of requests (tool and canonical arguments) under the person's key: it means nothing once that is destroyed. */
  requestKeyOf(key: DataKey, text: string): Bytes;
}

interface KeyRow {
  id: string;
  wrapped: Uint8Array | null;
  masterVersion: number;
}

/**
 * Unwrapped keys are kept in memory for `cacheTtlMs` at most, counted from when their row was read: an erased key stops
 * working in every process within that time. `maxKeys` bounds how many.
 */
export function createContentCipher({
  keyring,
  cacheTtlMs = 60_000,
  maxKeys = 5000,
  now = Date.now,
}: {
  keyring: Keyring;
  cacheTtlMs?: number;
  maxKeys?: number;
  now?: () => number;
}): ContentCipher {
  const unwrapped = createKeyCache({ ttlMs: cacheTtlMs, maxKeys, now });

  function unwrap(tenantId: string, row: KeyRow): DataKey {
    const known = unwrapped.get(tenantId, row.id);
    if (known) return known;
    if (!row.wrapped) throw new KeyDestroyedError(row.id);
    const key = keyring.unwrap({ keyId: row.id, wrapped: row.wrapped, masterVersion: row.masterVersion });
    unwrapped.set(tenantId, key);
    return key;
  }

  /**
   * Which key is live is read every time, and only its bytes are cached: a transaction that made one may still roll back,
   * and nothing may be written under a key that was destroyed in another process.
   */
  async function liveKey(tx: Tx, tenantId: string, contactId: string | null): Promise<DataKey> {
    const found = await selectLiveKey(tx, tenantId, contactId);
    if (found) return unwrap(tenantId, found);
    const { wrappedKey } = keyring.createDataKey();
    await tx.$executeRaw`
      insert into data_keys (id, tenant_id, contact_id, master_version, wrapped)
      values (${wrappedKey.keyId}::uuid, ${tenantId}::uuid, ${contactId}::uuid, ${wrappedKey.masterVersion}::int, ${wrappedKey.wrapped})
      on conflict do nothing`;
    // Ours, or that of another transaction which was faster and has been waited for.
    const made = await selectLiveKey(tx, tenantId, contactId);
    if (!made) throw new KeyDestroyedError(wrappedKey.keyId);
    return unwrap(tenantId, made);
  }

  async function dataKeyById(tx: Tx, tenantId: string, keyId: string): Promise<DataKey> {
    const known = unwrapped.get(tenantId, keyId);
    if (known) return known;
    const row = await tx.dataKey.findUnique({
      where: { id: keyId },
      select: { id: true, wrapped: true, masterVersion: true },
    });
    if (!row) throw new KeyDestroyedError(keyId);
    return unwrap(tenantId, row);
  }

  async function usableKeys(tx: Tx, tenantId: string, keyIds: readonly string[]): Promise<Set<string>> {
    const wanted = [...new Set(keyIds)];
    const usable = new Set(wanted.filter((keyId) => unwrapped.get(tenantId, keyId) !== undefined));
    const missing = wanted.filter((keyId) => !usable.has(keyId));
    if (missing.length === 0) return usable;
    const rows = await tx.dataKey.findMany({
      where: { id: { in: missing } },
      select: { id: true, wrapped: true, masterVersion: true },
    });
    for (const row of rows) if (row.wrapped) usable.add(unwrap(tenantId, row).id);
    return usable;
  }

  const open = async (tx: Tx, tenantId: string, { keyId, ...sealed }: Sealed) =>
    decrypt({ key: await dataKeyById(tx, tenantId, keyId), ...sealed });

  return {
    keyring,
    dataKeyById,
    usableKeys,
    keyOfContact: liveKey,
    tenantKey: (tx, tenantId) => liveKey(tx, tenantId, null),
    sealText: (key, { text, ...place }) => encrypt({ key, ...place, plaintext: text }),
    seal: (key, { bytes, ...place }) => encrypt({ key, ...place, plaintext: bytes }),
    openText: async (tx, tenantId, sealed) => Buffer.from(await open(tx, tenantId, sealed)).toString('utf8'),
    open,
    hmacAddress: (text) => keyring.hmacAddress(text),
    hmacContent: (text) => keyring.hmacContent(text),
    requestKeyOf: (key, text) => hmac(deriveKey(key.secret, 'request equality'), text),
  };
}

async function selectLiveKey(
  tx: Tx,
  tenantId: string,
  contactId: string | null,
): Promise<KeyRow | undefined> {
  const whose =
    contactId === null ? Prisma.sql`contact_id is null` : Prisma.sql`contact_id = ${contactId}::uuid`;
  const rows = await tx.$queryRaw<KeyRow[]>`
    select id, wrapped, master_version as "masterVersion" from data_keys
    where tenant_id = ${tenantId}::uuid and ${whose} and destroyed_at is null
    for share`;
  return rows[0];
}

/** Keys per tenant, so that no tenant's transaction gets another's key out of memory; the oldest entry goes first. */
function createKeyCache({ ttlMs, maxKeys, now }: { ttlMs: number; maxKeys: number; now: () => number }) {
  const entries = new Map<string, { key: DataKey; expiresAt: number }>();
  return {
    get(tenantId: string, keyId: string): DataKey | undefined {
      const name = `${tenantId}|${keyId}`;
      const entry = entries.get(name);
      if (!entry || entry.expiresAt > now()) return entry?.key;
      entries.delete(name);
      return undefined;
    },
    set(tenantId: string, key: DataKey): void {
      const name = `${tenantId}|${key.id}`;
      entries.delete(name);
      entries.set(name, { key, expiresAt: now() + ttlMs });
      const oldest = entries.keys().next();
      if (entries.size > maxKeys && !oldest.done) entries.delete(oldest.value);
    },
  };
}
