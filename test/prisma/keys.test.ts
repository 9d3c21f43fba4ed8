import { strict as assert } from 'node:assert';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { decrypt, encrypt } from '../../prisma/content.js';
import {
  ContentUnreadableError,
  createKeyring,
  MasterKeyFileError,
  readMasterKeys,
} from '../../prisma/keys.js';

const master = (version: number) => ({ version, key: new Uint8Array(randomBytes(32)) });

describe('encryption of content', () => {
  const keyring = createKeyring({ masterKeys: [master(1)] });
  const key = keyring.createDataKey().dataKey;
  const place = { table: 'inbox', column: 'content_cipher', rowId: randomUUID() };
  const text = 'Cumartesi 10:30 uygun mu? 🐈';
  const cipher = encrypt({ key, ...place, plaintext: text });

  it('gives back what was put in: text, bytes and nothing at all', () => {
    assert.equal(Buffer.from(decrypt({ key, ...place, cipher })).toString(), text);
    const bytes = new Uint8Array(randomBytes(1000));
    assert.deepEqual(decrypt({ key, ...place, cipher: encrypt({ key, ...place, plaintext: bytes }) }), bytes);
    assert.equal(decrypt({ key, ...place, cipher: encrypt({ key, ...place, plaintext: '' }) }).length, 0);
  });

  it('never makes the same ciphertext twice, and shows nothing of the text', () => {
    assert.notDeepEqual(encrypt({ key, ...place, plaintext: text }), cipher);
    assert.ok(!Buffer.from(cipher).includes('Cumartesi'));
    assert.equal(cipher.length, 1 + 12 + Buffer.byteLength(text) + 16);
  });

  it('fails when any one byte is changed, cut off or added', () => {
    for (let index = 0; index < cipher.length; index += 1) {
      const changed = cipher.with(index, (cipher[index] ?? 0) ^ 1);
      assert.throws(
        () => decrypt({ key, ...place, cipher: changed }),
        ContentUnreadableError,
        `byte ${index}`,
      );
    }
    for (const wrong of [
      cipher.subarray(0, -1),
      cipher.subarray(1),
      Uint8Array.of(...cipher, 0),
      new Uint8Array(),
    ]) {
      assert.throws(() => decrypt({ key, ...place, cipher: wrong }), ContentUnreadableError);
    }
  });

  it('fails in another table, column or row, and under another key or key id', () => {
    const other = keyring.createDataKey().dataKey;
    for (const changed of [
      { table: 'outbox' },
      { column: 'because_cipher' },
      { rowId: randomUUID() },
      { key: other },
    ]) {
      assert.throws(() => decrypt({ key, ...place, cipher, ...changed }), ContentUnreadableError);
    }
    assert.throws(() => decrypt({ key: { ...key, id: other.id }, ...place, cipher }), ContentUnreadableError);
  });

  it('names the place in its error, and neither content nor key', () => {
    try {
      decrypt({ key, ...place, cipher: cipher.with(20, 0) });
      assert.fail('it was read');
    } catch (error) {
      assert.ok(error instanceof ContentUnreadableError);
      assert.equal(error.message, `content of inbox.content_cipher of ${place.rowId} can't be read`);
      assert.equal(error.cause, undefined);
    }
    assert.ok(!inspect(key, { depth: 9 }).includes(key.secret.export().toString('hex')));
    assert.equal(JSON.stringify(key), JSON.stringify({ id: key.id, secret: {} }));
  });
});

describe('the keyring', () => {
  const [first, second] = [master(1), master(2)];
  const keyring = createKeyring({ masterKeys: [first] });

  it('unwraps what it wrapped, and nothing that was changed or belongs to another key', () => {
    const { dataKey, wrappedKey } = keyring.createDataKey();
    assert.ok(keyring.unwrap(wrappedKey).secret.equals(dataKey.secret));
    const { wrapped } = wrappedKey;
    for (const changed of [
      { keyId: randomUUID() },
      { masterVersion: 2 },
      { wrapped: wrapped.with(30, (wrapped[30] ?? 0) ^ 1) },
      { wrapped: wrapped.subarray(0, 20) },
    ]) {
      assert.throws(() => keyring.unwrap({ ...wrappedKey, ...changed }), ContentUnreadableError);
    }
    assert.throws(
      () => createKeyring({ masterKeys: [master(1)] }).unwrap(wrappedKey),
      ContentUnreadableError,
    );
  });

  it('wraps by the newest master key, unwraps by older ones, and finds the same rows after a rotation', () => {
    const old = keyring.createDataKey();
    const rotated = createKeyring({ masterKeys: [second, first] });
    const unwrapped = rotated.unwrap(old.wrappedKey);
    assert.ok(unwrapped.secret.equals(old.dataKey.secret));
    assert.equal(rotated.wrap(unwrapped).masterVersion, 2);
    assert.ok(rotated.unwrap(rotated.wrap(unwrapped)).secret.equals(old.dataKey.secret));
    assert.deepEqual(rotated.hmacAddress('anna'), keyring.hmacAddress('anna'));
    assert.deepEqual(rotated.derive('cookies'), keyring.derive('cookies'));
  });

  it('derives a key of its own for every purpose', () => {
    const made = [
      keyring.derive('cookies'),
      keyring.derive('links'),
      keyring.hmacAddress('anna'),
      keyring.hmacContent('anna'),
      keyring.hmacContent('Anna'),
      createKeyring({ masterKeys: [second] }).hmacAddress('anna'),
    ].map((bytes) => Buffer.from(bytes).toString('hex'));
    assert.equal(new Set(made).size, made.length);
    assert.ok(made.every((hex) => hex.length === 64));
  });

  it('refuses none, two of one version, and a short one', () => {
    assert.throws(() => createKeyring({ masterKeys: [] }), MasterKeyFileError);
    assert.throws(
      () => createKeyring({ masterKeys: [first, { ...second, version: 1 }] }),
      /the same version/,
    );
    assert.throws(() => createKeyring({ masterKeys: [{ version: 1, key: new Uint8Array(16) }] }), /32 bytes/);
  });
});

describe('the master key file', () => {
  let folder: string;
  let path: string;
  const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const read = async (text: string, mode = 0o600) => {
    await writeFile(path, text);
    await chmod(path, mode);
    return readMasterKeys(path);
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aroko-master-key-'));
    path = join(folder, 'master-key');
  });
  after(() => rm(folder, { recursive: true }));

  it('holds one key alone, which is version 1, or several with their versions', async () => {
    assert.deepEqual(await read(first), [{ version: 1, key: new Uint8Array(Buffer.from(first, 'base64')) }]);
    const both = await read(`1:${first}\n2:${second}\n\n`);
    assert.deepEqual(
      both.map(({ version, key }) => [version, Buffer.from(key).toString('base64')]),
      [
        [1, first],
        [2, second],
      ],
    );
  });

  it('is refused when others may read it, with the command that mends it', async () => {
    for (const mode of [0o640, 0o604, 0o620]) {
      await assert.rejects(read(first, mode), { name: 'MasterKeyFileError', message: /chmod 600/ });
    }
  });

  it('is refused when it is missing, empty or of another form, and its content is never told', async () => {
    await assert.rejects(readMasterKeys(join(folder, 'nowhere')), /can't be opened/);
    await assert.rejects(read('\n'), /is empty/);
    await assert.rejects(read(first.slice(0, 20)), /line 1 .* isn't 32 bytes in base64/);
    await assert.rejects(read(`1:${first}\n${second}`), /line 2 .* with its version and a colon/);
    await assert.rejects(read(`1:${first}\n2:not base64!`), (error) => {
      assert.ok(error instanceof MasterKeyFileError);
      assert.ok(!error.message.includes('not base64') && !error.message.includes(first));
      return true;
    });
  });
});
