import assert from 'node:assert/strict';
import { chatOfPhone } from '../../../prisma/stores/owner-chats.js';
import { recipientOf } from '../../../prisma/stores/recipients.js';
import type { Scope } from '../../../prisma/stores/scope.js';
import { releaseChat, takeChat, takeoverOf } from '../../../prisma/stores/takeover.js';
import {
  BACK,
  echo,
  echoes,
  message,
  messages,
  seconds,
  startCloud,
  text,
  webhook,
  type Cloud,
  type Stored,
} from './cloud.js';

type Part = Record<string, unknown>;

describe('who writes on the Cloud API', function () {
  this.timeout(60_000);
  let cloud: Cloud;
  let next = 0;
  before(async () => {
    cloud = await startCloud();
  });
  after(() => cloud.stop());

  /** A number that nobody else in this file has. */
  const number = () => `90555200${String((next += 1)).padStart(4, '0')}`;
  const userId = () => `TR.${700_000 + (next += 1)}`;

  const say = async (
    sent: Part & { id: string },
    contacts?: Part[],
    to: { number?: string } = {},
  ): Promise<Stored> => {
    const { status, json } = await cloud.post(
      webhook({ messages: [sent], ...(contacts && { contacts }) }, to),
    );
    assert.deepEqual([status, json.refused], [200, {}]);
    return cloud.byId(sent.id);
  };
  const sameChat = (...all: Stored[]) => new Set(all.map(({ chatId }) => chatId)).size === 1;
  const changed = (from: string, system: Part, more: Part = {}) =>
    message(from, { type: 'system', system: { body: 'changed', ...system } }, more);
  const hidden = (bsuid: string, body: string) =>
    message('', { type: 'text', text: { body } }, { from: undefined, from_user_id: bsuid });
  const inShop = <T>(work: (scope: Scope) => Promise<T>) => cloud.inScope(cloud.shop.tenantId, work);
  const reachedAt = async ({ chatId }: Stored) =>
    (await inShop((scope) => recipientOf(scope, chatId)))?.address;
  const inAMinute = () => seconds(new Date(Date.now() + 60_000));
  const aliases = (contactId: string) =>
    cloud.inScope(cloud.shop.tenantId, ({ tx }) =>
      tx.contactAlias.findMany({ where: { contactId }, orderBy: { kind: 'asc' } }),
    );

  it('is one person by any of their names, in whatever order these become known', async () => {
    const [phone, bsuid, parent] = [number(), userId(), userId()];
    const byPhone = await say(text(phone, 'by number alone'));
    const byBoth = await say(text(phone, 'with a user id'), [
      { wa_id: phone, user_id: bsuid, parent_user_id: parent },
    ]);
    const byUserId = await say(
      message(
        '',
        { type: 'text', text: { body: 'number hidden' } },
        { from: undefined, from_user_id: bsuid },
      ),
    );
    const byParent = await say(
      message('', { type: 'text', text: { body: 'by the parent id' } }, { from: undefined }),
      [{ user_id: userId(), parent_user_id: parent }],
    );
    assert.ok(sameChat(byPhone, byBoth, byUserId, byParent));
    assert.deepEqual(
      (await aliases(byPhone.contactId)).map(({ kind }) => kind),
      ['bsuid', 'bsuid', 'parent', 'phone'],
    );
  });

  it('gets replies at the address that the platform gave last', async () => {
    const [phone, bsuid] = [number(), userId()];
    const { chatId } = await say(text(phone, 'hello'), [{ wa_id: phone, user_id: bsuid }]);
    assert.equal(await cloud.address(chatId), phone);
    await say(
      message('', { type: 'text', text: { body: 'hidden now' } }, { from: undefined, from_user_id: bsuid }),
    );
    assert.equal(await cloud.address(chatId), bsuid);
    await say(text(phone, 'and back'));
    assert.equal(await cloud.address(chatId), phone);
  });

  it('is never found by digits that only look alike', async () => {
    const one = await say(text('5215512345678', 'a Mexican number as the platform writes it'));
    const other = await say(text('525512345678', 'the same without its 1'));
    assert.notEqual(one.contactId, other.contactId);
    assert.equal(await cloud.address(one.chatId), '5215512345678');
  });

  it('stays the same after a new number, in either order of the two messages', async () => {
    const [before, after] = [number(), number()];
    const first = await say(text(before, 'from the old number'));
    const told = await say(changed(before, { type: 'user_changed_number', wa_id: after }));
    const then = await say(text(after, 'from the new one'));
    assert.ok(sameChat(first, told, then));
    assert.deepEqual(
      [told.kind, told.arrival, told.state, told.speaker],
      ['system', 'system', 'ignored', 'platform'],
    );
    assert.equal(await cloud.address(first.chatId), after);

    const [old, fresh] = [number(), number()];
    const known = await say(text(old, 'long known'));
    const stranger = await say(text(fresh, 'it is me with a new number'));
    assert.notEqual(known.contactId, stranger.contactId);
    await say(changed(old, { type: 'user_changed_number', wa_id: fresh }));
    const later = await say(text(fresh, 'still me'));
    assert.equal(later.contactId, known.contactId);
    // Their chat of today goes on, and both rows stay readable: keys are not moved.
    assert.equal(later.chatId, stranger.chatId);
    assert.deepEqual(
      [await cloud.byId(known.externalId), await cloud.byId(stranger.externalId)].map((row) => row.text),
      ['long known', 'it is me with a new number'],
    );
    const merged = await cloud.inScope(cloud.shop.tenantId, ({ tx }) =>
      tx.contact.findUniqueOrThrow({ where: { id: stranger.contactId } }),
    );
    assert.equal(merged.mergedInto, known.contactId);
  });

  it('stays the same when the user id is made anew, told as a message or as an event', async () => {
    const [phone, one, two, three] = [number(), userId(), userId(), userId()];
    const first = await say(text(phone, 'first'), [{ wa_id: phone, user_id: one }]);
    await say(
      changed(phone, { type: 'user_changed_user_id', user_id: two }, { from: undefined, from_user_id: one }),
    );
    const byTwo = await say(
      message('', { type: 'text', text: { body: 'two' } }, { from: undefined, from_user_id: two }),
    );
    const event = {
      user_id_update: [{ user_id: { previous: two, current: three }, timestamp: seconds(new Date()) }],
    };
    assert.equal((await cloud.post(webhook(event, { field: 'user_id_update' }))).status, 200);
    const byThree = await say(
      message('', { type: 'text', text: { body: 'three' } }, { from: undefined, from_user_id: three }),
    );
    assert.ok(sameChat(first, byTwo, byThree));
  });

  it('is somebody else on a number that its owner has left; what was sent before is still the owner’s', async () => {
    const [left, kept] = [number(), number()];
    const sent = await say(text(left, 'before the change'));
    await say(changed(left, { type: 'user_changed_number', wa_id: kept }));
    const late = await say(
      text(left, 'sent before, and late', { timestamp: seconds(new Date(Date.now() - 3_600_000)) }),
    );
    assert.ok(sameChat(sent, late));
    assert.equal(await cloud.address(sent.chatId), kept, 'a late message brings no old address back');
    const inAMinute = seconds(new Date(Date.now() + 60_000));
    const stranger = await say(text(left, 'I have this number now', { timestamp: inAMinute }));
    assert.notEqual(stranger.contactId, sent.contactId);
    assert.equal(await cloud.address(stranger.chatId), left);
    const owner = await say(text(kept, 'and I am still here'));
    assert.ok(sameChat(sent, owner));
    // The news of the change again, after the number has changed hands: it takes nobody's chat.
    const again = await say(text(left, 'hello?', { timestamp: inAMinute }));
    assert.ok(sameChat(stranger, again));
  });

  it('is known by a user id that only a report about a message of ours has told', async () => {
    const [phone, bsuid] = [number(), userId()];
    const first = await say(text(phone, 'hello'));
    const status = {
      id: 'wamid.sent-by-somebody',
      status: 'delivered',
      timestamp: seconds(new Date()),
      recipient_id: phone,
    };
    await cloud.post(webhook({ contacts: [{ wa_id: phone, user_id: bsuid }], statuses: [status] }));
    const hidden = await say(
      message('', { type: 'text', text: { body: 'hidden' } }, { from: undefined, from_user_id: bsuid }),
    );
    assert.ok(sameChat(first, hidden));
  });

  it('makes one contact of first messages that come at once under different names', async () => {
    const [phone, bsuid] = [number(), userId()];
    const both = [{ wa_id: phone, user_id: bsuid }];
    const sent = Array.from({ length: 8 }, (_, place) => text(phone, `message ${place}`));
    await Promise.all(sent.map((one) => cloud.post(webhook({ messages: [one], contacts: both }))));
    const rows = (await cloud.stored()).filter(({ externalId }) => sent.some(({ id }) => id === externalId));
    assert.equal(rows.length, 8);
    assert.ok(sameChat(...rows));
    assert.deepEqual(rows.map(({ sequence }) => sequence).sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('is nobody where the platform names nobody: kept, and not lost', async () => {
    const nameless = message('', { type: 'text', text: { body: 'who am I' } }, { from: undefined });
    const { status, json } = await cloud.post(messages(nameless));
    assert.deepEqual([status, json.refused], [200, { no_sender: 1 }]);
    const event = (await cloud.events()).find(({ code }) => code === 'no_sender');
    assert.deepEqual(event?.payload, JSON.parse(JSON.stringify(nameless)));
  });

  describe('gets words for a chat of theirs where they are now', () => {
    it('after a new number whose chat goes on, also once somebody else has the old one', async () => {
      const [old, fresh] = [number(), number()];
      const known = await say(text(old, 'a question that takes a while'));
      const today = await say(text(fresh, 'it is me'));
      await say(changed(old, { type: 'user_changed_number', wa_id: fresh }));
      assert.deepEqual([await reachedAt(known), await reachedAt(today)], [fresh, fresh]);
      const stranger = await say(text(old, 'my number now', { timestamp: inAMinute() }));
      assert.notEqual(stranger.contactId, known.contactId);
      assert.deepEqual([await reachedAt(known), await reachedAt(stranger)], [fresh, old]);
    });

    it('where only one of our numbers was told of the new one', async () => {
      const [old, fresh] = [number(), number()];
      await say(text(old, 'to the front'));
      const back = await say(text(old, 'to the back'), undefined, { number: BACK });
      await say(changed(old, { type: 'user_changed_number', wa_id: fresh }));
      assert.equal(await reachedAt(back), fresh);
      await say(text(old, 'my number now', { timestamp: inAMinute() }), undefined, { number: BACK });
      assert.equal(await reachedAt(back), fresh);
    });

    it('or not at all where they are nowhere any more', async () => {
      const left = number();
      const first = await say(text(left, 'hello'));
      await inShop(({ tx }) =>
        tx.contactAlias.updateMany({
          where: { contactId: first.contactId },
          data: { retiredAt: new Date() },
        }),
      );
      assert.equal(await inShop((scope) => recipientOf(scope, first.chatId)), undefined);
    });

    it('and a report without a word of theirs gives up only an address that they have left', async () => {
      const [phone, one, two] = [number(), userId(), userId()];
      const first = await say(text(phone, 'first'), [{ wa_id: phone, user_id: one }]);
      const renewed = (previous: string, current: string) =>
        cloud.post(
          webhook(
            { user_id_update: [{ user_id: { previous, current }, timestamp: seconds(new Date()) }] },
            { field: 'user_id_update' },
          ),
        );
      await renewed(one, two);
      assert.equal(await cloud.address(first.chatId), phone, 'they still have the number');
      await say(hidden(two, 'hidden now'));
      const three = userId();
      await renewed(two, three);
      assert.equal(await cloud.address(first.chatId), three);
    });

    it('while a number of configuration means whoever has it now', async () => {
      const [left, kept] = [number(), number()];
      const before = await say(text(left, 'I used to work here'));
      await say(text(left, 'on both numbers'), undefined, { number: BACK });
      await say(changed(left, { type: 'user_changed_number', wa_id: kept }));
      const to = { channel: 'whatsapp-cloud' as const, accountKey: BACK, address: left };
      const chatId = await inShop((scope) => chatOfPhone(scope, to));
      assert.ok(chatId);
      const recipient = await inShop((scope) => recipientOf(scope, chatId));
      assert.deepEqual([recipient?.address, await reachedAt(before)], [left, kept]);
      const now = await say(text(left, 'I am the new one', { timestamp: inAMinute() }), undefined, {
        number: BACK,
      });
      assert.equal(now.chatId, chatId);
      assert.notEqual(now.contactId, before.contactId);
    });
  });

  describe('has one chat that goes on once two turn out to be one person', () => {
    const link = (phone: string, bsuid: string) =>
      say(text(phone, 'by both'), [{ wa_id: phone, user_id: bsuid }]);

    it('by whatever name they write, and whoever takes it has it', async () => {
      const [phone, bsuid] = [number(), userId()];
      await say(text(phone, 'by number'));
      await say(hidden(bsuid, 'by user id'));
      const both = await link(phone, bsuid);
      const next = await say(hidden(bsuid, 'hidden again'));
      assert.ok(sameChat(both, next));
      await cloud.post(echoes(echo(phone, 'I take it from here')));
      const then = await say(hidden(bsuid, 'thanks'));
      assert.ok(sameChat(both, then));
      assert.equal((await inShop((scope) => takeoverOf(scope, then.chatId)))?.by, 'business');
      const merged = await inShop(({ tx }) =>
        tx.audit.count({ where: { stream: both.chatId, event: 'contacts_merged' } }),
      );
      assert.equal(merged, 1);
    });

    it('and whoever had one of their chats for longest has both, until either is given back', async () => {
      const [phone, bsuid] = [number(), userId()];
      const taken = await say(text(phone, 'by number'));
      const until = new Date(Date.now() + 3_600_000);
      await inShop((scope) => takeChat(scope, { chatId: taken.chatId, by: 'owner:olivia', until }));
      const other = await say(hidden(bsuid, 'by user id'));
      await inShop((scope) =>
        takeChat(scope, { chatId: other.chatId, by: 'business', until: new Date(Date.now() + 60_000) }),
      );
      const both = await link(phone, bsuid);
      const takeovers = (): Promise<unknown[]> =>
        inShop(async (scope) =>
          Promise.all([taken, other].map(async ({ chatId }) => (await takeoverOf(scope, chatId))?.until)),
        );
      assert.deepEqual(await takeovers(), [until, until]);
      await inShop((scope) => releaseChat(scope, { chatId: both.chatId, by: 'owner:olivia' }));
      assert.deepEqual(await takeovers(), [undefined, undefined], 'given back once, it is given back');
    });

    it('and what they take back in the other one is taken back', async () => {
      const [phone, bsuid] = [number(), userId()];
      const first = await say(text(phone, 'a slip of the tongue'));
      await say(hidden(bsuid, 'by user id'));
      const both = await link(phone, bsuid);
      assert.notEqual(first.chatId, both.chatId);
      await say(message(phone, { type: 'revoke', revoke: { original_message_id: first.externalId } }));
      assert.equal((await cloud.byId(first.externalId)).text, undefined);
    });
  });
});
