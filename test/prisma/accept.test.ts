import { strict as assert } from 'node:assert';
import { openDatabase, type Database } from '../../prisma/database.js';
import { connected, freshDatabase, type TestDatabase } from '../support/postgres.js';
import {
  acceptText,
  acceptTextWithRetry,
  addTenant,
  testContent,
  type Desk,
  type OwnKey,
  type TestTenant,
  type TextOutcome,
} from '../support/tenants.js';

type WithRow = Extract<TextOutcome, { sequence: number }>;

function withRow(result: TextOutcome): WithRow {
  assert.ok('sequence' in result, `no row: ${result.outcome}`);
  return result;
}

describe('accepting a message', () => {
  const content = testContent();
  let urls: TestDatabase;
  let database: Database;
  let account: TestTenant;
  let desk: Desk;

  before(async () => {
    urls = await freshDatabase();
    database = openDatabase({ url: urls.applicationUrl, poolSize: 8 });
  });
  after(() => database.close());
  beforeEach(async () => {
    account = await addTenant(database);
    desk = { prisma: database.prisma, content, account };
  });

  const hello = { externalId: 'm1', text: 'hello', address: 'anna' };
  const inTenant: <Result>(work: Parameters<typeof database.inTenant<Result>>[1]) => Promise<Result> = (
    work,
  ) => database.inTenant(account.tenantId, work);
  const destroyKeys = () =>
    inTenant((tx) => tx.dataKey.updateMany({ data: { wrapped: null, destroyedAt: new Date() } }));

  it('makes contact, key, alias and chat of somebody new, each readable at its place', async () => {
    const sentAt = new Date('2026-11-30T19:00:00.250Z');
    const result = withRow(await acceptText(desk, { ...hello, sentAt }));
    assert.equal(result.outcome, 'accepted');
    assert.equal(result.sequence, 1);
    assert.equal(result.tenantId, account.tenantId);
    await inTenant(async (tx) => {
      const message = await tx.inbox.findUniqueOrThrow({ where: { id: result.messageId } });
      assert.deepEqual(
        [message.state, message.arrival, message.settledAt, message.sentAt, message.accountId],
        ['accepted', 'turn', null, sentAt, account.accountId],
      );
      const [contact] = await tx.contact.findMany({ include: { aliases: true, chats: true } });
      assert.ok(contact?.id === result.contactId);
      const [alias] = contact.aliases;
      const [chat] = contact.chats;
      assert.ok(alias?.addressCipher && chat?.addressCipher && message.contentCipher);
      const { keyId } = result;
      assert.ok(keyId);
      const open = (table: string, column: string, rowId: string, cipher: Uint8Array) =>
        content.openText(tx, account.tenantId, { table, column, rowId, keyId, cipher });
      assert.equal(await open('inbox', 'content_cipher', message.id, message.contentCipher), 'hello');
      assert.equal(await open('contact_aliases', 'address_cipher', alias.id, alias.addressCipher), 'anna');
      assert.equal(await open('chats', 'address_cipher', chat.id, chat.addressCipher), 'anna');
      assert.equal((await content.keyOfContact(tx, account.tenantId, contact.id)).id, keyId);
    });
  });

  it('takes one call once the key is known', async () => {
    const key = content.keyring.createDataKey();
    const first = withRow(await acceptText(desk, hello, key));
    const second = withRow(await acceptText(desk, { ...hello, externalId: 'm2' }, key));
    assert.equal(second.outcome, 'accepted');
    assert.deepEqual(
      [second.sequence, second.chatId, second.contactId, second.keyId],
      [2, first.chatId, first.contactId, key.dataKey.id],
    );
  });

  it('hands back the live key to a caller who believed in another, and writes nothing', async () => {
    const first = withRow(await acceptText(desk, hello));
    const result = await acceptText(desk, { ...hello, externalId: 'm2' });
    assert.ok(result.outcome === 'again' && result.key);
    assert.deepEqual([result.contactId, result.key.keyId], [first.contactId, first.keyId]);
    assert.equal(content.keyring.unwrap(result.key).id, first.keyId);
    assert.equal(await inTenant((tx) => tx.inbox.count()), 1);
    assert.equal((await acceptTextWithRetry(desk, { ...hello, externalId: 'm2' })).outcome, 'accepted');
  });

  it('finds the row of a message that comes again, and refuses its id for another text or chat', async () => {
    const first = withRow(await acceptTextWithRetry(desk, hello));
    // What comes again says nothing about keys: nothing is encrypted for it.
    const known = { ...first, keyId: undefined };
    const again = withRow(await acceptTextWithRetry(desk, hello));
    assert.deepEqual(again, { ...known, outcome: 'duplicate' });
    assert.deepEqual(await acceptTextWithRetry(desk, { ...hello, text: 'other' }), {
      ...known,
      outcome: 'conflict',
    });
    const elsewhere = withRow(await acceptTextWithRetry(desk, { ...hello, address: 'berta' }));
    assert.deepEqual([elsewhere.outcome, elsewhere.messageId], ['conflict', first.messageId]);
    assert.equal(await inTenant((tx) => tx.inbox.count()), 1);
  });

  it('makes one row and one sequence of a first message that comes five times at once', async () => {
    const results = (
      await Promise.all(Array.from({ length: 5 }, () => acceptTextWithRetry(desk, hello)))
    ).map(withRow);
    assert.deepEqual(results.map(({ outcome }) => outcome).sort(), [
      'accepted',
      ...Array<string>(4).fill('duplicate'),
    ]);
    assert.equal(new Set(results.map(({ messageId }) => messageId)).size, 1);
    assert.deepEqual(new Set(results.map(({ sequence }) => sequence)), new Set([1]));
    await inTenant(async (tx) => {
      const counts = [
        tx.inbox.count(),
        tx.contact.count(),
        tx.contactAlias.count(),
        tx.chat.count(),
        tx.dataKey.count(),
      ];
      assert.deepEqual(await Promise.all(counts), [1, 1, 1, 1, 1]);
    });
  });

  it('makes one row of a message that comes five times at once in a chat under way', async () => {
    const key = content.keyring.createDataKey();
    withRow(await acceptText(desk, hello, key));
    const second = { ...hello, externalId: 'm2' };
    const results = await connected(urls.superuserUrl, async (holder) => {
      // Whoever holds the chat makes all five wait at the same place; released, they go on one by one.
      await holder.query('begin');
      await holder.query('select from chats where tenant_id = $1 for update', [account.tenantId]);
      const underway = Promise.all(Array.from({ length: 5 }, () => acceptText(desk, second, key)));
      for (let waiting = 0; waiting < 5;) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        const { rowCount } = await holder.query('select from pg_locks where not granted');
        waiting = rowCount ?? 0;
      }
      await holder.query('commit');
      return underway;
    });
    assert.deepEqual(results.map(({ outcome }) => outcome).sort(), [
      'accepted',
      ...Array<string>(4).fill('duplicate'),
    ]);
    assert.deepEqual(new Set(results.map((result) => withRow(result).sequence)), new Set([2]));
    const [chat] = await inTenant((tx) => tx.chat.findMany());
    assert.equal(chat?.lastSequence, 2);
  });

  it('numbers fifty messages from eight connections without a gap', async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        acceptTextWithRetry(desk, { ...hello, externalId: `m${index}` }),
      ),
    );
    assert.ok(results.every(({ outcome }) => outcome === 'accepted'));
    const sequences = results.map((result) => withRow(result).sequence).sort((a, b) => a - b);
    assert.deepEqual(
      sequences,
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
    const [chat] = await inTenant((tx) => tx.chat.findMany());
    assert.equal(chat?.lastSequence, 50);
  });

  it('stores what a blocked contact or an arrival gate settles, without a turn', async () => {
    const left = withRow(await acceptTextWithRetry(desk, { ...hello, arrival: 'system' }));
    await inTenant((tx) => tx.contact.updateMany({ data: { blockedAt: new Date() } }));
    const blocked = withRow(await acceptTextWithRetry(desk, { ...hello, externalId: 'm2' }));
    assert.deepEqual([left.outcome, blocked.outcome], ['stored', 'stored']);
    const rows = await inTenant((tx) => tx.inbox.findMany({ orderBy: { sequence: 'asc' } }));
    assert.deepEqual(
      rows.map(({ state, reason, arrival, settledAt }) => [state, reason, arrival, settledAt !== null]),
      [
        ['ignored', 'system', 'system', true],
        ['ignored', 'blocked', 'blocked', true],
      ],
    );
  });

  it('knows nobody behind a foreign or a disabled account', async () => {
    const foreign = { ...desk, account: { channel: account.channel, accountKey: 'nobody' } };
    assert.deepEqual(await acceptText(foreign, hello), { outcome: 'unknown_account' });
    await inTenant((tx) => tx.channelAccount.updateMany({ data: { disabledAt: new Date() } }));
    assert.deepEqual(await acceptText(desk, hello), { outcome: 'unknown_account' });
  });

  it('keeps the same address of two tenants apart', async () => {
    const other = await addTenant(database);
    const ours = withRow(await acceptText(desk, hello));
    const theirs = withRow(await acceptText({ ...desk, account: other }, hello));
    assert.equal(theirs.outcome, 'accepted');
    assert.notEqual(theirs.contactId, ours.contactId);
    assert.equal(theirs.tenantId, other.tenantId);
  });

  describe('after an erasure', () => {
    let dead: OwnKey;

    beforeEach(async () => {
      dead = content.keyring.createDataKey();
      withRow(await acceptText(desk, hello, dead));
    });

    it('refuses the destroyed key and takes a new one', async () => {
      await destroyKeys();
      const refused = await acceptText(desk, { ...hello, externalId: 'm2' }, dead);
      assert.ok(refused.outcome === 'again' && refused.key === undefined);
      const accepted = withRow(await acceptTextWithRetry(desk, { ...hello, externalId: 'm2' }));
      assert.equal(accepted.outcome, 'accepted');
      assert.notEqual(accepted.keyId, dead.dataKey.id);
    });

    it('writes the addresses of chat and person anew, under the new key', async () => {
      await destroyKeys();
      const { chatId, keyId } = withRow(await acceptTextWithRetry(desk, { ...hello, externalId: 'm2' }));
      assert.ok(keyId);
      await inTenant(async (tx) => {
        const chat = await tx.chat.findUniqueOrThrow({ where: { id: chatId } });
        const [alias] = await tx.contactAlias.findMany();
        assert.ok(chat.addressCipher && alias?.addressCipher);
        for (const [table, row] of Object.entries({ chats: chat, contact_aliases: alias })) {
          const place = { table, column: 'address_cipher', rowId: row.id };
          const cipher = row.addressCipher ?? new Uint8Array();
          assert.equal(await content.openText(tx, account.tenantId, { ...place, keyId, cipher }), 'anna');
        }
      });
    });

    it('settles on one new key when five messages come at once', async () => {
      await destroyKeys();
      const messages = Array.from({ length: 5 }, (_, index) => ({ ...hello, externalId: `again-${index}` }));
      const results = (await Promise.all(messages.map((message) => acceptTextWithRetry(desk, message)))).map(
        withRow,
      );
      assert.ok(results.every(({ outcome }) => outcome === 'accepted'));
      assert.equal(new Set(results.map(({ keyId }) => keyId)).size, 1);
    });

    it("refuses a key that isn't the new contact's, and leaves no half contact", async () => {
      await destroyKeys();
      const refused = await acceptText(desk, { ...hello, externalId: 'm2', address: 'berta' }, dead);
      assert.ok(refused.outcome === 'again' && refused.key === undefined && refused.contactId === undefined);
      assert.equal(await inTenant((tx) => tx.contact.count()), 1);
      assert.equal(await inTenant((tx) => tx.contactAlias.count()), 1);
    });

    it('never leaves a row under a key that is being destroyed at that moment', async () => {
      await connected(urls.superuserUrl, async (eraser) => {
        await eraser.query('begin');
        await eraser.query('update data_keys set wrapped = null, destroyed_at = now() where id = $1', [
          dead.dataKey.id,
        ]);
        const underway = acceptText(desk, { ...hello, externalId: 'm2' }, dead);
        const early = await Promise.race([
          underway,
          new Promise((resolve) => setTimeout(resolve, 200, 'waits')),
        ]);
        assert.equal(early, 'waits');
        await eraser.query('commit');
        assert.equal((await underway).outcome, 'again');
      });
      assert.equal(await inTenant((tx) => tx.inbox.count()), 1);
    });
  });
});
