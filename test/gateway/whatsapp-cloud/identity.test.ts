import assert from 'node:assert/strict';
import { message, messages, seconds, startCloud, text, webhook, type Cloud, type Stored } from './cloud.js';

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

  const say = async (sent: Part & { id: string }, contacts?: Part[]): Promise<Stored> => {
    const { status, json } = await cloud.post(webhook({ messages: [sent], ...(contacts && { contacts }) }));
    assert.deepEqual([status, json.refused], [200, {}]);
    return cloud.byId(sent.id);
  };
  const sameChat = (...all: Stored[]) => new Set(all.map(({ chatId }) => chatId)).size === 1;
  const changed = (from: string, system: Part, more: Part = {}) =>
    message(from, { type: 'system', system: { body: 'changed', ...system } }, more);
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
});
