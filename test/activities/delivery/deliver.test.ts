// One message, from the outbox to the platform and back into the ledger, through the real activity.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../bench/desk.js';
import { saysWaiting } from '../../../prisma/functions.js';
import { findByOrigin, outgoingById, planMessage } from '../../../prisma/stores/outbox.js';
import type { Scope } from '../../../prisma/stores/scope.js';
import { MOST_ATTEMPTS, settleByPerson, settleReported } from '../../../prisma/stores/sends.js';
import { releaseChat, takeChat } from '../../../prisma/stores/takeover.js';
import { listUndelivered } from '../../../prisma/stores/views/undelivered.js';
import { noteStatuses } from '../../../prisma/stores/statuses.js';
import { retryDelayOf, startSendKit, type Chat, type SendKit } from './kit.js';

let kit: SendKit;

before(async function () {
  this.timeout(60_000);
  kit = await startSendKit({ sendTimeoutMs: 1_500 });
});
after(() => kit.stop());
beforeEach(() => kit.fake.forget());

const sentTexts = (): unknown[] =>
  kit.fake.taken().map(({ request }) => (request.type === 'text' ? request.text.body : request.type));

describe('a message on WhatsApp', function () {
  this.timeout(20_000);

  it('is sent in its own marks, takes its place in the chat, and answers the message', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan({ ...turn, answersMessageId: turn.messageId });
    assert.deepEqual(await kit.deliver(outboxId), { state: 'sent' });
    const [taken] = kit.fake.taken();
    assert.deepEqual(sentTexts(), ['Here is *your* answer.']);
    assert.deepEqual([taken?.recipient, taken?.callbackData], [turn.address, outboxId]);
    const row = await kit.row(outboxId);
    assert.deepEqual(
      { ...row, id: 0 },
      {
        id: 0,
        state: 'sent',
        code: null,
        sequence: 2,
        externalId: taken?.wamid,
        attempts: 1,
        deliveryStatus: null,
      },
    );
    assert.deepEqual(await kit.ledger(turn.turnId), {
      state: 'answered',
      reason: 'detector',
      turn: 'closed',
      outcome: 'answer',
    });
  });

  it('is sent once, however often it is asked for', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    await kit.deliver(outboxId);
    assert.deepEqual(await kit.deliver(outboxId), { state: 'sent' });
    assert.equal(kit.fake.attempts(), 1);
  });

  it('is sent once where ten workers ask at the same time', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    const asked = Array.from({ length: 10 }, () =>
      kit.activities
        .deliver({ tenantId: kit.tenantId, outboxId })
        .catch((error: unknown) => retryDelayOf(error)),
    );
    await Promise.all(asked);
    assert.equal(kit.fake.attempts(), 1);
    assert.equal((await kit.row(outboxId)).state, 'sent');
  });

  it('that is not there has failed, and holds nobody up', async () => {
    assert.deepEqual(await kit.deliver(randomUUID()), { state: 'failed' });
  });

  it('goes to a user id in the field for those', async () => {
    const chat = await kit.chat({
      address: `US.${randomUUID().replaceAll('-', '')}`,
      addressKind: 'user_id',
    });
    await kit.deliver(await kit.plan({ ...chat, turnId: null }));
    const [taken] = kit.fake.taken();
    assert.deepEqual([taken?.request.recipient, taken?.request.to], [chat.address, undefined]);
  });

  it('goes to where its person is now, and to nobody where no address of theirs is left', async () => {
    const chat = await kit.chat();
    const leave = () =>
      kit.inTenant(({ tx }) =>
        tx.contactAlias.updateMany({ where: { contactId: chat.contactId }, data: { retiredAt: new Date() } }),
      );
    await leave();
    const moved = await kit.chat();
    await kit.inTenant(({ tx }) =>
      tx.contactAlias.updateMany({
        where: { contactId: moved.contactId },
        data: { contactId: chat.contactId },
      }),
    );
    const first = await kit.plan({ ...chat, turnId: null });
    assert.deepEqual(await kit.deliver(first), { state: 'sent' });
    assert.equal(kit.fake.taken().at(-1)?.recipient, moved.address);
    await leave();
    const attempts = kit.fake.attempts();
    const second = await kit.plan({ ...chat, turnId: null });
    assert.deepEqual(await kit.deliver(second), { state: 'failed' });
    assert.equal((await kit.row(second)).code, 'no_address');
    assert.equal(kit.fake.attempts(), attempts);
  });

  it('quotes what it answers where the customer has written more since, and only then', async () => {
    const chat = await kit.chat();
    const first = await kit.turn(chat);
    const alone = await kit.plan({ ...first, answersMessageId: first.messageId });
    await kit.deliver(alone);
    const second = await kit.turn(chat);
    await kit.turn(chat);
    await kit.deliver(await kit.plan({ ...second, answersMessageId: second.messageId }));
    assert.deepEqual(
      kit.fake.taken().map(({ request }) => request.context),
      [undefined, { message_id: second.externalId }],
    );
  });

  it('has buttons, a list, or is a reaction', async () => {
    const chat = await kit.chat();
    const buttons = [
      { id: 'yes', title: 'Approve' },
      { id: 'no', title: 'Reject' },
    ];
    const list = { button: 'Choose', sections: [{ rows: [{ id: '1', title: 'One' }] }] };
    const reaction = { externalId: 'wamid.theirs', emoji: '👍' };
    for (const details of [{ buttons }, { list }, { reaction }]) {
      await kit.deliver(await kit.plan({ ...chat, turnId: null, details }));
    }
    assert.deepEqual(sentTexts(), ['interactive', 'interactive', 'reaction']);
  });

  it('with choices that could not be shown is a mistake of whoever plans it', async () => {
    const chat = await kit.chat();
    const choice = (id: string) => ({ id, title: 'A choice' });
    for (const buttons of [
      ['a', 'b', 'c', 'd'].map(choice),
      ['a', 'a'].map(choice),
      [{ id: 'a', title: '' }],
    ]) {
      await assert.rejects(kit.plan({ ...chat, turnId: null, details: { buttons } }), TypeError);
    }
    const list = { button: 'Choose', sections: [] };
    await assert.rejects(kit.plan({ ...chat, turnId: null, details: { list } }), TypeError);
  });

  it('is said as it stands where it is no Markdown', async () => {
    const chat = await kit.chat();
    const text = 'K-7Q4F: **2** of _these_?';
    await kit.deliver(await kit.plan({ ...chat, turnId: null, text, details: { isVerbatim: true } }));
    assert.deepEqual(sentTexts(), [text]);
  });

  it('can be read back with what goes with it', async () => {
    const chat = await kit.chat();
    const details = { buttons: [{ id: 'a', title: 'A' }], purpose: 'approvalRequest' as const };
    const outboxId = await kit.plan({ ...chat, turnId: null, text: 'so?', details });
    assert.deepEqual(await kit.inTenant((scope) => outgoingById(scope, outboxId)), {
      chatId: chat.chatId,
      kind: 'answer',
      text: 'so?',
      details,
    });
  });

  it('is recognised when the platform echoes it: by the words that went out', async () => {
    const chat = await kit.chat();
    const outboxId = await kit.plan({ ...chat, turnId: null });
    await kit.deliver(outboxId);
    const found = await kit.inTenant(({ tx, content }) =>
      tx.outbox.findFirst({
        where: { chatId: chat.chatId, contentHmac: content.hmacContent('Here is *your* answer.') },
      }),
    );
    assert.equal(found?.id, outboxId);
  });
});

describe('a send that is refused', function () {
  this.timeout(30_000);

  it('waits as long as the platform asks, and is then sent', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    const delays: (number | undefined)[] = [];
    kit.fake.faults.next(
      { kind: 'refuse', code: 131056 },
      { kind: 'refuse', code: 131056 },
      { kind: 'refuse', code: 131056 },
    );
    for (;;) {
      try {
        await kit.activities.deliver({ tenantId: kit.tenantId, outboxId });
        break;
      } catch (error) {
        delays.push(retryDelayOf(error));
        assert.equal((await kit.row(outboxId)).state, 'planned');
      }
    }
    assert.deepEqual(delays, [1_000, 4_000, 16_000]);
    assert.equal(kit.fake.taken().length, 1);
    assert.deepEqual((await kit.row(outboxId)).attempts, 4);
  });

  it('has failed when it was refused too often, and hands its message off', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    kit.fake.faults.next(
      ...Array.from({ length: MOST_ATTEMPTS }, () => ({ kind: 'refuse' as const, code: 130429 })),
    );
    assert.deepEqual(await kit.deliver(outboxId, { waitsAtMostMs: 1 }), { state: 'failed' });
    assert.deepEqual(await kit.ledger(turn.turnId), {
      state: 'handed_off',
      reason: 'not delivered (130429)',
      turn: 'closed',
      outcome: 'undelivered',
    });
    assert.deepEqual(await kit.audited(outboxId), ['message_undelivered']);
    assert.equal(kit.fake.taken().length, 0);
  });

  for (const code of [131026, 131049, 190, 10, 200, 368, 100, 131051, 132001]) {
    it(`for good (${code}) is not tried again, and is listed`, async () => {
      const turn = await kit.turn(await kit.chat());
      const outboxId = await kit.plan(turn);
      kit.fake.faults.next({ kind: 'refuse', code });
      assert.deepEqual(await kit.deliver(outboxId), { state: 'failed' });
      assert.deepEqual(await kit.deliver(outboxId), { state: 'failed' });
      assert.equal(kit.fake.attempts(), 1);
      const listed = await kit.inTenant((scope) => listUndelivered(scope, { limit: 50 }));
      const line = listed.find((one) => one.outboxId === outboxId);
      assert.deepEqual([line?.state, line?.code, line?.chat], ['failed', String(code), turn.address]);
      assert.equal((await kit.ledger(turn.turnId)).state, 'handed_off');
    });
  }

  it('leaves the turn open where it was only an acknowledgement', async () => {
    const turn = await kit.turn(await kit.chat(), { withRun: true });
    kit.fake.faults.next({ kind: 'refuse', code: 131026 });
    await kit.deliver(await kit.plan({ ...turn, kind: 'acknowledgement' }));
    assert.equal((await kit.ledger(turn.turnId)).state, 'accepted');
    await kit.deliver(await kit.plan({ ...turn, origin: { kind: 'summary', id: turn.turnId } }));
    assert.equal((await kit.ledger(turn.turnId)).state, 'answered');
  });

  it('says nothing of the customer in the log', () => {
    assert.ok(kit.logLines.length > 10, 'something was logged');
    assert.ok(
      kit.logLines.some((line) => line.includes('"code":"131026"')),
      'with its code',
    );
    for (const line of kit.logLines) assert.doesNotMatch(line, /your answer|90555\d{7}/);
  });
});

describe('a send of which nobody knows', function () {
  this.timeout(30_000);

  const KINDS = [
    { kind: 'cutAfter' },
    { kind: 'cutBefore' },
    { kind: 'serverError', isTaken: true },
    { kind: 'serverError', isTaken: false },
    { kind: 'silence', isTaken: true },
    { kind: 'garbage' },
  ] as const;
  for (const fault of KINDS) {
    const isTaken = 'isTaken' in fault ? fault.isTaken : fault.kind !== 'cutBefore';
    it(`(${fault.kind}${isTaken ? ', taken' : ''}) stays open, is listed, and is never sent again`, async () => {
      const turn = await kit.turn(await kit.chat());
      const outboxId = await kit.plan(turn);
      kit.fake.faults.next(fault);
      assert.deepEqual(await kit.deliver(outboxId), { state: 'unknown' });
      assert.deepEqual(await kit.deliver(outboxId), { state: 'unknown' });
      assert.equal(kit.fake.attempts(), 1);
      assert.equal(kit.fake.taken().length, isTaken ? 1 : 0);
      assert.deepEqual(await kit.ledger(turn.turnId), {
        state: 'accepted',
        reason: null,
        turn: 'running',
        outcome: null,
      });
      const listed = await kit.inTenant((scope) => listUndelivered(scope, { limit: 50, only: 'unknown' }));
      assert.ok(
        listed.some((one) => one.outboxId === outboxId),
        'listed',
      );
      assert.deepEqual(await kit.audited(outboxId), ['message_unknown']);
    });
  }

  async function unknownSend() {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    kit.fake.faults.next({ kind: 'cutAfter' });
    await kit.deliver(outboxId);
    const taken = kit.fake.taken().at(-1);
    assert.ok(taken, 'the platform has it');
    return { turn, outboxId, taken };
  }

  it('left under way by a worker that is gone, with nobody to ask again, is found by the sweep', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    const setSending = (msAgo: number) =>
      kit.inTenant(({ tx }) =>
        tx.outbox.update({
          where: { id: outboxId },
          data: { state: 'sending', sendingAt: new Date(Date.now() - msAgo) },
        }),
      );
    const isFound = async (): Promise<boolean> => {
      const says = await saysWaiting(kit.database.prisma, { olderThanMs: 0, limit: 1_000 });
      return says.some((say) => say.outboxId === outboxId);
    };
    await setSending(60_000);
    assert.equal(await isFound(), false);
    await setSending(130_000);
    assert.equal(await isFound(), true);
    assert.deepEqual(await kit.deliver(outboxId), { state: 'unknown' });
    assert.equal(await isFound(), false);
    assert.equal(kit.fake.attempts(), 0);
  });

  it('is settled by a status that says it arrived', async () => {
    const { turn, outboxId, taken } = await unknownSend();
    assert.equal(await kit.fake.webhooks.reportNow(taken, 'delivered'), 200);
    const row = await kit.row(outboxId);
    assert.deepEqual([row.state, row.externalId, row.deliveryStatus], ['sent', taken.wamid, 'delivered']);
    assert.equal((await kit.ledger(turn.turnId)).state, 'answered');
  });

  it('is settled by a status that says it failed', async () => {
    const { turn, outboxId, taken } = await unknownSend();
    await kit.fake.webhooks.reportNow(taken, 'failed', 131026);
    const row = await kit.row(outboxId);
    assert.deepEqual([row.state, row.code], ['failed', '131026']);
    assert.deepEqual((await kit.ledger(turn.turnId)).reason, 'not delivered (131026)');
  });

  it('is settled by a person, one way or the other, and the audit tells who', async () => {
    for (const hasArrived of [true, false]) {
      const { turn, outboxId } = await unknownSend();
      const settle = () =>
        kit.inTenant((scope) => settleByPerson(scope, { outboxId, hasArrived, by: 'owner:ada' }));
      assert.deepEqual(await settle(), { outcome: 'settled' });
      assert.deepEqual(await settle(), { outcome: 'not_unknown' });
      assert.equal((await kit.row(outboxId)).state, hasArrived ? 'sent' : 'failed');
      assert.equal((await kit.ledger(turn.turnId)).state, hasArrived ? 'answered' : 'handed_off');
      assert.equal((await kit.audited(outboxId)).at(-1), 'message_settled');
      assert.deepEqual(await kit.deliver(outboxId), { state: hasArrived ? 'sent' : 'failed' });
    }
  });
});

describe('what the platform reports', function () {
  this.timeout(20_000);

  it('late, doubled and out of order, leaves the highest', async () => {
    kit.fake.report({
      statuses: ['sent', 'delivered', 'read'],
      copies: 2,
      isShuffled: true,
      delayMs: [0, 30],
    });
    const ids: string[] = [];
    const chat = await kit.chat();
    for (let count = 0; count < 10; count += 1) {
      const outboxId = await kit.plan({ ...(await kit.turn(chat)) });
      await kit.deliver(outboxId);
      ids.push(outboxId);
    }
    await kit.fake.webhooks.settled();
    kit.fake.report(undefined);
    for (const id of ids) {
      const row = await kit.row(id);
      assert.deepEqual([row.state, row.deliveryStatus], ['sent', 'read']);
    }
    const sequences = await Promise.all(ids.map(async (id) => (await kit.row(id)).sequence));
    assert.equal(new Set(sequences).size, ids.length, 'each has one place in the chat');
  });

  it('before the answer to the send has come, is the answer', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    kit.fake.report({ statuses: ['sent'], delayMs: 0 });
    kit.fake.faults.next({ kind: 'slow', ms: 1 });
    const slow = {
      ...kit.graph,
      send: async (...send: Parameters<typeof kit.graph.send>) => {
        const outcome = await kit.graph.send(...send);
        await kit.fake.webhooks.settled();
        assert.equal((await kit.row(outboxId)).state, 'sent', 'settled by the status');
        return outcome;
      },
    };
    assert.deepEqual(await kit.deliver(outboxId, { activities: kit.activitiesWith({ graph: slow }) }), {
      state: 'sent',
    });
    kit.fake.report(undefined);
    assert.equal((await kit.row(outboxId)).sequence, 2);
  });

  it('that it failed, before the answer to the send has come, is not forgotten when that comes', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    const overtaken = {
      ...kit.graph,
      send: async (...send: Parameters<typeof kit.graph.send>) => {
        const outcome = await kit.graph.send(...send);
        const taken = kit.fake.taken().at(-1);
        assert.ok(taken, 'taken');
        await kit.fake.webhooks.reportNow(taken, 'failed', 131026);
        return outcome;
      },
    };
    const activities = kit.activitiesWith({ graph: overtaken });
    assert.deepEqual(await kit.deliver(outboxId, { activities }), { state: 'failed' });
    const { state, code, sequence, externalId } = await kit.row(outboxId);
    assert.deepEqual([state, code, sequence], ['failed', '131026', null]);
    assert.equal(externalId, kit.fake.taken().at(-1)?.wamid, 'later reports find it');
    assert.deepEqual(await kit.ledger(turn.turnId), {
      state: 'handed_off',
      reason: 'not delivered (131026)',
      turn: 'closed',
      outcome: 'undelivered',
    });
  });

  it('of an answer that never arrived takes the answer back', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    await kit.deliver(outboxId);
    assert.equal((await kit.ledger(turn.turnId)).state, 'answered');
    const [taken] = kit.fake.taken();
    assert.ok(taken, 'taken');
    await kit.fake.webhooks.reportNow(taken, 'failed', 131049);
    assert.equal((await kit.row(outboxId)).state, 'failed');
    assert.deepEqual(await kit.ledger(turn.turnId), {
      state: 'handed_off',
      reason: 'not delivered (131049)',
      turn: 'closed',
      outcome: 'undelivered',
    });
    // Failed is final.
    await kit.fake.webhooks.reportNow(taken, 'delivered');
    assert.equal((await kit.row(outboxId)).state, 'failed');
  });

  it('of a message of another tenant changes nothing here', async () => {
    const turn = await kit.turn(await kit.chat());
    const outboxId = await kit.plan(turn);
    const noted = await noteStatuses(kit.database.prisma, {
      channel: 'whatsapp-cloud',
      accountKey: '999999999999999',
      statuses: [{ externalId: 'wamid.X', outboxId, status: 'delivered', digest: new Uint8Array([1]) }],
    });
    assert.equal(noted, undefined);
    assert.equal(await kit.inTenant((scope) => settleReported(scope, outboxId)), 'planned');
  });
});

describe('while a person has the chat', function () {
  this.timeout(20_000);

  for (const channel of ['whatsapp-cloud', 'web'] as const) {
    it(`words of a run are held, and said when it comes back (${channel})`, async () => {
      const turn = await kit.turn(await kit.chat({ channel }), { withRun: true });
      const outboxId = await kit.plan(turn);
      await kit.inTenant((scope) => takeChat(scope, { chatId: turn.chatId, by: 'owner:ada' }));
      assert.deepEqual(await kit.deliver(outboxId), { state: 'planned', held: true });
      assert.equal((await kit.ledger(turn.turnId)).state, 'accepted');
      assert.equal(kit.fake.attempts(), 0);
      await kit.inTenant((scope) => releaseChat(scope, { chatId: turn.chatId, by: 'owner:ada' }));
      assert.deepEqual(await kit.deliver(outboxId), { state: 'sent' });
      assert.equal((await kit.ledger(turn.turnId)).state, 'answered');
    });

    it(`other words are discarded, and the message is handed off (${channel})`, async () => {
      const turn = await kit.turn(await kit.chat({ channel }));
      const outboxId = await kit.plan(turn);
      const until = new Date(Date.now() + 60_000);
      await kit.inTenant((scope) => takeChat(scope, { chatId: turn.chatId, by: 'business', until }));
      assert.deepEqual(await kit.deliver(outboxId), { state: 'discarded' });
      const { state, reason } = await kit.ledger(turn.turnId);
      assert.deepEqual([state, reason], ['handed_off', 'human']);
      assert.equal(kit.fake.attempts(), 0);
    });

    it(`a lease that is over holds nothing (${channel})`, async () => {
      const turn = await kit.turn(await kit.chat({ channel }));
      const until = new Date(Date.now() + 20);
      await kit.inTenant((scope) => takeChat(scope, { chatId: turn.chatId, by: 'business', until }));
      await sleep(60);
      assert.deepEqual(await kit.deliver(await kit.plan(turn)), { state: 'sent' });
    });
  }

  it('words that others asked us to pass on are held too', async () => {
    const chat = await kit.chat();
    const outboxId = await kit.plan({ ...chat, turnId: null });
    await kit.inTenant((scope) => takeChat(scope, { chatId: chat.chatId, by: 'business' }));
    assert.deepEqual(await kit.deliver(outboxId), { state: 'planned', held: true });
  });

  it('a greeting is not said any more: afterwards it would be out of place', async () => {
    const chat = await kit.chat();
    const origin = { kind: 'first_message', id: randomUUID() };
    const greeting = { ...chat, turnId: null, kind: 'acknowledgement' as const, origin };
    const outboxId = await kit.plan(greeting);
    await kit.inTenant((scope) => takeChat(scope, { chatId: chat.chatId, by: 'business' }));
    assert.deepEqual(await kit.deliver(outboxId), { state: 'discarded' });
    await kit.inTenant((scope) => releaseChat(scope, { chatId: chat.chatId, by: 'business' }));
    assert.deepEqual(await kit.deliver(outboxId), { state: 'discarded' });
    assert.equal(kit.fake.attempts(), 0);
  });
});

describe('a question to an operator that only the sweep sends', function () {
  this.timeout(20_000);
  /** Its messages, planned in one transaction and in the wrong order; by ordinal. */
  async function planned(chat: Chat, ordinals: number[]): Promise<{ ids: string[]; requestId: string }> {
    const requestId = randomUUID();
    const { chatId, contactId } = chat;
    const rows = await kit.inTenant(async (scope) => {
      const outboxIds = new Map<number, string>();
      for (const ordinal of [...ordinals].reverse()) {
        const { outboxId } = await planMessage(scope, {
          chatId,
          contactId,
          turnId: null,
          kind: 'acknowledgement',
          origin: { kind: 'operator_request', id: requestId, ordinal },
          text: `Message ${ordinal}`,
        });
        outboxIds.set(ordinal, outboxId);
      }
      return outboxIds;
    });
    return { ids: ordinals.map((ordinal) => rows.get(ordinal) ?? ''), requestId };
  }
  const due = async ({ chatId }: Chat): Promise<string[]> =>
    (await saysWaiting(kit.database.prisma, { olderThanMs: 0, limit: 1_000 }))
      .filter((say) => say.chatId === chatId)
      .map(({ outboxId }) => outboxId);

  for (const first of [0, 1_000]) {
    it(`goes before its pictures (from ${first} on)`, async () => {
      const chat = await kit.chat();
      const { ids } = await planned(chat, [first, first + 1, first + 2]);
      const [question = '', ...pictures] = ids;
      assert.deepEqual(await due(chat), [question]);
      const setState = (data: object): Promise<unknown> =>
        kit.inTenant(({ tx }) => tx.outbox.update({ where: { id: question }, data }));
      await setState({ state: 'sending', sendingAt: new Date() });
      assert.deepEqual(await due(chat), [], 'nobody knows yet whether it arrives');
      await setState({ state: 'planned', sendingAt: null });
      assert.deepEqual(await kit.deliver(question), { state: 'sent' });
      assert.deepEqual(await due(chat), pictures);
    });
  }

  it('takes its pictures with it when it fails, unless only the window kept it', async () => {
    const chat = await kit.chat();
    const { ids } = await planned(chat, [0, 1]);
    const [question = '', picture] = ids;
    const fails = (code: string): Promise<unknown> =>
      kit.inTenant(({ tx }) =>
        tx.outbox.update({ where: { id: question }, data: { state: 'failed', code, settledAt: new Date() } }),
      );
    await fails('131026');
    assert.deepEqual(await due(chat), []);
    await fails('window_closed');
    assert.deepEqual(await due(chat), [picture]);
  });
});

describe('a delivery that waits for its chat', function () {
  this.timeout(20_000);

  type Work = (scope: Scope) => Promise<unknown>;
  /** Holds the chat's lock, does `first` in it, waits until so many deliveries wait, does `then`, and commits. */
  async function whileLocked(
    chatId: string,
    outboxIds: string[],
    { first, then }: { first?: Work; then?: Work } = {},
  ): Promise<unknown[]> {
    const deliveries: Promise<unknown>[] = [];
    await kit.inTenant(async (scope) => {
      await scope.tx.$queryRaw`select 1 from chats where id = ${chatId}::uuid for update`;
      await first?.(scope);
      deliveries.push(...outboxIds.map((outboxId) => kit.deliver(outboxId)));
      await until(
        async () => {
          const [row] = await kit.database.prisma.$queryRaw<{ waiting: number }[]>`
            select count(*)::int as waiting from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`;
          return (row?.waiting ?? 0) >= outboxIds.length ? true : undefined;
        },
        10_000,
        'the deliveries to wait',
      );
      await then?.(scope);
    });
    return Promise.all(deliveries);
  }

  for (const channel of ['whatsapp-cloud', 'web'] as const) {
    it(`sees that a person took it meanwhile (${channel})`, async () => {
      const turn = await kit.turn(await kit.chat({ channel }), { withRun: true });
      const outboxId = await kit.plan(turn);
      const { chatId } = turn;
      const ends = await whileLocked(chatId, [outboxId], {
        first: (scope) => takeChat(scope, { chatId, by: 'business' }),
      });
      assert.deepEqual(ends, [{ state: 'planned', held: true }]);
      assert.equal(kit.fake.attempts(), 0);
    });
  }

  it('is in nobody’s way who has the chat and discards it', async () => {
    const chat = await kit.chat();
    const outboxId = await kit.plan({ ...chat, turnId: null });
    const data = { state: 'discarded', code: 'session_over', settledAt: new Date() };
    const ends = await whileLocked(chat.chatId, [outboxId], {
      then: ({ tx }) => tx.outbox.update({ where: { id: outboxId }, data }),
    });
    assert.deepEqual(ends, [{ state: 'discarded' }]);
  });

  // A platform's call isn't made under the lock: there the conversation is the only one who speaks.
  it('sees the last word that was said meanwhile, where the commit is the delivery', async () => {
    const turn = await kit.turn(await kit.chat({ channel: 'web' }));
    const outboxIds = [await kit.plan(turn), await kit.plan(turn)];
    const ends = await whileLocked(turn.chatId, outboxIds);
    const states = ends.map((end) => Reflect.get(Object(end), 'state')).sort();
    assert.deepEqual(states, ['discarded', 'sent']);
  });
});

describe('an acknowledgement', function () {
  this.timeout(20_000);
  const acknowledge = (turnId: string) => kit.activities.acknowledge({ tenantId: kit.tenantId, turnId });
  const decided = async (channel: 'whatsapp-cloud' | 'web') => {
    const turn = await kit.turn(await kit.chat({ channel }), { withRun: true });
    await kit.inTenant(({ tx }) =>
      tx.turn.update({
        where: { id: turn.turnId },
        data: { decision: { decisionId: 'd', turnId: turn.turnId, profile: {}, route: { kind: 'answer' } } },
      }),
    );
    return turn;
  };

  for (const channel of ['whatsapp-cloud', 'web'] as const) {
    it(`is said once, and leaves the turn open (${channel})`, async () => {
      const { turnId } = await decided(channel);
      assert.deepEqual(await acknowledge(turnId), { state: 'sent' });
      assert.equal((await kit.ledger(turnId)).state, 'accepted');
      assert.equal(kit.fake.attempts(), channel === 'web' ? 0 : 1);
    });

    it(`is not said where the run has spoken (${channel})`, async () => {
      const turn = await decided(channel);
      await kit.plan(turn);
      assert.deepEqual(await acknowledge(turn.turnId), { state: 'unneeded' });
    });
  }

  it('is said although the run has written to somebody else, such as the owner', async () => {
    const turn = await decided('whatsapp-cloud');
    const owner = await kit.chat();
    await kit.plan({ ...turn, chatId: owner.chatId, kind: 'acknowledgement' });
    assert.deepEqual(await acknowledge(turn.turnId), { state: 'sent' });
  });

  it('that was refused for now is said by the next attempt, and not forgotten', async () => {
    const { turnId } = await decided('whatsapp-cloud');
    kit.fake.faults.next({ kind: 'refuse', code: 130429 });
    await assert.rejects(acknowledge(turnId));
    assert.deepEqual(await acknowledge(turnId), { state: 'sent' });
    assert.equal(kit.fake.taken().length, 1);
    const known = await kit.inTenant((scope) => findByOrigin(scope, { kind: 'acknowledgement', id: turnId }));
    assert.ok(known, 'one row');
  });
});
