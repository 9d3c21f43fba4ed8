// The keys that content is encrypted with. Everybody whose content we hold has a data key of their own (a row of
// data_keys), wrapped by a master key from a file. Whoever destroys the row has erased the person.
//
// The newest master key wraps; older ones still unwrap. What is derived (address and content HMACs, cookie keys) comes from
// the oldest one, because rows are found by it: that key stays in the file as long as the database does.

import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  randomUUID,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';

/** What Prisma takes for a bytea column. */
export type Bytes = Uint8Array<ArrayBuffer>;

export interface MasterKey {
  version: number;
  /** 32 bytes. */
  key: Uint8Array;
}

/** An unwrapped key. A KeyObject, so that neither a log nor an error can show its bytes. */
export interface DataKey {
  readonly id: string;
  readonly secret: KeyObject;
}

/** As it lies in data_keys. */
export interface WrappedKey {
  keyId: string;
  wrapped: Bytes;
  masterVersion: number;
}

/** The key's row says that it was destroyed, or is gone: what was encrypted under it can't be read by anybody any more. */
export class KeyDestroyedError extends Error {
  override readonly name = 'KeyDestroyedError';
  constructor(readonly keyId: string) {
    super(`data key ${keyId} is destroyed`);
  }
}

/** The ciphertext isn't one of ours, was changed, or lies in another place than it was made for. */
export class ContentUnreadableError extends Error {
  override readonly name = 'ContentUnreadableError';
  constructor(readonly place: string) {
    super(`content of ${place} can't be read`);
  }
}

export class MasterKeyFileError extends Error {
  override readonly name = 'MasterKeyFileError';
}

export interface Keyring {
  /** A fresh key and its wrapped form, to be stored before anything is encrypted under it. */
  createDataKey(): { dataKey: DataKey; wrappedKey: WrappedKey };
  wrap(dataKey: DataKey): WrappedKey;
  /** Throws ContentUnreadableError where the master key of that version is missing or the wrapping doesn't fit. */
  unwrap(wrappedKey: { keyId: string; wrapped: Uint8Array; masterVersion: number }): DataKey;
  /** 32 bytes for one purpose (`console session cookies`), the same at every start. */
  derive(purpose: string): Bytes;
  /** Finds an address (a phone number, a chat id) without showing it. */
  hmacAddress(text: string): Bytes;
  /** Tells whether two contents are the same without showing them. */
  hmacContent(text: string): Bytes;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 1;

/** Throws where there is no key, two have the same version, or one hasn't 32 bytes. */
export function createKeyring({ masterKeys }: { masterKeys: readonly MasterKey[] }): Keyring {
  const sorted = masterKeys.toSorted((a, b) => a.version - b.version);
  const oldest = sorted[0];
  const newest = sorted.at(-1);
  if (!oldest || !newest) throw new MasterKeyFileError('there is no master key');
  const secrets = new Map(sorted.map(({ version, key }) => [version, createSecretKey(key)]));
  if (secrets.size < sorted.length) throw new MasterKeyFileError('two master keys have the same version');
  if (sorted.some(({ key }) => key.length !== KEY_BYTES)) {
    throw new MasterKeyFileError(`a master key has to have ${KEY_BYTES} bytes`);
  }
  const derivationSecret = createSecretKey(oldest.key);
  const derive = (purpose: string) => deriveKey(derivationSecret, purpose);
  const addressKey = derive('address lookup');
  const contentKey = derive('content equality');
  const wrappingVersion = newest.version;
  const wrappingSecret = createSecretKey(newest.key);

  const wrap = (dataKey: DataKey): WrappedKey => ({
    keyId: dataKey.id,
    wrapped: sealBytes(wrappingSecret, wrappingContext(dataKey.id, wrappingVersion), dataKey.secret.export()),
    masterVersion: wrappingVersion,
  });

  return {
    createDataKey() {
      const dataKey = { id: randomUUID(), secret: createSecretKey(randomBytes(KEY_BYTES)) };
      return { dataKey, wrappedKey: wrap(dataKey) };
    },
    wrap,
    unwrap({ keyId, wrapped, masterVersion }) {
      const master = secrets.get(masterVersion);
      const bytes = master && openBytes(master, wrappingContext(keyId, masterVersion), wrapped);
      if (bytes?.length !== KEY_BYTES) {
        throw new ContentUnreadableError(`data key ${keyId} (master key ${masterVersion})`);
      }
      return { id: keyId, secret: createSecretKey(bytes) };
    },
    derive,
    hmacAddress: (text) => hmac(addressKey, text),
    hmacContent: (text) => hmac(contentKey, text),
  };
}

function wrappingContext(keyId: string, masterVersion: number): string {
  return `data_keys|${keyId}|${masterVersion}`;
}

/** HKDF-SHA-256: 32 bytes for one purpose. */
export function deriveKey(secret: KeyObject, purpose: string): Bytes {
  return new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), `aroko ${purpose}`, KEY_BYTES));
}

/** HMAC-SHA-256. */
export function hmac(key: Uint8Array, text: string): Bytes {
  return new Uint8Array(createHmac('sha256', key).update(text, 'utf8').digest());
}

/** AES-256-GCM: format byte, nonce, ciphertext, tag. `context` is authenticated and not stored. */
export function sealBytes(secret: KeyObject, context: string, plain: Uint8Array): Bytes {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', secret, nonce);
  cipher.setAAD(Buffer.from(context, 'utf8'));
  return new Uint8Array(
    Buffer.concat([Uint8Array.of(FORMAT), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]),
  );
}

/** What `sealBytes` made; undefined where the key, the context or any byte differs. */
export function openBytes(secret: KeyObject, context: string, sealed: Uint8Array): Bytes | undefined {
  if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== FORMAT) return undefined;
  const tagAt = sealed.length - TAG_BYTES;
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', secret, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context, 'utf8'));
  decipher.setAuthTag(sealed.subarray(tagAt));
  try {
    return new Uint8Array(
      Buffer.concat([decipher.update(sealed.subarray(1 + NONCE_BYTES, tagAt)), decipher.final()]),
    );
  } catch {
    return undefined;
  }
}

/**
 * Reads the master keys: lines of `version:base64`, or one base64 text alone, which is version 1. Throws MasterKeyFileError,
 * whose message says what to do, for a file that others may read, a line of another form, or a key of another length.
 */
export async function readMasterKeys(path: string): Promise<MasterKey[]> {
  const { mode } = await stat(path).catch(() => {
    throw new MasterKeyFileError(`the master key file ${path} can't be opened`);
  });
  if ((mode & 0o077) !== 0) {
    throw new MasterKeyFileError(`the master key file ${path} can be read by others: chmod 600 ${path}`);
  }
  const lines = (await readFile(path, 'utf8')).split('\n').map((line) => line.trim());
  const entries = lines.flatMap((line, index) => (line ? [{ line, number: index + 1 }] : []));
  if (entries.length === 0) throw new MasterKeyFileError(`the master key file ${path} is empty`);
  return entries.map(({ line, number }) => {
    const [, version, base64] = /^(?:(\d{1,9}):)?([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? [];
    const key = base64 === undefined ? undefined : new Uint8Array(Buffer.from(base64, 'base64'));
    if (key?.length !== KEY_BYTES || (version === undefined && entries.length > 1)) {
      throw new MasterKeyFileError(
        `line ${number} of the master key file ${path} isn't ${KEY_BYTES} bytes in base64` +
          (entries.length > 1 ? ' with its version and a colon before' : ''),
      );
    }
    return { version: version === undefined ? 1 : Number(version), key };
  });
}
