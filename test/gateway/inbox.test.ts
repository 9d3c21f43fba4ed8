import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createLogger } from '../../config/logger.js';
import { createInbox } from '../../gateway/inbox.js';
import { textProblem } from '../../gateway/message-text.js';
import { Problem } from '../../gateway/problems.js';
import { connected } from '../support/postgres.js';
import { startGateway, type TestGateway } from './gateway.js';

describe('the inbox', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(async () => gateway.stop());

  it('stores a message, then rings for it', async () => {
    const accepted = await gateway.write('anna', 'Hello');
    assert.equal(accepted.outcome, 'accepted');
    assert.equal(accepted.sequence, 1);
    assert.deepEqual(gateway.conversations.calls.at(-1), { what: 'ring', chatId: accepted.chatId, upTo: 1 });
  });

  it('takes a message once, however often and from wherever it comes', async () => {
    const id = randomUUID();
    const { database, content, conversations, account } = gateway;
    const logger = createLogger({ process: 'gateway', level: 'error' });
    // Processes of their own: none knows the key that another has just made.
    const inboxes = Array.from({ length: 5 }, () =>
      createInbox({ database, content, conversations, logger }),
    );
    const message = {
      ...account,
      chatAddress: 'ben',
      externalId: id,
      kind: 'text' as const,
      text: 'Once only',
    };
    const results = await Promise.all(inboxes.map((inbox) => inbox.acceptMessage(message)));
    assert.equal(new Set(results.map((result) => result.messageId)).size, 1);
    assert.equal(results.filter((result) => result.outcome === 'accepted').length, 1);
  });

  it('refuses an id that is used again for another text, and keeps the first', async () => {
    await gateway.write('cem', 'first', 'same-id');
    await assert.rejects(gateway.write('cem', 'second', 'same-id'), { statusCode: 409 });
    await assert.rejects(gateway.write('somebody-else', 'first', 'same-id'), { statusCode: 409 });
  });

  it('numbers fifty messages of one chat without gaps, in the order of their acceptance', async () => {
    const writes = Array.from({ length: 50 }, (_, number) => gateway.write('dora', `message ${number}`));
    const sequences = (await Promise.all(writes)).map((accepted) => accepted.sequence);
    assert.deepEqual(
      sequences.toSorted((one, other) => one - other),
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
  });

  it('keeps text and address unreadable in the database and out of the log', async () => {
    const canary = `canary-${randomUUID()}`;
    await gateway.write(canary, `The text is ${canary}.`);
    const rows = await connected(gateway.urls.superuserUrl, async (client) => {
      const tables = ['inbox', 'chats', 'contacts', 'contact_aliases', 'data_keys', 'audit'];
      const found = [];
      for (const table of tables)
        found.push(...(await client.query(`select t::text as row from ${table} t`)).rows);
      return found;
    });
    assert.ok(rows.length > 0);
    const hex = Buffer.from(canary).toString('hex');
    const text = JSON.stringify(rows) + gateway.logLines.join('');
    assert.ok(!text.includes(canary) && !text.includes(hex));
  });

  it('says which channel is not there', async () => {
    const message = { chatAddress: 'x', externalId: 'y', kind: 'text' as const, text: 'z' };
    await assert.rejects(
      gateway.inbox.acceptMessage({ channel: 'web', accountKey: 'nobody', ...message }),
      (error) => error instanceof Problem && error.statusCode === 404,
    );
  });
});

describe('texts that can be accepted', () => {
  const table: [string, string, number | undefined][] = [
    ['an ordinary text', 'Hello there', undefined],
    ['a text of 4096 characters', 'x'.repeat(4096), undefined],
    ['one of 4097', 'x'.repeat(4097), 413],
    ['nothing', '', 400],
    ['only spaces', ' \n\t ', 400],
    ['only invisible characters', '\u200B\u2060\uFEFF', 400],
    ['a NUL', 'a\0b', 400],
    ['a lone high surrogate', 'a\uD83Db', 400],
    ['a lone low surrogate', 'a\uDE00b', 400],
    ['an emoji', '😀', undefined],
    ['a right-to-left override with text', '\u202Eabc', undefined],
  ];
  for (const [name, text, status] of table) {
    it(`${status === undefined ? 'accepts' : `answers ${status} for`} ${name}`, () => {
      assert.equal(textProblem(text)?.status, status);
    });
  }
});
