// Bells of new messages at a real Temporal server: while much is being stored they wait, and those of one chat become one.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { createLogger } from '../../config/logger.js';
import { createConversations, type Conversations } from '../../gateway/conversations.js';
import { conversationWorkflowId } from '../../workflows/domain/ids.js';
import { freshNamespace } from '../support/temporal.js';

/** One more than leaves bells alone. */
const MUCH = 5;

describe('bells of new messages', function () {
  this.timeout(60_000);
  let client: Client;
  let connection: Connection;
  let conversations: Conversations;
  const tenantId = randomUUID();
  before(async () => {
    const { address, namespace } = await freshNamespace();
    connection = await Connection.connect({ address });
    client = new Client({ connection, namespace });
    conversations = createConversations({
      client,
      logger: createLogger({ process: 'gateway', level: 'error' }),
    });
  });
  after(() => connection.close());

  /** What has been signalled to the conversation of a chat; nobody works on it here. */
  async function signalled(chatId: string): Promise<unknown[]> {
    const handle = client.workflow.getHandle(conversationWorkflowId({ tenantId, chatId }));
    const { events } = await handle.fetchHistory();
    const { payloadConverter } = client.options.loadedDataConverter;
    return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
      (signal?.input?.payloads ?? []).map((payload) => payloadConverter.fromPayload(payload)),
    );
  }
  const isStarted = async (chatId: string): Promise<boolean> =>
    signalled(chatId).then(
      () => true,
      () => false,
    );
  function storeMuch(): () => void {
    let end = (): void => undefined;
    const work = new Promise<void>((resolve) => (end = resolve));
    for (let count = 0; count < MUCH; count += 1) void conversations.whileStoring(work);
    return end;
  }

  it('wait while much is being stored, and those of one chat go as one, with the highest number', async () => {
    const chatId = randomUUID();
    const end = storeMuch();
    const rung = [2, 3, 1].map((upTo) => conversations.ring({ tenantId, chatId, upTo }));
    await sleep(300);
    assert.equal(await isStarted(chatId), false);
    end();
    assert.deepEqual(await Promise.all(rung), ['rung', 'rung', 'rung']);
    assert.deepEqual(await signalled(chatId), [{ upTo: 3 }]);
    assert.equal(await conversations.ring({ tenantId, chatId, upTo: 4 }), 'rung');
    assert.deepEqual(await signalled(chatId), [{ upTo: 3 }, { upTo: 4 }]);
  });

  it('go after a second, however much is being stored', async () => {
    const end = storeMuch();
    try {
      const began = Date.now();
      const chatId = randomUUID();
      assert.equal(await conversations.ring({ tenantId, chatId, upTo: 1 }), 'rung');
      assert.ok(Date.now() - began >= 900);
      assert.deepEqual(await signalled(chatId), [{ upTo: 1 }]);
    } finally {
      end();
    }
  });
});
