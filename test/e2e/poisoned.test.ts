// A chat that is poisoned hurts itself at most: bytes that can't be read, signals that nobody knows, workflows that don't
// exist, payloads of another world. Whoever writes in another chat meanwhile is answered.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { createInbox } from '../../gateway/inbox.js';
import { createContentCipher } from '../../prisma/content.js';
import { createKeyring } from '../../prisma/keys.js';
import { inboxChanged } from '../../workflows/conversation/contract.js';
import { conversationWorkflowId, TASK_QUEUE, toolRunWorkflowId } from '../../workflows/domain/ids.js';
import { recordedConversations } from '../gateway/gateway.js';
import { startDesk, until } from '../support/desk.js';
import { connected } from '../support/postgres.js';

/** An encoding that no converter of ours has. */
const FOREIGN = {
  payloads: [{ metadata: { encoding: Buffer.from('binary/from-elsewhere') }, data: Buffer.from('x') }],
};

describe('a poisoned chat', function () {
  this.timeout(120_000);
  const masterKey = new Uint8Array(randomBytes(32));
  let desk: Awaited<ReturnType<typeof startDesk>>;
  before(async () => {
    desk = await startDesk({ masterKey });
  });
  after(() => desk?.stop());

  /** Whatever is wrong elsewhere. */
  afterEach(async () => {
    assert.equal((await desk.ask(`other-${randomUUID()}`, 'Hello!')).length, 1, 'another chat is answered');
  });

  /** Accepted, and nobody has been rung for it yet: time to do something to the row. */
  async function acceptSilently(
    chat: string,
    text: string,
  ): Promise<{ id: string; chatId: string; sequence: number }> {
    const content = createContentCipher({
      keyring: createKeyring({ masterKeys: [{ version: 1, key: masterKey }] }),
    });
    const { accountKey } = desk.configuration.channels.web;
    const inbox = createInbox({
      database: desk.database,
      content,
      conversations: recordedConversations(),
      logger: desk.log,
    });
    const id = randomUUID();
    const message = { channel: 'web', accountKey, chatAddress: chat, externalId: id, kind: 'text' } as const;
    const { chatId, sequence } = await inbox.acceptMessage({ ...message, text });
    return { id, chatId, sequence };
  }

  /** Changes one bit of a wrapped key; a second time, and it is as it was. */
  async function flipKey(keyId: string | null): Promise<void> {
    await connected(desk.urls.superuserUrl, async (client) => {
      await client.query(
        'update data_keys set wrapped = set_byte(wrapped, 20, get_byte(wrapped, 20) # 1) where id = $1',
        [keyId],
      );
    });
  }

  async function ring(chatId: string, upTo: number): Promise<void> {
    assert.equal(await desk.conversations.ring({ tenantId: desk.tenantId, chatId, upTo }), 'rung');
  }

  function conversation(chatId: string) {
    return desk.client.workflow.getHandle(conversationWorkflowId({ tenantId: desk.tenantId, chatId }));
  }

  it('apologizes for a message whose bytes were changed, and answers the next one', async () => {
    const { id, chatId, sequence } = await acceptSilently('tampered', 'Is anything free on Friday?');
    await desk.database.inTenant(desk.tenantId, async (tx) => {
      const row = await tx.inbox.findFirstOrThrow({ where: { externalId: id } });
      const bytes = Buffer.from(row.contentCipher ?? []);
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
      await tx.inbox.update({ where: { id: row.id }, data: { contentCipher: bytes } });
    });
    await ring(chatId, sequence);
    const { state } = await desk.settled(id);
    assert.notEqual(state, 'accepted');
    assert.equal((await desk.replies('tampered')).length, 1, 'the customer hears something');
    assert.equal((await desk.ask('tampered', 'Hello!')).length, 1);
  });

  it('whose key is damaged waits, listed as open, and is answered once the key is whole again', async () => {
    const { id, chatId, sequence } = await acceptSilently('keyless', 'Hello!');
    const keyId = await desk.database.inTenant(desk.tenantId, async (tx) => {
      const row = await tx.inbox.findFirstOrThrow({ where: { externalId: id } });
      return row.keyId;
    });
    await flipKey(keyId);
    await ring(chatId, sequence);
    await until(
      async () => (desk.logLines.some((line) => line.includes('ContentUnreadableError')) ? true : undefined),
      60_000,
      'somebody to stumble over it',
    );
    assert.equal((await desk.ask('beside', 'Hello!')).length, 1);
    await flipKey(keyId);
    assert.equal((await desk.settled(id)).state, 'answered');
    assert.equal((await desk.replies('keyless')).length, 1);
  });

  it('hears a signal that nobody knows, and goes on', async () => {
    await desk.ask('signalled', 'Hello!');
    const handle = conversation(await desk.chatId('signalled'));
    await handle.signal('noSuchSignal', { text: 'x'.repeat(1_000), nested: [[[]]] });
    await handle.signal(inboxChanged.name, 'not even an object');
    await handle.signal(inboxChanged.name);
    assert.equal((await desk.ask('signalled', 'Thank you!')).length, 1);
  });

  it('whose run hears signals that nobody knows still does what was approved', async () => {
    const id = await desk.send('run', 'Book Friday at 10:00 please');
    const { ref, turnId } = await desk.openApproval();
    const run = desk.client.workflow.getHandle(toolRunWorkflowId({ turnId }));
    await run.signal('noSuchSignal', 1);
    await run.signal('decideApproval', { ref: 7, decision: ['approve'] });
    await run.signal('decideApproval', null);
    assert.notEqual(await desk.decide(ref, 'approve'), 'expired');
    assert.equal((await desk.settled(id)).state, 'answered');
  });

  it('lets others be when a workflow is started that doesn’t exist', async () => {
    const workflowId = `unknown-${randomUUID()}`;
    await desk.client.workflow.start('noSuchWorkflow', { taskQueue: TASK_QUEUE, workflowId });
    await until(
      async () => {
        const { events } = await desk.client.workflow.getHandle(workflowId).fetchHistory();
        return events?.some(({ workflowTaskFailedEventAttributes: failed }) => failed) ? true : undefined;
      },
      60_000,
      'its task to fail',
    );
    assert.equal((await desk.ask('beside', 'Hello!')).length, 1);
    await desk.client.workflow.getHandle(workflowId).terminate('the end of the test');
  });

  it('stands still after a payload that can’t be decoded, and is taken up anew once it is ended', async () => {
    await desk.ask('foreign', 'Hello!');
    const chatId = await desk.chatId('foreign');
    const { workflowId } = conversation(chatId);
    await desk.client.workflowService.signalWorkflowExecution({
      namespace: desk.client.options.namespace,
      workflowExecution: { workflowId },
      signalName: inboxChanged.name,
      input: FOREIGN,
    });
    const id = await desk.send('foreign', 'Are you there?');
    assert.equal((await desk.ask('beside', 'Hello!')).length, 1);
    await conversation(chatId).terminate('its history can’t be read');
    await ring(chatId, 2);
    assert.equal((await desk.settled(id)).state, 'answered');
  });
});
