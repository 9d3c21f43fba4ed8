import assert from 'node:assert/strict';
import { loadConfiguration } from '../../../config/load.js';
import { labelsFor } from '../../../config/system-messages.js';
import { contentOf, type Content } from '../../../gateway/whatsapp-cloud/content.js';
import { updatesOf } from '../../../gateway/whatsapp-cloud/updates.js';
import { messageShape } from '../../../gateway/whatsapp-cloud/wire.js';
import { webhooksIn } from '../../../bench/webhooks/find.js';
import { seconds, webhook } from './cloud.js';

const [configuration] = loadConfiguration({ directory: 'config' }).tenants.values();
const labels = labelsFor(configuration?.systemMessages ?? {}, 'en');

function read(content: object): Content {
  return contentOf(messageShape.parse({ id: 'wamid.1', from: '905550000009', ...content }), labels);
}

describe('what is read of a message of the Cloud API', () => {
  const picture = { id: '4711', mime_type: 'image/jpeg', sha256: 'aGFzaA==' };
  const table: [string, object, string, string][] = [
    ['words', { type: 'text', text: { body: ' Merhaba 👋 ' } }, 'text', ' Merhaba 👋 '],
    ['a picture', { type: 'image', image: picture }, 'image', '[photo]'],
    [
      'a picture with words',
      { type: 'image', image: { ...picture, caption: 'is it broken?' } },
      'image',
      'is it broken?',
    ],
    ['a film', { type: 'video', video: picture }, 'video', '[video]'],
    ['a voice note', { type: 'audio', audio: { ...picture, voice: true } }, 'voice', '[voice message]'],
    ['a sound file', { type: 'audio', audio: { ...picture, voice: false } }, 'audio', '[audio]'],
    [
      'a document',
      { type: 'document', document: { ...picture, filename: 'offer.pdf' } },
      'document',
      '[document] offer.pdf',
    ],
    ['a sticker', { type: 'sticker', sticker: { ...picture, animated: true } }, 'sticker', '[sticker]'],
    ['a place', { type: 'location', location: { latitude: 1.5, longitude: 2.5 } }, 'location', '[location]'],
    [
      'a place with a name',
      { type: 'location', location: { latitude: 1, longitude: 2, name: 'The quay', address: 'Harbour 1' } },
      'location',
      '[location] The quay, Harbour 1',
    ],
    [
      'contacts',
      {
        type: 'contacts',
        contacts: [{ name: { formatted_name: 'Ada L.' } }, { name: { formatted_name: 'Bo' } }],
      },
      'contacts',
      '[contact] Ada L., Bo',
    ],
    [
      'an order',
      {
        type: 'order',
        order: { text: 'soon please', product_items: [{ product_retailer_id: 'bell', quantity: 2 }] },
      },
      'order',
      '[order] soon please, 2 × bell',
    ],
    [
      'a quick reply',
      { type: 'button', button: { text: 'Yes, please', payload: 'yes' } },
      'button',
      'Yes, please',
    ],
    [
      'a button',
      {
        type: 'interactive',
        interactive: { type: 'button_reply', button_reply: { id: 'b1', title: 'Cancel' } },
      },
      'button',
      'Cancel',
    ],
    [
      'a row of a list',
      {
        type: 'interactive',
        interactive: {
          type: 'list_reply',
          list_reply: { id: 'r1', title: 'Monday', description: 'at nine' },
        },
      },
      'list',
      'Monday',
    ],
    [
      'a form',
      {
        type: 'interactive',
        interactive: {
          type: 'nfm_reply',
          nfm_reply: { response_json: '{"size":"M","n":2,"flow_token":"t"}', body: 'Sent' },
        },
      },
      'form',
      '[form] size: M, n: 2',
    ],
    [
      'a form that can’t be read',
      {
        type: 'interactive',
        interactive: { type: 'nfm_reply', nfm_reply: { response_json: '{', body: 'Sent' } },
      },
      'form',
      '[form] Sent',
    ],
    ['a sign', { type: 'reaction', reaction: { message_id: 'wamid.0', emoji: '🙏' } }, 'reaction', '🙏'],
    [
      'a sign taken back',
      { type: 'reaction', reaction: { message_id: 'wamid.0' } },
      'reaction',
      '[reaction removed]',
    ],
    [
      'an edit',
      {
        type: 'edit',
        edit: { original_message_id: 'wamid.0', message: { type: 'text', text: { body: 'new words' } } },
      },
      'edit',
      'new words',
    ],
    [
      'an edit of a picture’s words',
      {
        type: 'edit',
        edit: {
          original_message_id: 'wamid.0',
          message: { type: 'image', image: { ...picture, caption: 'new' } },
        },
      },
      'edit',
      'new',
    ],
    [
      'a revoke',
      { type: 'revoke', revoke: { original_message_id: 'wamid.0' } },
      'revoke',
      '[message deleted]',
    ],
    [
      'news of the platform',
      { type: 'system', system: { type: 'user_changed_number', body: 'Ada changed' } },
      'system',
      'Ada changed',
    ],
    [
      'what it can’t show us',
      { type: 'unsupported', errors: [{ code: 131051 }] },
      'unsupported',
      "[message that can't be shown here]",
    ],
    [
      'a kind of tomorrow',
      { type: 'hologram', hologram: {} },
      'unsupported',
      "[message that can't be shown here]",
    ],
    ['no kind at all', {}, 'unsupported', "[message that can't be shown here]"],
    [
      'a button of another form',
      { type: 'interactive', interactive: { type: 'new_reply' } },
      'unsupported',
      "[message that can't be shown here]",
    ],
    ['words of nothing', { type: 'text', text: { body: '\u200b \n' } }, 'text', '[empty message]'],
    ['words of another form', { type: 'text', text: 'hello' }, 'text', '[empty message]'],
  ];
  for (const [name, content, kind, words] of table) {
    it(`of ${name}: ${words.trim()}`, () => {
      const found = read(content);
      assert.deepEqual([found.kind, found.text], [kind, words]);
      assert.equal(found.isReadable, !/shown here|empty|removed/.test(words));
    });
  }

  it('is what it holds beside the words, too', () => {
    assert.deepEqual(read({ type: 'image', image: picture }).details, {
      media: { id: '4711', mimeType: 'image/jpeg', sha256: 'aGFzaA==' },
    });
    assert.equal(read({ type: 'button', button: { text: 'Yes', payload: 'p1' } }).details.payload, 'p1');
    const forwarded = read({ type: 'text', text: { body: 'x' }, context: { frequently_forwarded: true } });
    assert.equal(forwarded.details.isForwarded, true);
    assert.equal(read({ type: 'text', text: { body: 'x' }, context: { id: 'wamid.0' } }).about, 'wamid.0');
    assert.equal(
      read({ type: 'reaction', reaction: { message_id: 'wamid.0', emoji: 'x' } }).about,
      'wamid.0',
    );
  });
});

describe('the parts of a webhook', () => {
  it('are those of all entries and changes, in their order', () => {
    const value = (name: string) => ({
      metadata: { phone_number_id: name },
      messages: [{ id: `${name}-1` }, { id: `${name}-2` }],
    });
    const hook = {
      object: 'whatsapp_business_account',
      entry: [
        {
          id: '1',
          changes: [
            { field: 'messages', value: value('a') },
            { field: 'messages', value: value('b') },
          ],
        },
        { id: '2', changes: [{ field: 'messages', value: value('c') }] },
      ],
    };
    assert.deepEqual(
      updatesOf(hook).map(({ businessAccountId, phoneNumberId, ...update }) => [
        businessAccountId,
        phoneNumberId,
        'raw' in update && update.raw,
      ]),
      ['a-1', 'a-2', 'b-1', 'b-2', 'c-1', 'c-2'].map((id) => [id.startsWith('c') ? '2' : '1', id[0], { id }]),
    );
  });

  it('are each of its own kind', () => {
    const at = seconds(new Date());
    const table: [Record<string, unknown>, string, string[]][] = [
      [{ messages: [{ id: '1' }] }, 'messages', ['message']],
      [{ message_echoes: [{ id: '1' }] }, 'smb_message_echoes', ['message echo']],
      [{ messages: [{ id: '1' }] }, 'message_echoes', ['message echo']],
      [{ statuses: [{ id: '1', status: 'sent' }] }, 'messages', ['status']],
      [{ statuses: [{ id: '1', status: 'RINGING', type: 'call' }] }, 'calls', ['event call']],
      [{ calls: [{ id: '1', event: 'connect', timestamp: at }] }, 'calls', ['event connect']],
      [
        { groups: [{ type: 'group_create' }, { type: 'group_delete' }] },
        'group_lifecycle_update',
        ['event group_create', 'event group_delete'],
      ],
      [{ errors: [{ code: 130429 }] }, 'messages', ['event error']],
      [{ user_preferences: [{ value: 'stop' }] }, 'user_preferences', ['event user_preferences']],
      [{ history: [{ metadata: {} }] }, 'history', ['event history']],
      [{ event: 'DISABLED_UPDATE', ban_info: {} }, 'account_update', ['event disabled_update']],
      [{ contacts: [] }, 'messages', ['event empty']],
      [{ messages: [{ id: '1' }], poll_votes: [1] }, 'messages', ['message', 'event messages']],
    ];
    for (const [value, field, expected] of table) {
      const found = updatesOf(webhook(value, { field })).map((update) => {
        if (update.what === 'message') return update.isEcho ? 'message echo' : 'message';
        return update.what === 'event' ? `event ${update.kind}` : update.what;
      });
      assert.deepEqual(found, expected, JSON.stringify(value));
    }
  });
});

describe('webhooks in a file', () => {
  const hook = webhook({ messages: [{ id: '1' }] });
  const table: [string, unknown, string[]][] = [
    ['one alone', hook, ['']],
    ['a map of named ones', { text: hook, photo: hook }, ['text', 'photo']],
    ['a list, deep inside', { cases: [{ given: { body: hook } }, 7, null] }, ['cases.0.given.body']],
    ['a map that is one itself', { ...hook, all: hook }, ['', 'all']],
    [
      'the value of a change',
      { messaging_product: 'whatsapp', metadata: { phone_number_id: '1' }, messages: [] },
      [''],
    ],
    ['the body of a recorded call', { request: { body: JSON.stringify(hook) } }, ['request.body']],
    ['an envelope without entries', { object: hook['object'] }, ['']],
    ['an envelope with something else for entries', { object: hook['object'], entry: { id: '1' } }, ['']],
    ['something else', { object: 'page', entry: [] }, []],
    ['a text that is no JSON', { body: `{ whatsapp_business_account` }, []],
    ['no object', 'text', []],
  ];
  for (const [name, json, places] of table) {
    it(`are found in ${name}`, () => {
      assert.deepEqual(
        webhooksIn(json).map(({ place }) => place),
        places,
      );
    });
  }
});
