import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { createContentCipher, type ContentCipher } from '../../prisma/content.js';
import { openDatabase, type Database, type Tx } from '../../prisma/database.js';
import { KeyDestroyedError } from '../../prisma/keys.js';
import { freshDatabase } from '../support/postgres.js';
import { addTenant, testKeyring } from '../support/tenants.js';

const CACHE_TTL_MS = 60_000;

describe('content in the database', () => {
  const keyring = testKeyring();
  let database: Database;
  let tenantId: string;
  let contactId: string;
  let clock: number;
  let content: ContentCipher;

  before(async () => {
    database = openDatabase({ url: (await freshDatabase()).applicationUrl, poolSize: 8 });
  });
  after(() => database.close());
  beforeEach(async () => {
    clock = 0;
    content = createContentCipher({ keyring, cacheTtlMs: CACHE_TTL_MS, now: () => clock });
    ({ tenantId } = await addTenant(database));
    contactId = randomUUID();
    await inTenant((tx) => tx.contact.create({ data: { id: contactId, tenantId, kind: 'person' } }));
  });

  const inTenant = <Result>(work: (tx: Tx) => Promise<Result>) => database.inTenant(tenantId, work);
  const place = { table: 'inbox', column: 'content_cipher', rowId: randomUUID() };
  const destroy = (keyId: string) =>
    inTenant((tx) =>
      tx.dataKey.update({ where: { id: keyId }, data: { wrapped: null, destroyedAt: new Date() } }),
    );

  it('is written under the key of the person and read by the key id of the row', async () => {
    const { id: keyId, cipher } = await inTenant(async (tx) => {
      const key = await content.keyOfContact(tx, tenantId, contactId);
      return { id: key.id, cipher: content.sealText(key, { ...place, text: 'hello' }) };
    });
    const elsewhere = createContentCipher({ keyring });
    assert.equal(
      await inTenant((tx) => elsewhere.openText(tx, tenantId, { ...place, keyId, cipher })),
      'hello',
    );
  });

  it('has one live key per contact and one of the tenant, however many ask at once', async () => {
    const ask = () =>
      inTenant(async (tx) => [
        (await content.keyOfContact(tx, tenantId, contactId)).id,
        (await content.tenantKey(tx, tenantId)).id,
      ]);
    const ids = await Promise.all(Array.from({ length: 8 }, ask));
    assert.equal(new Set(ids.flat()).size, 2);
    assert.equal(await inTenant((tx) => tx.dataKey.count()), 2);
  });

  it('forgets a key that was made in a transaction which was rolled back', async () => {
    let lost = '';
    await assert.rejects(
      inTenant(async (tx) => {
        lost = (await content.keyOfContact(tx, tenantId, contactId)).id;
        throw new Error('no');
      }),
    );
    assert.notEqual((await inTenant((tx) => content.keyOfContact(tx, tenantId, contactId))).id, lost);
  });

  it('can be read no more once the key is destroyed: elsewhere at once, here within a minute', async () => {
    const key = await inTenant((tx) => content.keyOfContact(tx, tenantId, contactId));
    const sealed = { ...place, keyId: key.id, cipher: content.sealText(key, { ...place, text: 'hello' }) };
    const read = (by: ContentCipher) => inTenant((tx) => by.openText(tx, tenantId, sealed));
    assert.equal(await read(content), 'hello');
    await destroy(key.id);

    const gone = (error: unknown) => error instanceof KeyDestroyedError && error.keyId === key.id;
    await assert.rejects(read(createContentCipher({ keyring })), gone);
    clock = CACHE_TTL_MS - 1;
    assert.equal(await read(content), 'hello');
    clock = CACHE_TTL_MS;
    await assert.rejects(read(content), gone);
  });

  it('is never written under a destroyed key, even while that is still in memory', async () => {
    const before = await inTenant((tx) => content.keyOfContact(tx, tenantId, contactId));
    await destroy(before.id);
    assert.notEqual((await inTenant((tx) => content.keyOfContact(tx, tenantId, contactId))).id, before.id);
  });

  it('shows no key of another tenant, even one in memory', async () => {
    const key = await inTenant((tx) => content.keyOfContact(tx, tenantId, contactId));
    const other = await addTenant(database);
    await assert.rejects(
      database.inTenant(other.tenantId, (tx) => content.dataKeyById(tx, other.tenantId, key.id)),
      KeyDestroyedError,
    );
  });

  it('keeps no more keys in memory than it may, and reads the others again', async () => {
    const small = createContentCipher({ keyring, maxKeys: 1, now: () => clock });
    const [first, second] = await inTenant(async (tx) => [
      await small.keyOfContact(tx, tenantId, contactId),
      await small.tenantKey(tx, tenantId),
    ]);
    assert.ok(first && second);
    await Promise.all([destroy(first.id), destroy(second.id)]);
    assert.equal((await inTenant((tx) => small.dataKeyById(tx, tenantId, second.id))).id, second.id);
    await assert.rejects(
      inTenant((tx) => small.dataKeyById(tx, tenantId, first.id)),
      KeyDestroyedError,
    );
  });

  it('names the keys of a list that still work, also where not all of them fit into memory', async () => {
    const other = await addTenant(database);
    const foreign = await database.inTenant(other.tenantId, (tx) => content.tenantKey(tx, other.tenantId));
    const [ofContact, ofTenant] = await inTenant(async (tx) => [
      await content.keyOfContact(tx, tenantId, contactId),
      await content.tenantKey(tx, tenantId),
    ]);
    assert.ok(ofContact && ofTenant);
    const ids = [ofContact.id, ofTenant.id, foreign.id, randomUUID(), ofContact.id];
    const usable = async (maxKeys: number) => {
      const elsewhere = createContentCipher({ keyring, maxKeys });
      return [...(await inTenant((tx) => elsewhere.usableKeys(tx, tenantId, ids)))].toSorted();
    };
    assert.deepEqual(await usable(1), [ofContact.id, ofTenant.id].toSorted());
    await destroy(ofContact.id);
    assert.deepEqual(await usable(5), [ofTenant.id]);
  });

  it('tells equal requests of one person, and of nobody else', async () => {
    const [one, other] = [keyring.createDataKey().dataKey, keyring.createDataKey().dataKey];
    assert.deepEqual(content.requestKeyOf(one, 'reserve|{}'), content.requestKeyOf(one, 'reserve|{}'));
    assert.notDeepEqual(
      content.requestKeyOf(one, 'reserve|{}'),
      content.requestKeyOf(one, 'reserve|{"a":1}'),
    );
    assert.notDeepEqual(content.requestKeyOf(one, 'reserve|{}'), content.requestKeyOf(other, 'reserve|{}'));
  });
});
