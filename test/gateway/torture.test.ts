// What nobody sends by accident, over real HTTP: a clear answer or a clear refusal, stored where it was accepted and as it was
// written, and the next ordinary message is accepted as if nothing had been.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { skipAloud } from '../support/skip.js';
import { API_TOKEN } from './gateway.js';
import { FRONT, message, messages, signed, startCloud, text, type Cloud } from './whatsapp-cloud/cloud.js';

const DATA = join(process.env['AROKO_TEST_DATA'] ?? join('..', 'shared', 'data'), 'security');
/** For all that isn't about slowness: a busy machine reads a megabyte slowly. */
const REQUEST_MS = 10_000;
const SLOW_MS = 1_500;
const LEVELS = 10_000;

interface Answer {
  status: number;
  code: string | undefined;
  message: string | undefined;
}

describe('what nobody sends by accident', function () {
  this.timeout(60_000);
  let cloud: Cloud;
  before(async () => {
    cloud = await startCloud({ requestMs: REQUEST_MS });
  });
  after(() => cloud?.stop());

  /** Something in between has gone wrong if this doesn't work any more. */
  afterEach(async () => {
    const { status } = await post(JSON.stringify({ id: randomUUID(), text: 'Hello!' }));
    assert.equal(status, 202, 'the next ordinary message is accepted');
    const { json } = await cloud.post(messages(text('905550009999', 'Hello!')));
    assert.equal(json.accepted, 1, 'and so is one from the platform');
  });

  async function post(
    body: string | Buffer,
    options: { chat?: string; type?: string } = {},
  ): Promise<Answer> {
    const { chat = 'torture', type = 'application/json' } = options;
    const response = await fetch(`${cloud.url}/api/chats/${chat}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_TOKEN}`, ...(type !== '' && { 'content-type': type }) },
      body: new Uint8Array(Buffer.from(body)),
    });
    return refusalIn(response.status, await response.text());
  }

  async function say(words: string): Promise<Answer & { stored: string | undefined }> {
    const id = randomUUID();
    const answer = await post(JSON.stringify({ id, text: words }));
    const stored = answer.status === 202 ? (await cloud.byId(id)).text : undefined;
    return { ...answer, stored };
  }

  describe('on the API', () => {
    const accepted: [string, string][] = [
      ['2,000 emoji', '🙂'.repeat(2_000)],
      ['a family of one emoji and its joiners', '👩‍👩‍👧‍👦'],
      ['right-to-left overrides around a word', '\u202Ednuofer\u202C 100 \u2066now\u2069'],
      ['a letter under four thousand accents', `a${'\u0301'.repeat(4_000)}`],
      ['the sign for what could not be read', 'a\uFFFDb'],
      ['words that look like JSON, HTML and SQL', `{"a":1}</script>'; drop table inbox; --`],
      ['line ends and tabs', 'one\r\ntwo\tthree\u2028four'],
    ];
    for (const [name, words] of accepted) {
      it(`stores ${name} as written`, async () => {
        const { status, stored } = await say(words);
        assert.equal(status, 202);
        assert.equal(stored, words);
      });
    }

    const refused: [string, string, number, RegExp][] = [
      ['a message of 1 MB', 'x'.repeat(1_000_000), 413, /1000000 characters; 4096/],
      ['5,000 emoji', '🙂'.repeat(5_000), 413, /10000 characters; 4096/],
      ['a NUL', 'a\0b', 400, /NUL/],
      ['a lone high surrogate', 'a\uD800b', 400, /lone surrogate/],
      ['a lone low surrogate', 'a\uDC00b', 400, /lone surrogate/],
      ['surrogates the wrong way round', '\uDE42\uD83D', 400, /lone surrogate/],
      ['nothing', '', 400, /empty/],
      ['spaces and line ends', ' \t\r\n\u00A0\u3000', 400, /empty/],
      ['a right-to-left override alone', '\u202E', 400, /empty/],
      ['invisible characters', '\u200B\u200D\uFEFF\u2060', 400, /empty/],
    ];
    for (const [name, words, status, says] of refused) {
      it(`refuses ${name} with ${status}, and says why`, async () => {
        const answer = await say(words);
        assert.equal(answer.status, status);
        assert.match(answer.message ?? '', says);
      });
    }

    const body = (more: string): string => `{"id":"${randomUUID()}","text":"x"${more}}`;
    const bodies: [string, () => [string | Buffer, { chat?: string; type?: string }?], number, RegExp][] = [
      [
        'a body of more than 1 MB',
        () => [body(`,"a":"${'x'.repeat(1_100_000)}"`)],
        413,
        /larger than is taken here/,
      ],
      ['lists within lists', () => ['['.repeat(LEVELS) + ']'.repeat(LEVELS)], 400, /message/],
      [
        'objects within objects',
        () => [body(`,"a":${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`)],
        400,
        /./,
      ],
      [
        'a text that is nested instead',
        () => [`{"id":"a","text":${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}}`],
        400,
        /text/,
      ],
      ['half of a body', () => [body('').slice(0, -8)], 400, /not valid JSON/],
      ['an empty body', () => [''], 400, /empty/],
      [
        'bytes that are no UTF-8',
        () => [Buffer.from([...Buffer.from('{"id":"u","text":"a'), 0xff, 0xc0, 0x22, 0x7d])],
        400,
        /UTF-8/,
      ],
      ['a key that reaches the prototype', () => [body(',"__proto__":{"a":1}')], 400, /./],
      ['a form', () => ['id=a&text=b', { type: 'application/x-www-form-urlencoded' }], 415, /JSON/],
      ['plain text', () => ['hello', { type: 'text/plain' }], 415, /JSON/],
      ['no type', () => [body(''), { type: '' }], 415, /JSON/],
      [
        'an id of a million characters',
        () => [JSON.stringify({ id: 'a'.repeat(900_000), text: 'x' })],
        400,
        /id/,
      ],
      ['a number for an id', () => ['{"id":1e400,"text":"x"}'], 400, /id/],
      ['a chat of five thousand characters', () => [body(''), { chat: 'c'.repeat(5_000) }], 414, /address/],
      ['an address that is no UTF-8', () => [body(''), { chat: '%ff%fe' }], 400, /address/],
    ];
    for (const [name, make, status, says] of bodies) {
      it(`refuses ${name} with ${status}`, async () => {
        const answer = await post(...make());
        assert.equal(answer.status, status, answer.message);
        assert.match(answer.message ?? '', says);
        assert.ok(answer.code, 'with a code for programs');
      });
    }

    it('reads the last of two equal keys, and stores one message', async () => {
      const [first, last] = [randomUUID(), randomUUID()];
      const { status } = await post(`{"id":"${first}","id":"${last}","text":"one","text":"two"}`);
      assert.equal(status, 202);
      assert.equal((await cloud.byId(last)).text, 'two');
      await assert.rejects(cloud.byId(first));
    });

    it('refuses a head that is too long, in the same form as everything else', async () => {
      const answer = await raw(`GET /api/${'a'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
      assert.match(answer, /^HTTP\/1\.1 431 /);
      assert.match(answer, /"code":"too_large"/);
    });

    it('refuses what is no HTTP', async () => {
      assert.match(await raw('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'), /^HTTP\/1\.1 400 /);
    });
  });

  describe('slowly', () => {
    let patient: Cloud;
    before(async () => {
      patient = cloud;
      cloud = await startCloud({ requestMs: SLOW_MS });
    });
    after(async () => {
      await cloud.stop();
      cloud = patient;
    });

    const head = (path: string, more = ''): string =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}Content-Length: 2000\r\n`;

    it('is cut while its body arrives a byte at a time, and others are answered meanwhile', async () => {
      const api = `Authorization: Bearer ${API_TOKEN}\r\n`;
      const hook = `X-Hub-Signature-256: ${signed('any', Buffer.from('x'))}\r\n`;
      const slow = [
        raw(`${head('/api/chats/slow/messages', api)}\r\n`, { trickle: '{' }),
        raw(`${head('/webhooks/whatsapp', hook)}\r\n`, { trickle: '{' }),
        raw(head('/api/chats/slow/messages'), { trickle: 'X' }),
      ];
      assert.equal((await say('Hello!')).status, 202);
      for (const answer of await Promise.all(slow)) {
        assert.match(answer, /^HTTP\/1\.1 408 /);
        assert.match(answer, /"message":"The request took too long to arrive\."/);
      }
    });

    it('a hundred of them keep nobody else from being answered', async () => {
      const slow = Array.from({ length: 100 }, () =>
        raw(`${head('/api/chats/slow/messages', `Authorization: Bearer ${API_TOKEN}\r\n`)}\r\n`, {
          trickle: ' ',
        }),
      );
      assert.equal((await say('Hello!')).status, 202);
      const answers = await Promise.all(slow);
      assert.equal(answers.filter((answer) => answer.startsWith('HTTP/1.1 408 ')).length, 100);
    });
  });

  describe('in a webhook whose signature fits', () => {
    const from = '905551110001';
    const send = async (content: Record<string, unknown>, more = {}) => {
      const sent = message(from, content, more);
      const answer = await cloud.post(messages(sent));
      assert.equal(answer.status, 200, JSON.stringify(answer.json));
      return { ...answer.json, id: sent.id };
    };
    const written = (words: string) => send({ type: 'text', text: { body: words } });

    it('makes what can’t be stored visible, and stores the rest', async () => {
      const { id, accepted } = await written('a\0b\uD800c');
      assert.equal(accepted, 1);
      assert.equal((await cloud.byId(id)).text, 'a\uFFFDb\uFFFDc');
    });

    for (const [name, words] of [
      ['5,000 emoji', '🙂'.repeat(5_000)],
      ['right-to-left overrides', '\u202Eabc\u202C'],
      ['a message of 1 MB', 'x'.repeat(1_000_000)],
    ] as const) {
      it(`keeps ${name}: the platform would send it again for ever`, async () => {
        const { id, accepted, stored, refused } = await written(words);
        assert.deepEqual(refused, {});
        assert.equal(accepted + stored, 1);
        const row = await cloud.byId(id);
        assert.ok(words.startsWith((row.text ?? '').slice(0, 3)), row.text);
        assert.notEqual(row.text, '');
      });
    }

    for (const [name, words] of [
      ['nothing', ''],
      ['spaces', ' \n '],
    ] as const) {
      it(`keeps ${name} as a message that says nothing, with an end`, async () => {
        const { id, accepted, stored } = await written(words);
        assert.equal(accepted + stored, 1);
        const { state, arrival } = await cloud.byId(id);
        assert.ok(state !== '' && arrival !== '', `${state} ${arrival}`);
      });
    }

    it('takes nothing of what is nested ten thousand levels deep, and keeps its neighbours', async () => {
      const deep = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`;
      const sent = text(from, 'beside it');
      const hook = JSON.stringify(messages(sent, text(from, 'DEEP'))).replace('"DEEP"', deep);
      const { status, json } = await cloud.post(Buffer.from(hook));
      assert.equal(status, 200);
      assert.deepEqual([json.accepted, json.events], [1, 1]);
      assert.equal((await cloud.byId(sent.id)).text, 'beside it');
    });

    it('refuses lists within lists, halves and foreign types', async () => {
      assert.equal((await cloud.post(Buffer.from('['.repeat(LEVELS)))).status, 400);
      const whole = JSON.stringify(messages(text(from, 'x')));
      assert.equal((await cloud.post(Buffer.from(whole.slice(0, -5)))).status, 400);
      assert.equal((await cloud.post(Buffer.from(whole), { contentType: 'text/plain' })).status, 415);
      assert.equal((await cloud.post(Buffer.from(`"${'x'.repeat(3_200_000)}"`))).status, 413);
    });

    it('keeps a message with an id of a hundred thousand characters, or says that it can’t', async () => {
      const { accepted, stored, events, refused } = await send(
        { type: 'text', text: { body: 'x' } },
        { id: `wamid.${'a'.repeat(100_000)}` },
      );
      assert.equal(accepted + stored + events, 1, JSON.stringify(refused));
    });

    it('reads the last of two equal keys', async () => {
      const sent = text(from, 'one');
      const hook = JSON.stringify(messages(sent)).replace('"body":"one"', '"body":"one","body":"two"');
      assert.equal((await cloud.post(Buffer.from(hook))).json.accepted, 1);
      assert.equal((await cloud.byId(sent.id)).text, 'two');
    });
  });

  describe('as others have collected it', () => {
    before(function () {
      if (!existsSync(DATA)) skipAloud(this, `no samples at ${DATA}: set AROKO_TEST_DATA`);
    });

    it('every broken JSON file is refused by both doors, and no whole one breaks them', async () => {
      const folder = join(DATA, 'json-parse', 'test_parsing');
      const wrong: string[] = [];
      for (const file of readdirSync(folder)) {
        const bytes = readFileSync(join(folder, file));
        // One byte more than the file has is a body of its own: an empty one would say nothing about the parser.
        const statuses = [(await post(bytes)).status, (await cloud.post(bytes)).status];
        const isFine = file.startsWith('n_')
          ? statuses.every((status) => status === 400)
          : statuses.every((status) => [200, 400, 404].includes(status));
        if (!isFine) wrong.push(`${file}: ${statuses.join(', ')}`);
      }
      assert.deepEqual(wrong, []);
    });

    it('every naughty string is stored as written, or refused in words', async () => {
      const strings: string[] = JSON.parse(readFileSync(join(DATA, 'unicode', 'blns.json'), 'utf8'));
      const counts = { stored: 0, refused: 0 };
      for (const words of strings) {
        const { status, stored, message: why } = await say(words);
        if (status === 202) {
          assert.equal(stored, words);
          counts.stored += 1;
        } else {
          assert.ok([400, 413].includes(status) && why, `${status} for ${JSON.stringify(words)}`);
          counts.refused += 1;
        }
      }
      assert.ok(counts.stored > 400 && counts.refused < 20, JSON.stringify(counts));
    });
  });

  describe('in the log', () => {
    it('leaves no word of it in the log', () => {
      const log = cloud.logLines.join('');
      assert.match(log, /message\.accepted/);
      for (const word of ['ednuofer', 'drop table', '🙂', FRONT]) assert.ok(!log.includes(word), word);
    });
  });

  /** Bytes as they are, and then one more each while the other side listens; what it has answered when it hangs up. */
  function raw(bytes: string, { trickle }: { trickle?: string } = {}): Promise<string> {
    return new Promise((resolve) => {
      const { port } = new URL(cloud.url);
      const socket = connect(Number(port), '127.0.0.1');
      let answer = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
      // A byte into a connection that was just closed fails; what was answered before counts.
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(answer));
      socket.write(Buffer.from(bytes, 'latin1'));
      const drip = async (): Promise<void> => {
        while (trickle !== undefined && !socket.destroyed) {
          await sleep(300);
          socket.write(trickle);
        }
      };
      void drip();
    });
  }
});

function refusalIn(status: number, body: string): Answer {
  const { error }: { error?: { code: string; message: string } } = JSON.parse(body);
  return { status, code: error?.code, message: error?.message };
}
