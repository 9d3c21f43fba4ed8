// What concerns messages of our own: words that come back, a person at the shop's own phone, reports of the platform.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createContentCipher } from '../../../prisma/content.js';
import { lockOutgoing, stopOutgoing } from '../../../prisma/stores/deliveries.js';
import { planMessage } from '../../../prisma/stores/outbox.js';
import type { Scope } from '../../../prisma/stores/scope.js';
import { markSending, settleSend, type CallOutcome } from '../../../prisma/stores/sends.js';
import { releaseChat, takeoverOf } from '../../../prisma/stores/takeover.js';
import {
  BACK,
  echo,
  echoes,
  message,
  messages,
  OPERATOR,
  OTHER,
  OWNER,
  seconds,
  startCloud,
  text,
  webhook,
  type Cloud,
} from './cloud.js';

type Part = Record<string, unknown>;
const LEASE_MS = 1_800_000;

describe('messages of our own on the Cloud API', function () {
  this.timeout(120_000);
  let cloud: Cloud;
  let next = 0;
  before(async () => {
    cloud = await startCloud();
  });
  after(() => cloud.stop());

  const number = () => `90555300${String((next += 1)).padStart(4, '0')}`;
  const inShop = <T>(work: (scope: Scope) => Promise<T>) => cloud.inScope(cloud.shop.tenantId, work);
  const post = async (hook: unknown) => {
    const { status, json } = await cloud.post(hook);
    assert.equal(status, 200);
    return json;
  };
  /** Somebody has written, and has a chat. */
  const chatWith = async (from: string) => {
    const sent = text(from, 'hello');
    await post(messages(sent));
    return cloud.byId(sent.id);
  };
  const outbox = (outboxId: string) =>
    inShop(({ tx }) => tx.outbox.findUniqueOrThrow({ where: { id: outboxId } }));
  /** A message of ours, up to where its call stands. */
  const send = async (chat: { chatId: string; contactId: string }, words: string, outcome?: CallOutcome) => {
    const { outboxId } = await inShop((scope) =>
      planMessage(scope, {
        chatId: chat.chatId,
        contactId: chat.contactId,
        turnId: null,
        origin: { kind: 'test', id: randomUUID() },
        kind: 'answer',
        text: words,
      }),
    );
    const { fence } = await inShop(async (scope) => {
      const row = await lockOutgoing(scope, outboxId);
      assert.ok(row);
      return markSending(scope, row, { said: words });
    });
    if (outcome) await inShop((scope) => settleSend(scope, { outboxId, fence, outcome }));
    return { outboxId, fence };
  };
  const report = (status: string, more: Part = {}) =>
    webhook({ statuses: [{ status, timestamp: seconds(new Date()), recipient_id: '90', ...more }] });
  const takeover = (chatId: string) => inShop((scope) => takeoverOf(scope, chatId));

  describe('when words come back', () => {
    it('knows its own by their id, and by their words while the id isn’t known', async () => {
      const from = number();
      const chat = await chatWith(from);
      const id = `wamid.${randomUUID()}`;
      await send(chat, 'We open at nine.', { kind: 'sent', externalId: id });
      assert.equal((await post(echoes(echo(from, 'We open at nine.', { id })))).echoes, 1);

      const { outboxId } = await send(chat, 'See you then!', { kind: 'unknown', code: 'timeout' });
      const back = echo(from, 'See you then!');
      assert.equal((await post(echoes(back))).echoes, 1);
      const row = await outbox(outboxId);
      assert.deepEqual([row.state, row.externalId], ['sent', back.id], 'it came back, so it was sent');
      assert.equal((await post(echoes(back))).echoes, 1);
      assert.equal(await takeover(chat.chatId), undefined);
      const rows = await inShop(({ tx }) => tx.inbox.count({ where: { chatId: chat.chatId } }));
      assert.equal(rows, 1);
    });

    it('takes the same words for a person’s a few minutes later, in another chat, or said once more', async () => {
      const [from, elsewhere] = [number(), number()];
      const [chat, other] = [await chatWith(from), await chatWith(elsewhere)];
      const { outboxId } = await send(chat, 'OK', { kind: 'unknown', code: 'timeout' });
      await post(echoes(echo(elsewhere, 'OK')));
      assert.ok(await takeover(other.chatId));
      await inShop(({ tx }) =>
        tx.outbox.update({ where: { id: outboxId }, data: { sendingAt: new Date(Date.now() - 120_000) } }),
      );
      await post(echoes(echo(from, 'OK')));
      assert.ok(await takeover(chat.chatId));
      assert.equal((await outbox(outboxId)).state, 'unknown');

      const again = number();
      const third = await chatWith(again);
      await send(third, 'Yes', { kind: 'sent', externalId: 'wamid.the-first-yes' });
      await post(echoes(echo(again, 'Yes')));
      assert.ok(await takeover(third.chatId), 'we know the id of our own, and this is another');
    });
  });

  describe('when a person writes from the shop’s own phone', () => {
    it('hands them the chat for the lease, keeps their words, and tells the conversation', async () => {
      const from = number();
      const chat = await chatWith(from);
      cloud.conversations.calls.length = 0;
      const words = echo(from, 'I will look into it myself.');
      const started = Date.now();
      assert.equal((await post(echoes(words))).stored, 1);
      const row = await cloud.byId(words.id);
      assert.deepEqual(
        [row.speaker, row.arrival, row.state, row.reason, row.text, row.chatId],
        ['business', 'human', 'ignored', 'human', 'I will look into it myself.', chat.chatId],
      );
      const taken = await takeover(chat.chatId);
      assert.equal(taken?.by, 'business');
      const until = taken.until?.getTime() ?? 0;
      assert.ok(until >= started + LEASE_MS - 1_000 && until <= Date.now() + LEASE_MS + 1_000);
      assert.deepEqual(cloud.conversations.calls, [{ what: 'desk', chatId: chat.chatId }]);
    });

    it('lasts longer with every word, is noted once, and is never shortened', async () => {
      const from = number();
      const { chatId } = await chatWith(from);
      await post(echoes(echo(from, 'one')));
      const first = await takeover(chatId);
      await post(echoes(echo(from, 'two')));
      const second = await takeover(chatId);
      assert.ok(first?.until && second?.until && second.until >= first.until);
      assert.deepEqual(second.since, first.since);
      const noted = () =>
        inShop(({ tx }) => tx.audit.findMany({ where: { stream: chatId, event: 'chat_taken' } }));
      assert.equal((await noted()).length, 1);
      assert.equal((await noted())[0]?.actor, 'business');
      // An owner who took it until further notice keeps it so.
      await inShop(({ tx }) =>
        tx.chat.update({ where: { id: chatId }, data: { pausedUntil: null, pausedBy: 'owner:olivia' } }),
      );
      await post(echoes(echo(from, 'three')));
      assert.deepEqual(await takeover(chatId).then((now) => [now?.until, now?.by]), [undefined, 'business']);
      await inShop((scope) => releaseChat(scope, { chatId, by: 'owner:olivia' }));
      await post(echoes(echo(from, 'four')));
      assert.equal((await noted()).length, 3);
    });

    it('doesn’t take a chat for a mere sign, for a change of words, or for something long past', async () => {
      const from = number();
      const { chatId, externalId } = await chatWith(from);
      const change = { original_message_id: 'wamid.x', message: { type: 'text', text: { body: 'y' } } };
      await post(
        echoes(
          message(
            BACK,
            { type: 'reaction', reaction: { message_id: externalId, emoji: '👍' } },
            { to: from },
          ),
          message(BACK, { type: 'edit', edit: change }, { to: from }),
          echo(from, 'last week', { timestamp: seconds(new Date(Date.now() - 7 * 86_400_000)) }),
        ),
      );
      assert.equal(await takeover(chatId), undefined);
    });

    it('doesn’t take the chat of an owner or operator: what waits for them still comes', async () => {
      for (const who of [OWNER, OPERATOR]) {
        const { chatId, contactId } = await chatWith(who);
        const words = echo(who, 'Thanks, see you tomorrow.');
        await post(echoes(words));
        const row = await cloud.byId(words.id);
        assert.deepEqual([row.chatId, row.arrival, row.speaker], [chatId, 'human', 'business']);
        assert.equal(await takeover(chatId), undefined);
        const stopped = await inShop(async (scope) => {
          const { outboxId } = await planMessage(scope, {
            chatId,
            contactId,
            turnId: null,
            origin: { kind: 'approval_notice', id: randomUUID() },
            kind: 'acknowledgement',
            text: 'A request waits for you.',
          });
          const planned = await lockOutgoing(scope, outboxId);
          assert.ok(planned);
          return stopOutgoing(scope, planned);
        });
        assert.equal(stopped, undefined);
      }
    });

    it('opens a chat with somebody who never wrote', async () => {
      const to = number();
      const words = echo(to, 'Your bicycle is ready.');
      await post(echoes(words));
      const { chatId } = await cloud.byId(words.id);
      assert.equal(await cloud.address(chatId), to);
      assert.ok(await takeover(chatId));
    });

    it('is an operator where the code of a waiting question stands in it, and the chat stays ours', async () => {
      const [patient, desk] = [number(), number()];
      const asked = await chatWith(patient);
      const request = async (ref: string, expiresAt: Date) =>
        inShop(({ tx }) =>
          tx.operatorRequest.create({
            data: {
              id: randomUUID(),
              tenantId: cloud.shop.tenantId,
              chatId: asked.chatId,
              contactId: asked.contactId,
              operatorId: 'doc',
              kind: 'media',
              ref,
              expiresAt,
            },
          }),
        );
      await request('A-7K4M', new Date(Date.now() + 60_000));
      await request('B-7K4M', new Date(Date.now() - 1_000));
      const answer = echo(desk, 'A-7K4M it is only a scratch');
      await post(echoes(answer));
      const row = await cloud.byId(answer.id);
      assert.deepEqual([row.speaker, row.arrival, row.state], ['operator:doc', 'operator_reply', 'accepted']);
      assert.equal(await takeover(row.chatId), undefined);
      // Over, or said to the patient themselves: a person who writes.
      const late = echo(number(), 'B-7K4M sorry, only now');
      const direct = echo(patient, 'A-7K4M was your code');
      await post(echoes(late, direct));
      for (const { id } of [late, direct]) assert.equal((await cloud.byId(id)).arrival, 'human');
    });
  });

  it('takes an owner’s sign or quote for a command only on a notice to them', async () => {
    const owner = await chatWith(OWNER);
    const notice = `wamid.${randomUUID()}`;
    await send(owner, 'A request waits for you.', { kind: 'sent', externalId: notice });
    const sign = message(OWNER, { type: 'reaction', reaction: { message_id: notice, emoji: '👍' } });
    const quote = text(OWNER, 'who is that?', { context: { id: notice, from: BACK } });
    const foreign = message(number(), { type: 'reaction', reaction: { message_id: notice, emoji: '👍' } });
    await post(messages(sign, quote, foreign));
    const rows = await Promise.all([sign, quote, foreign].map(({ id }) => cloud.byId(id)));
    assert.deepEqual(
      rows.map(({ arrival, state, quotedExternalId }) => [arrival, state, quotedExternalId]),
      [
        ['owner_command', 'accepted', notice],
        ['owner_command', 'accepted', notice],
        ['reaction', 'ignored', notice],
      ],
    );
  });

  describe('when the platform reports', () => {
    it('keeps the highest status, in whatever order and however often they come', async () => {
      const chat = await chatWith(number());
      const orders = [
        ['sent', 'delivered', 'read', 'played'],
        ['played', 'read', 'delivered', 'sent'],
        ['read', 'read', 'sent', 'delivered', 'played', 'read'],
      ];
      for (const order of orders) {
        const id = `wamid.${randomUUID()}`;
        const { outboxId } = await send(chat, order.join(' '), { kind: 'sent', externalId: id });
        for (const status of order) await post(report(status, { id }));
        const row = await outbox(outboxId);
        assert.deepEqual([row.deliveryStatus, row.state], ['played', 'sent'], order.join(' '));
      }
      const doubled = `wamid.${randomUUID()}`;
      await send(chat, 'doubled', { kind: 'sent', externalId: doubled });
      const hook = report('delivered', { id: doubled });
      await Promise.all(Array.from({ length: 5 }, () => post(hook)));
      const events = await inShop(({ tx }) => tx.platformEvent.count({ where: { externalId: doubled } }));
      assert.equal(events, 1);
    });

    it('settles a send of which nobody heard, by the id that was given along', async () => {
      const chat = await chatWith(number());
      const [sent, failed] = [
        await send(chat, 'did it arrive?', { kind: 'unknown', code: 'timeout' }),
        await send(chat, 'and this?', { kind: 'unknown', code: 'timeout' }),
      ];
      const id = `wamid.${randomUUID()}`;
      await post(report('delivered', { id, biz_opaque_callback_data: sent.outboxId }));
      await post(
        report('failed', {
          id: `wamid.${randomUUID()}`,
          biz_opaque_callback_data: failed.outboxId,
          errors: [{ code: 131026, title: 'undeliverable' }],
        }),
      );
      const rows = [await outbox(sent.outboxId), await outbox(failed.outboxId)];
      assert.deepEqual(
        rows.map(({ state, deliveryStatus, code }) => [state, deliveryStatus, code]),
        [
          ['sent', 'delivered', null],
          ['failed', 'failed', '131026'],
        ],
      );
      assert.equal(rows[0]?.externalId, id);
      // Later reports name the platform's id alone.
      await post(report('read', { id }));
      assert.equal((await outbox(sent.outboxId)).deliveryStatus, 'read');
    });

    it('may come before the answer to the send itself, which changes nothing any more', async () => {
      const chat = await chatWith(number());
      const { outboxId, fence } = await send(chat, 'a slow answer');
      const id = `wamid.${randomUUID()}`;
      await post(report('delivered', { id, biz_opaque_callback_data: outboxId }));
      assert.equal((await outbox(outboxId)).state, 'sent');
      await inShop((scope) =>
        settleSend(scope, { outboxId, fence, outcome: { kind: 'unknown', code: 'timeout' } }),
      );
      assert.deepEqual(
        [(await outbox(outboxId)).state, (await outbox(outboxId)).deliveryStatus],
        ['sent', 'delivered'],
      );
    });

    it('says failed of what counted as sent, and that is final', async () => {
      const chat = await chatWith(number());
      const id = `wamid.${randomUUID()}`;
      const { outboxId } = await send(chat, 'outside of the window', { kind: 'sent', externalId: id });
      await post(report('failed', { id, errors: [{ code: 131047 }] }));
      await post(report('sent', { id }));
      const row = await outbox(outboxId);
      assert.deepEqual([row.state, row.deliveryStatus, row.code], ['failed', 'failed', '131047']);
    });

    it('on messages that are not ours, or not of this number, is kept as an event', async () => {
      const chat = await chatWith(number());
      const { outboxId } = await send(chat, 'of the front number', { kind: 'unknown', code: 'timeout' });
      const foreign = [
        report('delivered', { id: 'wamid.not-ours' }),
        report('read', { id: 'wamid.not-ours-either', biz_opaque_callback_data: 'somebody’s own word' }),
        // Another number of ours, and another business that shows off with our id.
        webhook(
          { statuses: [{ id: 'wamid.3', status: 'delivered', biz_opaque_callback_data: outboxId }] },
          { number: BACK },
        ),
      ];
      for (const hook of foreign) assert.equal((await post(hook)).statusesUnmatched, 1);
      const theirs = webhook(
        { statuses: [{ id: 'wamid.4', status: 'delivered', biz_opaque_callback_data: outboxId }] },
        { number: OTHER },
      );
      await cloud.post(theirs, { secret: 'other-secret' });
      assert.equal((await outbox(outboxId)).state, 'unknown');
      const kept = (await cloud.events()).filter(({ kind }) => kind === 'status');
      assert.equal(kept.filter(({ payload }) => payload !== undefined).length, 3);
      assert.equal((await cloud.events(cloud.other)).length, 1);
    });

    it('is erased with the person that it is about', async () => {
      const from = number();
      const { contactId } = await chatWith(from);
      await post(report('read', { id: 'wamid.of-somebody-else', recipient_id: from }));
      const kept = async () =>
        (await cloud.events()).filter(({ payload }) => JSON.stringify(payload ?? '').includes(from)).length;
      assert.equal(await kept(), 1);
      await inShop(({ tx }) =>
        tx.dataKey.updateMany({ where: { contactId }, data: { wrapped: null, destroyedAt: new Date() } }),
      );
      // Keys are kept in memory for a moment: another process has none of it.
      const elsewhere = createContentCipher({ keyring: cloud.content.keyring, cacheTtlMs: 0 });
      const row = await inShop(({ tx }) =>
        tx.platformEvent.findFirstOrThrow({ where: { externalId: 'wamid.of-somebody-else' } }),
      );
      assert.ok(row.keyId && row.payloadCipher);
      const { id, keyId, payloadCipher: cipher } = row;
      const place = { table: 'platform_events', column: 'payload_cipher', rowId: id };
      await assert.rejects(
        inShop(({ tx, tenantId }) => elsewhere.openText(tx, tenantId, { ...place, keyId, cipher })),
        { name: 'KeyDestroyedError' },
      );
    });

    it('is taken a thousand times in one webhook', async () => {
      const chat = await chatWith(number());
      const ids: string[] = [];
      for (let place = 0; place < 20; place += 1) {
        const id = `wamid.${randomUUID()}`;
        await send(chat, `n ${place}`, { kind: 'sent', externalId: id });
        ids.push(id);
      }
      const statuses = Array.from({ length: 1000 }, (_, place) => ({
        id: place < 900 ? `wamid.foreign-${place}` : ids[place % ids.length],
        status: ['sent', 'delivered', 'read'][place % 3],
        timestamp: seconds(new Date()),
        recipient_id: '905559990000',
      }));
      const answer = await post(webhook({ statuses }));
      assert.deepEqual([answer.statuses, answer.statusesUnmatched], [1000, 900]);
    });
  });
});
