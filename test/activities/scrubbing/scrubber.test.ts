import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createScrubber, type Scrubber } from '../../../activities/scrubbing/scrubber.js';
import type { Scrubbing } from '../../../config/configuration.js';
import { loadConfiguration } from '../../../config/load.js';
import { SECTIONS } from '../../../config/schema/sections.js';
import type { Json, JsonObject } from '../../../workflows/domain/tool.js';
import { skipAloud } from '../../support/skip.js';
import { readCases, type Case } from './cases.js';
import { EMBEDDED, HARMLESS, SECRETS } from './rows.js';

function shippedSettings(): Scrubbing {
  const [tenant] = loadConfiguration({ directory: './config' }).tenants.values();
  assert.ok(tenant);
  return tenant.scrubbing;
}

/** What a call costs this process; other work on the machine doesn't count. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const settings = shippedSettings();
const scrubber = createScrubber(settings);
const samples = Object.entries(SECRETS).flatMap(([rule, texts]) => texts.map((text) => ({ rule, text })));

describe('the scrubber, on text', () => {
  for (const [rule, texts] of Object.entries(SECRETS)) {
    it(`removes ${rule}`, () => {
      for (const text of texts) {
        for (const [before, after] of [
          ['', ''],
          ['Here: ', ' (new)'],
          ['"', '",'],
          ['=', '\n'],
        ]) {
          assert.equal(
            scrubber.scrubText(`${before}${text}${after}`).text,
            `${before}[removed: ${rule}]${after}`,
          );
        }
      }
    });
  }

  it('has a made-up secret for every configured token', () => {
    const seen = new Set([...samples, ...EMBEDDED.map(([, , rule]) => ({ rule }))].map(({ rule }) => rule));
    assert.deepEqual(
      Object.keys(settings.tokens).filter((rule) => !seen.has(rule)),
      [],
    );
  });

  for (const [text, secret, rule] of EMBEDDED) {
    it(`takes only the secret out of ${text.slice(0, 50)}`, () => {
      const out = scrubber.scrubText(text);
      assert.ok(!out.text.includes(secret), out.text);
      assert.ok(out.text.includes(`[removed: ${rule}]`), out.text);
      const [before = '', after = ''] = text.split(secret);
      assert.ok(out.text.startsWith(before.split('4111')[0] ?? '') && out.text.endsWith(after), out.text);
    });
  }

  for (const text of HARMLESS) {
    it(`leaves as it is: ${text.slice(0, 50)}`, () => {
      assert.deepEqual(scrubber.scrubText(text), { text, found: [] });
    });
  }

  it('removes a key that was cut off, to the end', () => {
    const { text } = scrubber.scrubText('key:\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0B');
    assert.equal(text, 'key:\n[removed: private-key]');
  });

  it('counts per rule, and says nothing of what it was', () => {
    const [token = ''] = SECRETS['github'] ?? [];
    assert.deepEqual(scrubber.scrubText(`${token} ${token} cvv 737`).found, [
      { rule: 'github', count: 2 },
      { rule: 'card-code', count: 1 },
    ]);
  });

  it('leaves account numbers where the business shows its own', () => {
    const text = 'Pay to TR33 0006 1005 1978 6457 8413 26';
    assert.equal(createScrubber({ ...settings, ibans: false }).scrubText(text).text, text);
  });
});

describe('the scrubber, on JSON', () => {
  it('removes the whole value of a member with a secret name, in any spelling', () => {
    const { value, found } = scrubber.scrubJson({
      password: 'x',
      apiKey: 12,
      CLIENT_SECRET: { a: [1] },
      'refresh-token': ['a', 'b'],
      nested: [{ Authorization: 'no' }, { pin: 4821 }, { cardNumber: 'x', cvv: 737 }],
    });
    assert.deepEqual(value, {
      password: '[removed: password]',
      apiKey: '[removed: api-key]',
      CLIENT_SECRET: '[removed: secret]',
      'refresh-token': '[removed: refresh-token]',
      nested: [
        { Authorization: '[removed: authorization]' },
        { pin: '[removed: pin]' },
        { cardNumber: '[removed: card-number]', cvv: '[removed: cvv]' },
      ],
    });
    assert.equal(
      found.reduce((sum, { count }) => sum + count, 0),
      8,
    );
  });

  it('leaves names that only sound like one', () => {
    const value: JsonObject = {
      next_page_token: 'abc123DEF456',
      public_key: 'ssh-ed25519 AAAA',
      map_pin: 'B4',
      secret_santa: '14:00',
      tokens: 512,
      key: 'K-7Q2F',
      token_type: 'room',
      password_changed_at: '2027-10-03',
      has_password: true,
      secret: null,
    };
    assert.deepEqual(scrubber.scrubJson(value), { value, found: [] });
  });

  it('removes a card that is a number, and a secret that is a name', () => {
    const [token = ''] = SECRETS['github'] ?? [];
    assert.deepEqual(
      scrubber.scrubJson({ n: 4111111111111111, at: 1727951400000, [token]: 1, [`${token}A`]: 2 }).value,
      {
        n: '[removed: card]',
        at: 1727951400000,
        '[removed: github]': 1,
        '[removed: github] (2)': 2,
      },
    );
  });

  it('looks at a weak name only when its value is like a secret', () => {
    assert.deepEqual(
      scrubber.scrubJson({ accountKey: 'lJzRc1YdHaAA2KCNJJ1tkYwF', storeKey: 'starters-2027' }).value,
      {
        accountKey: '[removed: key]',
        storeKey: 'starters-2027',
      },
    );
  });

  it('survives a nesting that no result has', () => {
    const deep = Array.from({ length: 50_000 }).reduce<Json>((inner) => [inner], 'x');
    assert.ok(JSON.stringify(scrubber.scrubJson({ deep }).value).includes('[removed: unreadable]'));
  });
});

describe('the scrubber, on known cases', () => {
  let cases: Case[] = [];
  before(function () {
    const read = readCases();
    if (read.cases === undefined) skipAloud(this, `there is no ${read.file}`);
    cases = read.cases;
  });

  const isChanged = ({ text }: Case) => scrubber.scrubText(text).found.length > 0;

  it('removes every secret of a recognisable form', () => {
    const rows = cases.filter((row) => row.expect === 'redact' && row.structured);
    assert.ok(rows.length > 0);
    assert.deepEqual(
      rows.filter((row) => !isChanged(row)),
      [],
    );
  });

  it('leaves what is none', () => {
    // Rows that one source calls harmless and another a secret (`structured`) are for neither.
    const rows = cases.filter((row) => row.expect === 'keep' && !row.structured);
    assert.ok(rows.length > 0);
    assert.deepEqual(rows.filter(isChanged), []);
  });

  it('says how it does on the others', () => {
    const loose = cases.filter((row) => row.expect === 'redact' && !row.structured);
    const disputed = cases.filter((row) => row.expect === 'keep' && row.structured);
    console.log(
      `      removed ${loose.filter(isChanged).length} of ${loose.length} secrets without a recognisable form, ` +
        `${disputed.filter(isChanged).length} of ${disputed.length} on which the sources disagree`,
    );
  });
});

describe('the scrubber, on anything', () => {
  const secret = fc.constantFrom(...samples.map(({ text }) => text), ...EMBEDDED.map(([text]) => text));
  const glue = fc.constantFrom(
    '',
    ' ',
    '=',
    ':',
    '"',
    '\\"',
    '-',
    '_',
    '@',
    '/',
    '.',
    '\n',
    ']',
    '[removed: ',
    'password=',
    'token: ',
  );
  const noise = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom(...HARMLESS));
  const text = fc
    .array(
      fc.oneof(
        secret,
        glue,
        noise,
        secret.chain((whole) => fc.nat(whole.length).map((end) => whole.slice(0, end))),
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join(''));

  it('finds nothing in its own text', () => {
    fc.assert(
      fc.property(text, (input) => {
        const once = scrubber.scrubText(input).text;
        assert.deepEqual(scrubber.scrubText(once), { text: once, found: [] });
      }),
      { numRuns: 1_000 },
    );
  });

  it('changes nothing where it finds nothing', () => {
    fc.assert(
      fc.property(text, (input) => {
        const out = scrubber.scrubText(input);
        assert.equal(out.found.length === 0, out.text === input);
      }),
      { numRuns: 500 },
    );
  });

  it('gives JSON back for JSON, and finds nothing in it', () => {
    const name = fc.oneof(
      text,
      fc.constantFrom('password', 'accessToken', '__proto__', 'account_key', 'pin'),
    );
    const leaf = fc.oneof(
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true }), (input) => {
        const once = scrubber.scrubJson(input).value;
        const again = scrubber.scrubJson(JSON.parse(JSON.stringify(once)));
        assert.deepEqual(again.found, []);
        assert.equal(JSON.stringify(again.value), JSON.stringify(once));
      }),
      { numRuns: 300 },
    );
  });
});

describe('the time a text takes', () => {
  const fill = (part: string, length: number) =>
    part.repeat(Math.ceil(length / part.length)).slice(0, length);

  // Each repeats what a rule begins with. Every rule's secret stands at the end, so that no rule is left out.
  const ending = samples.map(({ text }) => text).join(' ');
  const hostile = [
    'eyJ-',
    'eyJaaaaaaaaaaa.eyJ',
    'AKIA ',
    '://x:y ',
    'a://b:c@',
    'password=',
    'token: a ',
    '4111111111111111 ',
    '4111 1111 1111 1112 ',
    'DE89370400440532013000 ',
    'MZ1yGvKTjE0rY0cV8i47CjAa.uRHQPq.',
    '-----BEGIN PRIVATE KEY----- ',
    'Authorization: Basic ',
    '=',
    '4',
    'sk-',
  ];
  for (const part of hostile) {
    it(`is bounded for a text full of ${JSON.stringify(part)}`, () => {
      const took = cpuMs(() => scrubber.scrubText(`${fill(part, 65_536)} ${ending}`));
      assert.ok(took < 1_500, `${took} ms`);
    });
  }

  it('grows with the text, and no faster', () => {
    const took = cpuMs(() => scrubber.scrubText(`${fill(hostile.join(''), 1_048_576)} ${ending}`));
    assert.ok(took < 20_000, `${took} ms`);
  });
});

describe('the rules of the scrubber', () => {
  const problems = (change: Partial<Scrubbing>) =>
    (SECTIONS.scrubbing.safeParse({ ...settings, ...change }).error?.issues ?? []).map(
      ({ message }) => message,
    );

  it('are refused when a pattern is none, or matches nothing at all', () => {
    const tokens = {
      behind: { literals: ['a'], pattern: '(?<=a)b' },
      empty: { literals: ['a'], pattern: 'a*' },
    };
    const found = problems({ tokens });
    assert.equal(found.length, 2, found.join('\n'));
    assert.ok(found.includes('matches nothing at all'));
  });

  it('may be added to by a tenant', () => {
    const own: Scrubber = createScrubber({
      ...settings,
      tokens: { ...settings.tokens, voucher: { literals: ['VCH-'], pattern: 'VCH-[0-9]{6}' } },
    });
    assert.equal(own.scrubText('use VCH-123456 today').text, 'use [removed: voucher] today');
  });
});
