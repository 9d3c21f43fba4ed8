// What must not stop a chat: broken signals, an ended run, an unreadable row, a worker that ends in the middle.
import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/common';
import { failureTypeOf } from '../../activities/failure-type.js';
import { createFailureInterceptor } from '../../worker/activity-failures.js';
import { inboxChanged, say } from '../../workflows/conversation/contract.js';
import { conversationWorkflowId, toolRunWorkflowId } from '../../workflows/domain/ids.js';
import { startDesk, type Desk } from '../support/desk.js';

describe('a chat goes on', function () {
  this.timeout(60_000);
  let desk: Desk;
  before(async () => {
    desk = await startDesk();
  });
  after(async () => {
    await desk.stop();
  });

  it('after signals that mean nothing', async () => {
    await desk.ask('ada', 'Hello!');
    const chatId = await desk.chatId('ada');
    const conversation = desk.client.workflow.getHandle(
      conversationWorkflowId({ tenantId: desk.tenantId, chatId }),
    );
    await conversation.signal(say, { turnId: 'x', outboxId: 'y', kind: 'answer', final: true });
    await conversation.signal(say, {
      turnId: '00000000-0000-4000-8000-000000000001',
      outboxId: '00000000-0000-4000-8000-000000000002',
      kind: 'answer',
      final: true,
    });
    await conversation.signal(inboxChanged, { upTo: 100_000 });
    await conversation.signal(inboxChanged, { upTo: 9_000_000_000 });
    assert.equal((await desk.ask('ada', 'Thank you!')).length, 1);
  });

  it('after its run was terminated, and no yes is given to nothing', async () => {
    const id = await desk.send('bo', 'Book Friday at 10:00 please');
    const { ref, turnId } = await desk.openApproval();
    await desk.client.workflow.getHandle(toolRunWorkflowId({ turnId })).terminate('an engineer');
    assert.equal((await desk.settled(id)).state, 'refused');
    assert.equal(await desk.decide(ref, 'approve'), 'expired');
    assert.equal((await desk.ask('bo', 'Hello!')).length, 1);
  });

  it('although one of its messages can not be read any more', async () => {
    await desk.ask('cy', 'My bicycle is called Rosinante.');
    const chatId = await desk.chatId('cy');
    await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.outbox.updateMany({ where: { chatId }, data: { contentCipher: Buffer.from('broken') } }),
    );
    const [reply] = await desk.ask('cy', 'What did I say before?');
    assert.match(reply ?? '', /Rosinante/);
  });

  it('with a person where a private account is asked about and no tool fits', async () => {
    await desk.model.script({ match: 'balance', withTools: true, text: 'no tool fits' });
    const id = await desk.send('dan', 'What is my balance?');
    assert.equal((await desk.settled(id)).state, 'handed_off');
    const answered = (await desk.model.requests()).filter(
      ({ body }) => body.tools === undefined && JSON.stringify(body.messages).includes('balance'),
    );
    assert.equal(answered.length, 0, 'never from chat memory');
  });
});

describe('a foreign error', () => {
  it('is Postgres being away when it looks like that, and our fault otherwise', () => {
    const named = (name: string, message = 'x'): Error => Object.assign(new Error(message), { name });
    for (const error of [
      named('PrismaClientKnownRequestError'),
      new Error('Client has encountered a connection error and is not queryable'),
      new Error('Connection terminated unexpectedly'),
      Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
      Object.assign(new Error('x'), { code: '57P01' }),
    ]) {
      assert.equal(failureTypeOf(error), 'DATABASE_UNAVAILABLE', error.message);
    }
    assert.equal(failureTypeOf(new TypeError('x is not a function')), 'INTERNAL');
    assert.equal(failureTypeOf('a text'), 'INTERNAL');
  });

  it('fails nothing for good when it comes of the worker ending', async () => {
    const ended = new AbortController();
    ended.abort();
    const { inbound } = createFailureInterceptor({
      inScope: () => Promise.reject(new Error('not asked')),
      log: { event: ignore, debug: ignore, warn: ignore, error: ignore, child: () => assert.fail() },
    })({
      info: { activityType: 'answer', attempt: 1 },
      cancellationSignal: ended.signal,
    } as never);
    assert.ok(inbound?.execute);
    await assert.rejects(
      inbound.execute({ args: [], headers: {} }, () => Promise.reject(new Error('aborted'))),
      (error) => error instanceof ApplicationFailure && error.type === 'INTERRUPTED' && !error.nonRetryable,
    );
  });
});

function ignore(): void {
  // Nothing is to be logged for anybody.
}
