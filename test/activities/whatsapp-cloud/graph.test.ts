// The client against a real server that speaks the platform's wire format: what goes out, what comes back, and every way in
// which a call can end.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecrets } from '../../../config/secrets.js';
import { createGraphClient, type GraphClient } from '../../../activities/whatsapp-cloud/graph.js';
import {
  LIMITS,
  messageBody,
  templateValues,
  type GraphMessage,
} from '../../../activities/whatsapp-cloud/wire.js';
import { findPort } from '../../../local/ports.js';
import { startFakeGraph, type FakeGraph } from '../../support/graph/server.js';

const NUMBER = { accountKey: '100000000000002', displayNumber: '905550001122' };
const account = { accountKey: NUMBER.accountKey, graphVersion: 'v25.0', accessToken: 'wa-token' };
const to = { recipient: '905550003344', recipientKind: 'phone' as const, callbackData: 'row-1', attempt: 1 };

let folder: string;
let fake: FakeGraph;
let graph: GraphClient;

const client = (more: Partial<Parameters<typeof createGraphClient>[0]> = {}): GraphClient =>
  createGraphClient({
    secrets: createSecrets({ directory: folder }),
    baseUrl: fake.url,
    sendTimeoutMs: 1_500,
    ...more,
  });

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aroko-secrets-'));
  await writeFile(join(folder, 'wa-token'), 'good-token\n');
  fake = await startFakeGraph({ numbers: [NUMBER], token: 'good-token' });
  graph = client();
});
after(async () => {
  await fake.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => fake.forget());

const hello: GraphMessage = { type: 'text', body: 'hello' };
const meaningOf = async (sending: ReturnType<GraphClient['send']>): Promise<string> => {
  const outcome = await sending;
  return outcome.kind === 'error' ? `${outcome.error.meaning} ${outcome.error.code}` : outcome.kind;
};

describe('a message on the wire', () => {
  const common = {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: '905550003344',
    biz_opaque_callback_data: 'row-1',
  };
  const bodyOf = (message: GraphMessage, more = {}): Record<string, unknown> =>
    messageBody(message, { ...to, ...more });

  it('is a text', () => {
    assert.deepEqual(bodyOf(hello), { ...common, type: 'text', text: { body: 'hello', preview_url: false } });
  });

  it('quotes what it answers', () => {
    assert.deepEqual(bodyOf(hello, { replyTo: 'wamid.A' })['context'], { message_id: 'wamid.A' });
  });

  it('goes to a user id and to a group in the fields that those have', () => {
    const toUser = bodyOf(hello, { recipient: 'US.13491208655302741918', recipientKind: 'user' });
    assert.deepEqual([toUser['recipient'], toUser['to']], ['US.13491208655302741918', undefined]);
    const toGroup = bodyOf(hello, { recipient: 'Y2FwaQ', recipientKind: 'group' });
    assert.deepEqual([toGroup['recipient_type'], toGroup['to']], ['group', 'Y2FwaQ']);
  });

  it('is a reaction', () => {
    const { reaction } = bodyOf({ type: 'reaction', externalId: 'wamid.A', emoji: '👍' });
    assert.deepEqual(reaction, { message_id: 'wamid.A', emoji: '👍' });
  });

  it('has buttons, whose titles are clipped to what the platform takes', () => {
    const { interactive } = bodyOf({
      type: 'buttons',
      body: 'well?',
      buttons: [
        { id: 'yes', title: 'Yes' },
        { id: 'no', title: 'No, and that is my last word' },
      ],
    });
    assert.deepEqual(interactive, {
      type: 'button',
      body: { text: 'well?' },
      action: {
        buttons: [
          { type: 'reply', reply: { id: 'yes', title: 'Yes' } },
          { type: 'reply', reply: { id: 'no', title: 'No, and that is my…' } },
        ],
      },
    });
  });

  it('has a list', () => {
    const { interactive } = bodyOf({
      type: 'list',
      body: 'which?',
      button: 'Choose',
      sections: [{ title: 'Days', rows: [{ id: '1', title: 'Monday', description: 'all day' }] }],
    });
    assert.deepEqual(interactive, {
      type: 'list',
      body: { text: 'which?' },
      action: {
        button: 'Choose',
        sections: [{ title: 'Days', rows: [{ id: '1', title: 'Monday', description: 'all day' }] }],
      },
    });
  });

  it('is a template, with values on one line each and payloads of its buttons', () => {
    const { template } = bodyOf({
      type: 'template',
      template: { name: 'ask', language: 'en', parameters: ['a\n\nb\tc', ''], buttonPayloads: ['yes'] },
    });
    assert.deepEqual(template, {
      name: 'ask',
      language: { code: 'en' },
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'a b c' },
            { type: 'text', text: '-' },
          ],
        },
        {
          type: 'button',
          sub_type: 'quick_reply',
          index: '0',
          parameters: [{ type: 'payload', payload: 'yes' }],
        },
      ],
    });
  });

  it('gives the long values of a template what the short ones leave', () => {
    const values = templateValues(['x'.repeat(2_000), 'K-7Q4F', 'y'.repeat(2_000)]);
    assert.equal(values[1], 'K-7Q4F');
    assert.ok(values.join('').length <= LIMITS.templateValues);
    assert.ok(values.every((value) => value.length > 400 || value === 'K-7Q4F'));
  });

  it('names media that were uploaded, with a caption where the kind has one', () => {
    const image = bodyOf({ type: 'media', kind: 'image', mediaId: '7', caption: 'look', filename: 'a.jpg' });
    assert.deepEqual([image['type'], image['image']], ['image', { id: '7', caption: 'look' }]);
    const file = bodyOf({ type: 'media', kind: 'document', mediaId: '7', caption: '', filename: 'a.txt' });
    assert.deepEqual(file['document'], { id: '7', filename: 'a.txt' });
  });
});

describe('a send', () => {
  it('tells the id that the platform gave it, and takes the id of our row along', async () => {
    const outcome = await graph.send(account, hello, to);
    const [taken] = fake.taken();
    assert.deepEqual(outcome, { kind: 'accepted', externalId: taken?.wamid });
    assert.equal(taken?.callbackData, 'row-1');
  });

  it('reads the token when it is needed, so that a rotated one counts at once', async () => {
    await writeFile(join(folder, 'wa-token'), 'old-token');
    assert.equal(await meaningOf(graph.send(account, hello, to)), 'failed 190');
    await writeFile(join(folder, 'wa-token'), 'good-token\n');
    assert.equal(await meaningOf(graph.send(account, hello, to)), 'accepted');
  });

  it('is refused by us where there is no token', async () => {
    const without = { ...account, accessToken: 'nowhere' };
    assert.equal(await meaningOf(graph.send(without, hello, to)), 'failed no_access_token');
    assert.equal(fake.attempts(), 0);
  });

  it('is refused by a number that is not ours', async () => {
    assert.equal(await meaningOf(graph.send({ ...account, accountKey: '123123' }, hello, to)), 'failed 100');
  });

  it('was not made where nobody listens', async () => {
    const port = await findPort({ wanted: 0, purpose: 'nobody', say: () => undefined });
    const lost = client({ baseUrl: `http://127.0.0.1:${port}` });
    assert.equal(await meaningOf(lost.send(account, hello, to)), 'busy no_connection');
  });

  const ENDS: [
    what: string,
    fault: Parameters<FakeGraph['faults']['next']>[0],
    meaning: string,
    isTaken: boolean,
  ][] = [
    ['a limit', { kind: 'refuse', code: 130429 }, 'busy 130429', false],
    ['a closed window', { kind: 'refuse', code: 131047 }, 'window 131047', false],
    ['a refusal', { kind: 'refuse', code: 131026 }, 'failed 131026', false],
    ['a connection that breaks before', { kind: 'cutBefore' }, 'unknown connection_cut', false],
    ['a connection that breaks after', { kind: 'cutAfter' }, 'unknown connection_cut', true],
    ['a fault of the server', { kind: 'serverError', isTaken: false }, 'unknown 131000', false],
    ['the same, taken', { kind: 'serverError', isTaken: true, status: 503 }, 'unknown 2', true],
    ['silence', { kind: 'silence', isTaken: true }, 'unknown no_answer', true],
    ['an answer that nobody can read', { kind: 'garbage' }, 'unknown http_200', true],
    ['an answer in time', { kind: 'slow', ms: 50 }, 'accepted', true],
  ];
  for (const [what, fault, meaning, isTaken] of ENDS) {
    it(`that meets ${what} is ${meaning}, and is made once`, async () => {
      fake.faults.next(fault);
      assert.equal(await meaningOf(graph.send(account, hello, to)), meaning);
      assert.equal(fake.attempts(), 1);
      assert.equal(fake.taken().length, isTaken ? 1 : 0);
    });
  }

  it('waits longer the more often it was refused', async () => {
    fake.faults.next({ kind: 'refuse', code: 131056 });
    const outcome = await graph.send(account, hello, { ...to, attempt: 3 });
    assert.equal(outcome.kind === 'error' && outcome.error.delayMs, 16_000);
  });
});

describe('what a customer sees of a message that was read', () => {
  it('is that it was read, and that somebody types', async () => {
    assert.deepEqual(await graph.markRead(account, { externalId: 'wamid.B', isTyping: true }), {
      isShown: true,
    });
    assert.deepEqual(fake.reads(), [{ messageId: 'wamid.B', isTyping: true }]);
  });

  it('is nothing, and no error, where the platform refuses', async () => {
    assert.deepEqual(await graph.markRead(account, { externalId: '12345', isTyping: false }), {
      isShown: false,
    });
  });
});

describe('media', () => {
  const content = new Uint8Array(randomBytes(50_000));
  const digest = createHash('sha256').update(content).digest();
  const isSame = (other: Uint8Array | undefined): boolean => Buffer.from(other ?? []).equals(content);
  const codeOf = async (getting: ReturnType<GraphClient['download']>): Promise<string> => {
    const outcome = await getting;
    return outcome.kind === 'error' ? outcome.error.code : outcome.kind;
  };

  it('come back as they were uploaded', async () => {
    const up = await graph.upload(account, { content, mimeType: 'image/png', filename: 'a.png', attempt: 1 });
    assert.ok(up.kind === 'uploaded', 'uploaded');
    assert.ok(isSame(fake.media(up.mediaId)?.content), 'the same bytes there');
    const down = await graph.download(account, { mediaId: up.mediaId, attempt: 1 });
    assert.ok(down.kind === 'downloaded', 'downloaded');
    assert.ok(isSame(down.content), 'the same bytes here');
    assert.deepEqual([down.mimeType, down.sha256], ['image/png', digest.toString('hex')]);
  });

  for (const encoding of ['hex', 'base64'] as const) {
    it(`are taken with the hash that the webhook named in ${encoding}`, async () => {
      const mediaId = fake.addMedia({ content, mimeType: 'image/png' });
      const sha256 = digest.toString(encoding);
      assert.equal(await codeOf(graph.download(account, { mediaId, sha256, attempt: 1 })), 'downloaded');
    });
  }

  it('are refused where they are not what the webhook, or the platform itself, said', async () => {
    const other = createHash('sha256').update('other').digest('base64');
    const mediaId = fake.addMedia({ content, mimeType: 'image/png' });
    assert.equal(
      await codeOf(graph.download(account, { mediaId, sha256: other, attempt: 1 })),
      'media_hash_differs',
    );
    const wrong = fake.addMedia({ content, mimeType: 'image/png', saidSha256: other });
    assert.equal(await codeOf(graph.download(account, { mediaId: wrong, attempt: 1 })), 'media_hash_differs');
  });

  it('are refused where they are too large, also where the platform says they are not', async () => {
    const small = client({ largestMediaBytes: 1_000 });
    const mediaId = fake.addMedia({ content, mimeType: 'image/png' });
    assert.equal(await codeOf(small.download(account, { mediaId, attempt: 1 })), 'media_too_large');
    const liar = fake.addMedia({ content, mimeType: 'image/png', saidBytes: 10 });
    assert.equal(await codeOf(small.download(account, { mediaId: liar, attempt: 1 })), 'media_too_large');
  });

  it('are not fetched from a host that is not the platform, because it would see our token', async () => {
    const elsewhere = await startFakeGraph({ numbers: [NUMBER] });
    const saidUrl = `${elsewhere.url}/files/1`;
    const mediaId = fake.addMedia({ content, mimeType: 'image/png', saidUrl });
    assert.equal(await codeOf(graph.download(account, { mediaId, attempt: 1 })), 'media_elsewhere');
    await elsewhere.close();
  });

  it('that the platform has forgotten are gone', async () => {
    assert.equal(await codeOf(graph.download(account, { mediaId: '404', attempt: 1 })), '100');
  });
});
