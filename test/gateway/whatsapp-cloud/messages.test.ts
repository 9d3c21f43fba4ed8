import assert from 'node:assert/strict';
import { applyEdits } from '../../../prisma/stores/edits.js';
import { claimTurn } from '../../../prisma/stores/turns.js';
import {
  echo,
  echoes,
  FRONT,
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

const ago = (ms: number) => seconds(new Date(Date.now() - ms));
const HOUR = 3_600_000;

describe('messages of the Cloud API', function () {
  this.timeout(120_000);
  let cloud: Cloud;
  let next = 0;
  before(async () => {
    cloud = await startCloud();
  });
  after(() => cloud.stop());

  const number = () => `90555100${String((next += 1)).padStart(4, '0')}`;
  const post = async (hook: unknown) => {
    const { status, json } = await cloud.post(hook);
    assert.equal(status, 200);
    return json;
  };
  const claim = (chatId: string) =>
    cloud.inScope(cloud.shop.tenantId, (scope) => claimTurn(scope, { chatId, limit: 10 }));
  const chatOf = (chatId: string) =>
    cloud.inScope(cloud.shop.tenantId, ({ tx }) => tx.chat.findUniqueOrThrow({ where: { id: chatId } }));

  it('wait for a turn, in their order, with one ring for each chat', async () => {
    const [one, two] = [number(), number()];
    const sent = [text(one, 'first'), text(two, 'other chat'), text(one, 'second'), text(one, 'third')];
    cloud.conversations.calls.length = 0;
    assert.equal((await post(messages(...sent))).accepted, 4);
    const rows = await Promise.all(sent.map(({ id }) => cloud.byId(id)));
    assert.deepEqual(
      rows.map(({ sequence, arrival, state }) => [sequence, arrival, state]),
      [
        [1, 'turn', 'accepted'],
        [1, 'turn', 'accepted'],
        [2, 'turn', 'accepted'],
        [3, 'turn', 'accepted'],
      ],
    );
    const rings = cloud.conversations.calls.filter(({ what }) => what === 'ring');
    assert.deepEqual(
      new Set(rings.map((ring) => 'upTo' in ring && `${ring.chatId} ${ring.upTo}`)),
      new Set([`${rows[0]?.chatId} 3`, `${rows[1]?.chatId} 1`]),
    );
  });

  it('are taken a thousand in one webhook, of many chats and of one, each chat in its order', async () => {
    const many = Array.from({ length: 700 }, (_, place) =>
      text(`9055530${String(place % 350).padStart(5, '0')}`, `n ${place}`),
    );
    const one = number();
    const few = Array.from({ length: 300 }, (_, place) => text(one, `in order ${place}`));
    const mixed = many.flatMap((sent, place) => (place < few.length ? [sent, few[place] ?? sent] : [sent]));
    assert.equal((await post(messages(...mixed))).accepted, 1000);
    const { chatId } = await cloud.byId(few[0]?.id ?? '');
    const rows = await cloud.inScope(cloud.shop.tenantId, ({ tx }) =>
      tx.inbox.findMany({ where: { chatId }, orderBy: { sequence: 'asc' } }),
    );
    assert.deepEqual(
      rows.map(({ externalId }) => externalId),
      few.map(({ id }) => id),
    );
  });

  it('take nothing with them that can’t be stored: it is kept beside, with a code', async () => {
    const from = number();
    const before = (await cloud.events()).length;
    const good = [text(from, 'before'), text(from, 'after')];
    const nul = message(
      from,
      { type: 'text', text: { body: 'an id that no table takes' } },
      { id: 'wamid.\u0000' },
    );
    const answer = await post(
      webhook({
        messages: [good[0], nul, null, 'a word', { type: 'text' }, { ...text(from, 'x'), id: 7 }, good[1]],
        statuses: [{ id: 'wamid.x', status: 'exploded' }, 12],
        something_new: { any: 'thing' },
      }),
    );
    assert.deepEqual([answer.accepted, answer.refused], [2, { malformed: 4, '22P05': 1 }]);
    for (const { id } of good) assert.equal((await cloud.byId(id)).state, 'accepted');
    const events = (await cloud.events()).slice(before);
    assert.deepEqual(
      events.map(({ kind, code }) => [kind, code]).sort(),
      [
        ['message', '22P05'],
        ['message', 'malformed'],
        ['message', 'malformed'],
        ['message', 'malformed'],
        ['message', 'malformed'],
        ['messages', null],
        ['status', 'unknown_status'],
        ['status', 'unknown_status'],
      ].sort(),
    );
    assert.ok(events.some(({ payload }) => JSON.stringify(payload) === '{"something_new":{"any":"thing"}}'));
  });

  it('that are nested without end are told from the others, and leave them alone', async () => {
    const beside = text(number(), 'beside it');
    const [before, after] = JSON.stringify(messages(beside, { deep: 'HERE' })).split('"HERE"');
    const endless = `${before}${'['.repeat(50_000)}${']'.repeat(50_000)}${after}`;
    const { status, json } = await cloud.post(Buffer.from(endless));
    assert.deepEqual([status, json.accepted, json.events], [200, 1, 1]);
    assert.ok((await cloud.events()).some(({ kind, code }) => kind === 'malformed' && code === 'too_deep'));
  });

  it('of unknown kinds, fields and shapes are acknowledged and kept', async () => {
    const from = number();
    const poll = message(from, { type: 'poll', poll: { question: 'Which day?' } });
    const odd = [
      { object: 'whatsapp_business_account', entry: [] },
      { object: 'whatsapp_business_account', entry: ['x', { id: '1', changes: [7, { field: 'f' }] }] },
      { object: 'page', entry: [{ id: 1 }] },
      webhook({}, { field: 'brand_new_field' }),
      webhook({ messages: 'none' }),
      [],
      'text',
    ];
    assert.equal((await post(messages(poll))).stored, 1);
    const row = await cloud.byId(poll.id);
    assert.deepEqual(
      [row.kind, row.arrival, row.state, row.reason],
      ['unsupported', 'unsupported', 'ignored', 'unsupported'],
    );
    assert.deepEqual(row.details?.raw, JSON.parse(JSON.stringify(poll)));
    for (const hook of odd) assert.ok((await post(hook)).events > 0, JSON.stringify(hook));
  });

  it('are there once, whether they come five times at once or once more a day later', async () => {
    const sent = text(number(), 'only once');
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(messages(sent))));
    assert.deepEqual(
      [
        answers.reduce((sum, { accepted }) => sum + accepted, 0),
        answers.reduce((sum, { duplicates }) => sum + duplicates, 0),
      ],
      [1, 4],
    );
    assert.equal((await post(messages(sent, sent))).duplicates, 2);
    const count = await cloud.inScope(cloud.shop.tenantId, ({ tx }) =>
      tx.inbox.count({ where: { externalId: sent.id } }),
    );
    assert.equal(count, 1);
  });

  it('under an id that another message has are kept as events', async () => {
    const sent = text(number(), 'the first of this id');
    await post(messages(sent));
    const other = { ...text(number(), 'something else'), id: sent.id };
    assert.deepEqual((await post(messages(other))).refused, { conflict: 1 });
    assert.equal((await cloud.byId(sent.id)).text, 'the first of this id');
    assert.ok(
      (await cloud.events()).some(({ payload }) => JSON.stringify(payload).includes('something else')),
    );
  });

  it('that are a week old are kept, and not answered as if they were fresh', async () => {
    const old = text(number(), 'where is my order?', { timestamp: ago(7 * 24 * HOUR) });
    const recent = text(number(), 'and mine?', { timestamp: ago(10 * HOUR) });
    cloud.conversations.calls.length = 0;
    const answer = await post(messages(old, recent));
    assert.deepEqual([answer.stored, answer.accepted], [1, 1]);
    const row = await cloud.byId(old.id);
    assert.deepEqual(
      [row.arrival, row.state, row.reason, row.text],
      ['stale', 'expired', 'stale', 'where is my order?'],
    );
    assert.equal(cloud.conversations.calls.length, 1);
  });

  it('open the platform’s window from when they were written, and only those of customers do', async () => {
    const from = number();
    const sent = text(from, 'hello', { timestamp: ago(2 * HOUR) });
    await post(messages(sent));
    const { chatId, sentAt } = await cloud.byId(sent.id);
    assert.deepEqual((await chatOf(chatId)).customerWroteAt, sentAt);
    await post(echoes(echo(from, 'we write')));
    await post(messages(message(from, { type: 'reaction', reaction: { message_id: sent.id, emoji: '👍' } })));
    await post(messages(text(from, 'even earlier', { timestamp: ago(3 * HOUR) })));
    assert.deepEqual((await chatOf(chatId)).customerWroteAt, sentAt);
  });

  describe('that are edited', () => {
    const edit = (from: string, of: string, body: string, more: Part = {}) =>
      message(
        from,
        { type: 'edit', edit: { original_message_id: of, message: { type: 'text', text: { body } } } },
        more,
      );

    it('are read in their new words as long as nobody has taken them up', async () => {
      const from = number();
      const sent = text(from, 'Friday at nine', { timestamp: ago(60_000) });
      await post(messages(sent));
      const changed = edit(from, sent.id, 'Friday at ten');
      await post(messages(changed));
      await post(messages(changed));
      const row = await cloud.byId(sent.id);
      assert.deepEqual([row.text, row.state], ['Friday at ten', 'accepted']);
      assert.deepEqual(
        row.details?.earlier?.map(({ text: words }) => words),
        ['Friday at nine'],
      );
      const change = await cloud.byId(changed.id);
      assert.deepEqual([change.arrival, change.state, change.reason], ['edit', 'ignored', 'edit']);
      // The first words, delivered once more, are the same message.
      assert.equal((await post(messages(sent))).duplicates, 1);
      assert.equal((await cloud.byId(sent.id)).text, 'Friday at ten');
    });

    it('stay as they were answered once they have been taken up', async () => {
      const from = number();
      const sent = text(from, 'Friday at nine');
      await post(messages(sent));
      const { chatId } = await cloud.byId(sent.id);
      assert.ok(await claim(chatId));
      const changed = edit(from, sent.id, 'Saturday');
      await post(messages(changed));
      assert.equal((await cloud.byId(sent.id)).text, 'Friday at nine');
      assert.equal((await cloud.byId(changed.id)).text, 'Saturday');
      const again = await cloud.inScope(cloud.shop.tenantId, (scope) =>
        applyEdits(scope, { chatId, externalId: sent.id }),
      );
      assert.equal(again, 'left');
    });

    it('are the newest edit, also when edits and message come in the wrong order', async () => {
      const from = number();
      const sent = text(from, 'one', { timestamp: ago(60_000) });
      await post(messages(edit(from, sent.id, 'three', { timestamp: ago(10_000) })));
      await post(messages(edit(from, sent.id, 'two', { timestamp: ago(20_000) })));
      await post(messages(sent));
      const row = await cloud.byId(sent.id);
      assert.deepEqual([row.text, row.state], ['three', 'accepted']);
    });

    it('are edited by their own writer only', async () => {
      const from = number();
      const sent = text(from, 'mine');
      await post(messages(sent));
      await post(messages(edit(number(), sent.id, 'not yours')));
      await post(
        echoes(
          message(
            FRONT,
            {
              type: 'edit',
              edit: { original_message_id: sent.id, message: { type: 'text', text: { body: 'nor ours' } } },
            },
            { to: from },
          ),
        ),
      );
      assert.equal((await cloud.byId(sent.id)).text, 'mine');
    });
  });

  describe('that are revoked', () => {
    const revoke = (from: string, of: string, more: Part = {}) =>
      message(from, { type: 'revoke', revoke: { original_message_id: of } }, more);

    it('are blank and closed, with their picture, as long as nobody has taken them up', async () => {
      const from = number();
      const sent = message(from, {
        type: 'image',
        image: { id: '4711', mime_type: 'image/jpeg', caption: 'my passport' },
      });
      await post(messages(sent));
      await post(messages(revoke(from, sent.id)));
      const row = await cloud.byId(sent.id);
      assert.deepEqual(
        [row.text, row.details, row.state, row.reason],
        [undefined, undefined, 'ignored', 'revoked'],
      );
      const media = await cloud.inScope(cloud.shop.tenantId, ({ tx }) =>
        tx.media.findFirst({ where: { messageId: row.id } }),
      );
      assert.deepEqual([media?.state, media?.code, media?.contentCipher], ['failed', 'revoked', null]);
      assert.equal(await claim(row.chatId), undefined);
      assert.equal(
        (await post(messages(sent))).duplicates,
        1,
        'the message once more is still the revoked one',
      );
      assert.equal((await cloud.byId(sent.id)).text, undefined);
    });

    it('are blank with their edits, and keep their end where they had one', async () => {
      const from = number();
      const sent = text(from, 'a secret');
      const changed = message(from, {
        type: 'edit',
        edit: {
          original_message_id: sent.id,
          message: { type: 'text', text: { body: 'a better kept secret' } },
        },
      });
      await post(messages(sent, changed));
      const { chatId } = await cloud.byId(sent.id);
      assert.ok(await claim(chatId));
      await post(messages(revoke(from, sent.id)));
      assert.deepEqual(
        [(await cloud.byId(sent.id)).text, (await cloud.byId(changed.id)).text],
        [undefined, undefined],
      );
      assert.equal((await cloud.byId(sent.id)).state, 'accepted');
    });

    it('never wait for a turn when the news comes before them', async () => {
      const from = number();
      const sent = text(from, 'too late', { timestamp: ago(60_000) });
      await post(messages(revoke(from, sent.id)));
      await post(messages(sent));
      const row = await cloud.byId(sent.id);
      assert.deepEqual([row.text, row.state, row.reason], [undefined, 'ignored', 'revoked']);
    });

    it('are revoked by their own writer only', async () => {
      const from = number();
      const sent = text(from, 'stays');
      await post(messages(sent));
      await post(messages(revoke(number(), sent.id)));
      await post(
        echoes(message(FRONT, { type: 'revoke', revoke: { original_message_id: sent.id } }, { to: from })),
      );
      assert.equal((await cloud.byId(sent.id)).text, 'stays');
    });
  });

  it('that are reactions are kept and start nothing', async () => {
    const from = number();
    const about = text(from, 'nice');
    await post(messages(about));
    const sign = (emoji?: string) =>
      message(from, {
        type: 'reaction',
        reaction: { message_id: about.id, ...(emoji !== undefined && { emoji }) },
      });
    const all = [sign('❤️'), sign(''), sign()];
    await post(messages(...all));
    const rows = await Promise.all(all.map(({ id }) => cloud.byId(id)));
    assert.deepEqual(
      rows.map(({ kind, arrival, state, quotedExternalId, details }) => [
        kind,
        arrival,
        state,
        quotedExternalId,
        details?.emoji,
      ]),
      [
        ['reaction', 'reaction', 'ignored', about.id, '❤️'],
        ['reaction', 'reaction', 'ignored', about.id, ''],
        ['reaction', 'reaction', 'ignored', about.id, ''],
      ],
    );
  });

  it('that the platform writes itself are kept and start nothing', async () => {
    const from = number();
    const all = [
      text(from, 'Missed voice call'),
      text(from, '\u200eBu mesaj silindi.'),
      message(from, {
        type: 'system',
        system: { type: 'customer_identity_changed', body: 'identity changed' },
      }),
      message(from, { type: 'request_welcome' }),
      message(from, {
        type: 'interactive',
        interactive: { type: 'call_permission_reply', call_permission_reply: { response: 'accept' } },
      }),
    ];
    assert.equal((await post(messages(...all))).stored, all.length);
    for (const { id } of all) {
      const { arrival, state, reason, speaker } = await cloud.byId(id);
      assert.deepEqual([arrival, state, reason, speaker], ['system', 'ignored', 'system', 'platform']);
    }
    assert.equal((await post(messages(text(from, 'Sorry, I missed your call')))).accepted, 1);
  });

  it('of blocked people are kept and start nothing; news about them still counts', async () => {
    const from = number();
    const first = text(from, 'before');
    await post(messages(first));
    const { contactId } = await cloud.byId(first.id);
    await cloud.inScope(cloud.shop.tenantId, ({ tx }) =>
      tx.contact.update({ where: { id: contactId }, data: { blockedAt: new Date() } }),
    );
    const sent = [text(from, 'hello?'), message(from, { type: 'system', system: { body: 'x', type: 'y' } })];
    await post(messages(...sent));
    const rows = await Promise.all(sent.map(({ id }) => cloud.byId(id)));
    assert.deepEqual(
      rows.map(({ arrival, state }) => [arrival, state]),
      [
        ['blocked', 'ignored'],
        ['system', 'ignored'],
      ],
    );
  });

  describe('in a group', () => {
    const GROUP = 'Y2FwaV9ncm91cDox';
    const inGroup = (from: string, content: Part, more: Part = {}) =>
      message(from, content, { group_id: GROUP, ...more });

    it('are answered only where they are for us', async () => {
      const all = [
        inGroup(number(), { type: 'text', text: { body: 'who brings the cake?' } }),
        inGroup(number(), { type: 'text', text: { body: `@${FRONT} when are you open?` } }),
        inGroup(
          number(),
          { type: 'text', text: { body: 'and on Sunday?' } },
          { context: { from: FRONT, id: 'wamid.ours' } },
        ),
        inGroup(OWNER, { type: 'text', text: { body: 'approve' } }),
      ];
      await post(messages(...all));
      const rows = await Promise.all(all.map(({ id }) => cloud.byId(id)));
      assert.deepEqual(
        rows.map(({ arrival, state }) => [arrival, state]),
        [
          ['group_unaddressed', 'ignored'],
          ['turn', 'accepted'],
          ['turn', 'accepted'],
          ['group_unaddressed', 'ignored'],
        ],
      );
      assert.equal(new Set(rows.map(({ chatId }) => chatId)).size, 1);
      const chat = await chatOf(rows[0]?.chatId ?? '');
      assert.deepEqual(
        [chat.kind, chat.addressKind, await cloud.address(chat.id)],
        ['group', 'group', GROUP],
      );
      assert.equal(rows[1]?.details?.sender?.kind, 'phone');
      const contact = await cloud.inScope(cloud.shop.tenantId, ({ tx }) =>
        tx.contact.findUniqueOrThrow({ where: { id: chat.contactId } }),
      );
      assert.equal(contact.kind, 'group');
    });
  });

  describe('of the business’s people', () => {
    it('are theirs by their verified number, not by what they say or are called', async () => {
      const owners = text(OWNER, 'STATUS');
      const liars = text(number(), 'I am Olivia, the owner. STATUS');
      await cloud.post(
        webhook({
          messages: [owners, liars],
          contacts: [{ wa_id: liars['from'], profile: { name: 'Olivia' } }],
        }),
      );
      const rows = await Promise.all([owners, liars].map(({ id }) => cloud.byId(id)));
      assert.deepEqual(
        rows.map(({ speaker, arrival }) => [speaker, arrival]),
        [
          ['owner:olivia', 'owner_command'],
          ['customer', 'turn'],
        ],
      );
      assert.equal(rows[1]?.details?.profileName, 'Olivia');
      const elsewhere = text(OWNER, 'STATUS');
      await cloud.post(webhook({ messages: [elsewhere] }, { number: OTHER }), { secret: 'other-secret' });
      assert.equal((await cloud.byId(elsewhere.id, cloud.other)).speaker, 'owner:olivia');
    });

    it('are commands, answers of an operator, or talk', async () => {
      const quoted = { context: { id: 'wamid.some-request', from: FRONT } };
      const table: [string, Part & { id: string }, string, string][] = [
        ['an owner’s word', text(OWNER, 'approve K-7Q4F'), 'owner:olivia', 'owner_command'],
        ['a code alone', text(OWNER, 'K-7Q4F'), 'owner:olivia', 'owner_command'],
        ['a Turkish word', text(OWNER, 'onayla K-7Q4F'), 'owner:olivia', 'owner_command'],
        ['a thumb', text(OWNER, '👍🏽'), 'owner:olivia', 'owner_command'],
        [
          'a button',
          message(OWNER, {
            type: 'interactive',
            interactive: { type: 'button_reply', button_reply: { id: 'approve:x', title: 'Approve' } },
          }),
          'owner:olivia',
          'owner_command',
        ],
        ['an owner’s talk', text(OWNER, 'Is anything free on Saturday?'), 'owner:olivia', 'turn'],
        [
          'an owner’s talk that quotes no notice',
          text(OWNER, 'what was that?', quoted),
          'owner:olivia',
          'turn',
        ],
        [
          'an owner’s sign on no notice',
          message(OWNER, { type: 'reaction', reaction: { message_id: 'wamid.any', emoji: '👍' } }),
          'owner:olivia',
          'reaction',
        ],
        [
          'an operator’s answer',
          text(OPERATOR, 'Two days of rest. A-1B2C'),
          'operator:doc',
          'operator_reply',
        ],
        [
          'an operator’s answer by quoting',
          text(OPERATOR, 'looks fine', quoted),
          'operator:doc',
          'operator_reply',
        ],
        [
          'an owner’s command of last week',
          text(OWNER, 'PAUSE', { timestamp: ago(100 * HOUR) }),
          'owner:olivia',
          'stale',
        ],
      ];
      await post(messages(...table.map(([, sent]) => sent)));
      for (const [name, { id }, speaker, arrival] of table) {
        const row = await cloud.byId(id);
        assert.deepEqual([row.speaker, row.arrival], [speaker, arrival], name);
      }
      const button = await cloud.byId(table[4]?.[1].id ?? '');
      assert.deepEqual([button.text, button.details?.payload], ['Approve', 'approve:x']);
    });
  });
});
