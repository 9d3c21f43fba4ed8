// Sessions of a desk with real Temporal and short times: who answers first, what is answered together, and every way to end.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { conversationWorkflowId } from '../../../workflows/domain/ids.js';
import {
  currentSession,
  firstMessageOf,
  resolveByHand,
  resolveSession,
} from '../../../prisma/stores/chat-sessions.js';
import { planMessage } from '../../../prisma/stores/outbox.js';
import { lockChat, turnById } from '../../../prisma/stores/turns.js';
import { until } from '../../support/desk.js';
import { FIRST_MESSAGE, QUICK, startQuickDesk, type QuickDesk } from './kit.js';

describe('a session of a desk', function () {
  this.timeout(180_000);
  let desk: QuickDesk;
  before(async () => {
    desk = await startQuickDesk();
  });
  after(async () => {
    await desk?.stop();
  });

  const callsFor = async (chat: string): Promise<number> => {
    const chatId = await desk.chatId(chat);
    return desk.database.inTenant(desk.tenantId, (tx) => tx.modelCall.count({ where: { chatId } }));
  };

  it('says its first message at once, and answers after the grace all that came in it, as one turn', async () => {
    const first = await desk.send('ada', 'Hello!');
    await desk.repliesWithin('ada', 1, 60_000);
    assert.deepEqual(await desk.texts('ada'), [FIRST_MESSAGE]);
    await desk.sessionIs('ada', 'waiting');
    const second = await desk.send('ada', 'I have a question');
    const third = await desk.send('ada', 'How are you?');
    assert.equal((await desk.settled(third)).state, 'answered');
    assert.equal((await desk.settled(first)).state, 'merged');
    assert.equal((await desk.settled(second)).state, 'merged');
    assert.equal((await desk.replies('ada')).length, 2);
    assert.equal(await callsFor('ada'), 1);
    await desk.sessionIs('ada', 'active');
  });

  it('waits for more of the same turn while it is active, and greets no second time', async () => {
    const before = await callsFor('ada');
    const both = await Promise.all([desk.send('ada', 'Thank you'), desk.send('ada', 'Thanks!')]);
    const states = await Promise.all(both.map(async (id) => (await desk.settled(id)).state));
    assert.deepEqual(states.sort(), ['answered', 'merged']);
    assert.equal(await callsFor('ada'), before + 1);
    assert.equal((await desk.texts('ada')).filter((text) => text === FIRST_MESSAGE).length, 1);
  });

  it('is over after a long silence, and the next message opens another one', async () => {
    await desk.sessionIs('ada', 'resolved', 'timeout');
    await until(
      async () => ((await desk.conversationStatus('ada')) === 'COMPLETED' ? true : undefined),
      60_000,
      'the conversation to end',
    );
    await desk.send('ada', 'Hello again!');
    await desk.sessionIs('ada', 'waiting');
    await desk.sessionIs('ada', 'active');
    assert.deepEqual(
      (await desk.sessions('ada')).map(({ by }) => by),
      ['timeout', null],
    );
    assert.equal((await desk.texts('ada')).filter((text) => text === FIRST_MESSAGE).length, 2);
  });

  it('belongs to a person who writes before the grace is over', async () => {
    const id = await desk.send('bo', 'Is anybody there?');
    await desk.repliesWithin('bo', 1, 60_000);
    await desk.personWrites('bo', new Date(Date.now() + 600_000));
    await desk.sessionIs('bo', 'resolved', 'human');
    assert.deepEqual(await desk.settled(id), { state: 'handed_off', reason: 'takeover' });
    assert.deepEqual(await desk.settled(await desk.send('bo', 'Ah, hello')), {
      state: 'handed_off',
      reason: 'takeover',
    });
    assert.deepEqual(await desk.texts('bo'), [FIRST_MESSAGE]);
    assert.equal((await desk.sessions('bo')).length, 1, 'no session opens while a person has the chat');
    assert.equal(await callsFor('bo'), 0);
  });

  it('drops a greeting that nobody has sent by the end of its session', async () => {
    await desk.settled(await desk.send('bea', 'Hello!'));
    const chatId = await desk.chatId('bea');
    const sent = await desk.inScope(desk.tenantId, async (scope) => {
      const session = (await currentSession(scope, chatId)) ?? assert.fail();
      const { contactId } = await scope.tx.chat.findUniqueOrThrow({ where: { id: chatId } });
      const { outboxId } = await planMessage(scope, {
        chatId,
        contactId,
        turnId: null,
        // As if the one of the session had never been sent.
        origin: { ...firstMessageOf(session), ordinal: 1 },
        kind: 'acknowledgement',
        text: FIRST_MESSAGE,
      });
      await resolveSession(scope, { chatId, sessionId: session.sessionId, by: 'human' });
      return scope.tx.outbox.findUniqueOrThrow({ where: { id: outboxId } });
    });
    assert.equal(sent.state, 'discarded');
  });

  it('opens anew with the first message after the person’s lease', async () => {
    await desk.leaseEndsSoon('bo');
    const chatId = await desk.chatId('bo');
    await until(
      async () =>
        (await desk.inScope(desk.tenantId, (scope) => lockChat(scope, chatId))).isPaused ? undefined : true,
      60_000,
      'the lease to end',
    );
    const id = await desk.send('bo', 'Good evening');
    assert.equal((await desk.settled(id)).state, 'answered');
    assert.equal((await desk.sessions('bo')).length, 2);
  });

  it('finds out at the end of the grace about a person whose bell was lost', async () => {
    const id = await desk.send('cy', 'Hello?');
    await desk.sessionIs('cy', 'waiting');
    await desk.inScope(desk.tenantId, async (scope) => {
      const chat = await lockChat(scope, await desk.chatId('cy'));
      await scope.tx.chat.update({
        where: { id: chat.chatId },
        data: { pausedAt: new Date(), pausedUntil: new Date(Date.now() + 60_000), pausedBy: 'business' },
      });
    });
    assert.deepEqual(await desk.settled(id), { state: 'handed_off', reason: 'takeover' });
    await desk.sessionIs('cy', 'resolved', 'human');
  });

  it('ends by hand, and gives the chat back with it', async () => {
    await desk.settled(await desk.send('dan', 'Hello!'));
    await desk.personWrites('dan', new Date(Date.now() + 600_000));
    const chatId = await desk.chatId('dan');
    const resolved = await desk.inScope(desk.tenantId, (scope) =>
      resolveByHand(scope, { chatId, by: 'owner:ada' }),
    );
    assert.equal(resolved.outcome, 'resolved');
    await desk.conversations.deskChanged({ tenantId: desk.tenantId, chatId });
    await until(
      async () => ((await desk.conversationStatus('dan')) === 'COMPLETED' ? true : undefined),
      60_000,
      'the conversation to end',
    );
    assert.deepEqual(await desk.sessions('dan'), [{ state: 'resolved', by: 'manual' }]);
  });

  it('ends where the assistant has no answer, so that a person may come first the next time', async () => {
    await desk.model.script({ status: 401 });
    const id = await desk.send('eve', 'Tell me a story');
    assert.equal((await desk.settled(id)).state, 'refused');
    await desk.sessionIs('eve', 'resolved', 'ai_timeout');
    await desk.model.clear();
    await desk.send('eve', 'And now?');
    await desk.sessionIs('eve', 'waiting');
  });

  it('goes on after its conversation was terminated: no second greeting, no second grace', async () => {
    await desk.settled(await desk.send('fay', 'Hello!'));
    const chatId = await desk.chatId('fay');
    await desk.client.workflow
      .getHandle(conversationWorkflowId({ tenantId: desk.tenantId, chatId }))
      .terminate('by the test');
    const id = await desk.send('fay', 'What did I say before?');
    assert.equal((await desk.settled(id)).state, 'answered');
    assert.equal((await desk.texts('fay')).filter((text) => text === FIRST_MESSAGE).length, 1);
    assert.deepEqual(await desk.sessions('fay'), [{ state: 'active', by: null }]);
  });

  it('is not kept waiting by an operator who was asked in vain, and is by one who may still answer', async () => {
    await desk.settled(await desk.send('gil', 'Hello!'));
    const chatId = await desk.chatId('gil');
    await desk.inScope(desk.tenantId, async ({ tx, tenantId }) => {
      const { contactId } = await tx.chat.findUniqueOrThrow({ where: { id: chatId } });
      await tx.operatorRequest.create({
        data: {
          id: chatId,
          tenantId,
          chatId,
          contactId,
          operatorId: 'o',
          kind: 'conversation',
          ref: 'K-7Q4F',
          expiresAt: new Date(Date.now() + QUICK.inactivityMs + 8_000),
        },
      });
    });
    await sleep(QUICK.inactivityMs + 1_500);
    assert.deepEqual(await desk.sessions('gil'), [{ state: 'active', by: null }]);
    await desk.sessionIs('gil', 'resolved', 'timeout');
  });

  it('never opens for somebody who is blocked', async () => {
    await desk.settled(await desk.send('hal', 'Hello!'));
    await desk.sessionIs('hal', 'resolved', 'timeout');
    const { contactId } = await desk.database.inTenant(desk.tenantId, async (tx) =>
      tx.chat.findUniqueOrThrow({ where: { id: await desk.chatId('hal') } }),
    );
    await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.contact.update({ where: { id: contactId }, data: { blockedAt: new Date() } }),
    );
    const before = (await desk.texts('hal')).length;
    assert.deepEqual(await desk.settled(await desk.send('hal', 'Hello?')), {
      state: 'ignored',
      reason: 'blocked',
    });
    assert.equal((await desk.texts('hal')).length, before);
    assert.equal((await desk.sessions('hal')).length, 1);
  });

  it('is none for an owner, who is answered at once', async () => {
    const [owner] = desk.configuration.owners;
    const id = await desk.writeAs(`owner:${owner?.id ?? ''}`, 'owner-chat', 'Hello!');
    await desk.settled(id);
    assert.deepEqual(await desk.sessions('owner-chat'), []);
    const turn = await desk.database.inTenant(desk.tenantId, async (tx) =>
      tx.turn.findFirstOrThrow({ where: { chatId: await desk.chatId('owner-chat') } }),
    );
    assert.equal(turn.actor, 'owner');
    const { decision } = await desk.inScope(desk.tenantId, (scope) => turnById(scope, turn.id));
    assert.equal(decision.profile.graceMs ?? 0, 0, 'no grace');
  });
});
