import assert from 'node:assert/strict';
import { releaseChat, takeChat } from '../../prisma/stores/takeover.js';
import { progressOf } from '../../prisma/stores/views/chat.js';
import { startGateway, type TestGateway } from './gateway.js';
import { ownerAtConsole, wordsIn, type OwnerAtConsole } from './owner-at-console.js';

describe('an owner’s own web chat', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  let owner: OwnerAtConsole;
  before(async () => {
    gateway = await startGateway();
    owner = await ownerAtConsole(gateway);
  });
  after(async () => gateway.stop());

  const write = (payload: object, csrf = owner.csrf) =>
    gateway.app.inject({
      method: 'POST',
      url: '/console/chat/messages',
      cookies: owner.cookies,
      headers: { 'x-csrf-token': csrf },
      payload,
    });
  const rowOf = (externalId: string) =>
    gateway.inScope(gateway.tenantId, ({ tx }) => tx.inbox.findFirstOrThrow({ where: { externalId } }));

  it('is reached from the console, and says whose words are written there', async () => {
    assert.match((await owner.open('/console/controls')).body, /href="\/console\/chat"/);
    const page = await owner.open('/console/chat');
    assert.match(wordsIn(page.body), /You write as Deniz/);
    assert.match(page.body, /data-base="\/console\/chat"/);
  });

  it('takes what is written as the owner’s: a command as a command, talk as a turn', async () => {
    assert.equal((await write({ id: 'own-1', text: 'approve K-7Q4F' })).statusCode, 202);
    assert.equal((await write({ id: 'own-2', text: 'What a day' })).statusCode, 202);
    const [command, talk] = [await rowOf('own-1'), await rowOf('own-2')];
    assert.deepEqual(
      [command.speaker, command.arrival, command.state],
      ['owner:deniz', 'owner_command', 'accepted'],
    );
    assert.deepEqual([talk.speaker, talk.arrival, talk.state], ['owner:deniz', 'turn', 'accepted']);
    assert.match(wordsIn((await owner.open('/console/chat')).body), /approve K-7Q4F/);
  });

  it('is called by the owner’s name in the list of chats', async () => {
    const words = wordsIn((await owner.open('/console/conversations')).body);
    assert.match(words, /Deniz \(your own chat\)/);
    assert.doesNotMatch(words, /Web visitor/);
    const row = await rowOf('own-1');
    assert.match(
      (await owner.open(`/console/conversations/${row.chatId}`)).body,
      /<h1[^>]*>Deniz \(your own chat\)/,
    );
  });

  it('goes by that name wherever it is named, and is found by its message', async () => {
    const row = await rowOf('own-2');
    for (const path of [`/console/search?q=${row.id}`, '/console/messages?show=all']) {
      const words = wordsIn((await owner.open(path)).body);
      assert.match(words, /Deniz \(owner\)/i, path);
      assert.doesNotMatch(words, /Web visitor/, path);
    }
  });

  it('shows no typing while a person has the chat', async () => {
    const { chatId } = await rowOf('own-1');
    const progress = () => gateway.inScope(gateway.tenantId, (scope) => progressOf(scope, chatId));
    assert.equal(await progress(), 'writing');
    await gateway.inScope(gateway.tenantId, (scope) => takeChat(scope, { chatId, by: 'owner:deniz' }));
    assert.equal(await progress(), 'idle');
    await gateway.inScope(gateway.tenantId, (scope) => releaseChat(scope, { chatId, by: 'owner:deniz' }));
    assert.equal(await progress(), 'writing');
  });

  it('is nobody else’s', async () => {
    assert.equal((await write({ id: 'own-3', text: 'yes' }, 'wrong')).statusCode, 403);
    const stranger = await gateway.app.inject({
      method: 'POST',
      url: '/console/chat/messages',
      payload: { id: 'own-4', text: 'yes' },
    });
    assert.equal(stranger.statusCode, 401);
    const { status } = await gateway.api('POST', '/api/chats/owner:deniz/messages', {
      id: 'own-5',
      text: 'yes',
    });
    assert.equal(status, 400, 'no program can name it');
    const { body } = await gateway.app.inject({ url: '/', headers: { accept: 'text/html' } });
    assert.ok(!body.includes('approve K-7Q4F'));
  });
});
