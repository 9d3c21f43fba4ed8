// What the bench of webhooks makes of a folder, and of what a gateway answers: a gateway that loses something must not pass.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readData, type DataFile } from '../../bench/webhooks/data.js';
import type { Answer, Posted, Poster } from '../../bench/webhooks/post.js';
import { replay } from '../../bench/webhooks/replay.js';

const hook = (...ids: string[]) => ({
  object: 'whatsapp_business_account',
  entry: [{ id: '1', changes: [{ field: 'messages', value: { messages: ids.map((id) => ({ id })) } }] }],
});

describe('a folder of webhooks', () => {
  let folder: string;
  let data: DataFile[];
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'aroko-webhooks-'));
    const files: Record<string, string> = {
      'one.json': JSON.stringify(hook('a')),
      'deep/er/BOM.JSON': `\uFEFF${JSON.stringify(hook('b'))}`,
      'named.json': JSON.stringify({ first: hook('c'), second: hook('d') }),
      'cut.json': '{"object":',
      'send.json': JSON.stringify({ messaging_product: 'whatsapp', to: '1', type: 'text' }),
      'licence.txt': 'no data',
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    mkdirSync(join(folder, 'folder.json'));
    symlinkSync(join(folder, 'nowhere'), join(folder, 'broken.json'));
    data = readData(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('is read with all its JSON files, whatever is wrong with one of them', () => {
    assert.deepEqual(
      data.map(({ file, found, problem }) => [file, found.length, problem]),
      [
        ['broken.json', 0, 'unreadable'],
        ['cut.json', 0, 'not_json'],
        ['deep/er/BOM.JSON', 1, undefined],
        ['named.json', 2, undefined],
        ['one.json', 1, undefined],
        ['send.json', 0, undefined],
      ],
    );
  });

  it('is posted byte for byte where a file is one webhook, with a line for each file', async () => {
    const bodies: unknown[] = [];
    const { lines, lost, crashes, accepted } = await replay(data, answering({ accepted: 1 }, bodies), noted);
    assert.deepEqual([accepted, lost, crashes], [4, 0, 1], 'a cut file that is taken with 200 is a fault');
    assert.deepEqual(
      bodies.filter((body) => body instanceof Uint8Array).map((body) => Buffer.from(body).at(0)),
      [0x7b, 0xef, 0x7b],
    );
    assert.deepEqual(
      lines.map(({ file, outcomes }) => [file, outcomes.length]),
      data.map(({ file, found }) => [file, Math.max(1, found.length)]),
    );
  });
});

describe('a webhook that was posted', () => {
  const table: [string, Posted, Partial<Record<'accepted' | 'refused' | 'lost' | 'crashes', number>>][] = [
    ['is accepted', taken({ accepted: 2 }), { accepted: 2 }],
    ['is here already', taken({ duplicates: 2 }), { accepted: 2 }],
    ['is kept aside', taken({ refused: { malformed: 2 }, events: 2 }), { refused: 2 }],
    ['is kept as one event where it has no form', taken({ events: 1 }), { refused: 2 }],
    ['is lost where it is taken and nothing is kept', taken({}), { lost: 2 }],
    ['is lost in part', taken({ accepted: 1 }), { accepted: 1, lost: 1 }],
    [
      'is lost behind an event that stands for another',
      taken({ refused: { fault: 1 }, events: 1 }),
      { refused: 1, lost: 1 },
    ],
    ['is refused', { status: 413, problem: 'too large' }, { refused: 2 }],
    ['crashes', { status: 500 }, { crashes: 1 }],
    ['gets no answer', { status: 0 }, { crashes: 1 }],
  ];
  for (const [what, posted, expected] of table) {
    it(what, async () => {
      const {
        accepted,
        refused_with_reason: refused,
        lost,
        crashes,
      } = await replay(
        [file(hook('a', 'b'))],
        { post: () => Promise.resolve(posted), close: () => undefined },
        noted,
      );
      assert.deepEqual(
        { accepted, refused, lost, crashes },
        { accepted: 0, refused: 0, lost: 0, crashes: 0, ...expected },
      );
    });
  }

  it('goes out again under an id of its own where its id is another message’s', async () => {
    const bodies: unknown[] = [];
    const answers = [taken({ refused: { conflict: 1 }, events: 1 }), taken({ stored: 1 })];
    const result = await replay(
      [file(hook('a'))],
      {
        post: (body) => {
          bodies.push(body);
          return Promise.resolve(answers.shift() ?? { status: 0 });
        },
        close: () => undefined,
      },
      noted,
    );
    assert.deepEqual([result.accepted, result.rows, result.refused_with_reason, result.lost], [1, 1, 0, 0]);
    assert.notDeepEqual(bodies[0], bodies[1]);
    assert.match(result.lines[0]?.outcomes[0] ?? '', /conflict.*under an id of its own: 1 stored/);
  });
});

function file(webhook: Record<string, unknown>): DataFile {
  return { file: 'a.json', found: [{ place: '', webhook }], bytes: new Uint8Array(), isWhole: false };
}

function taken(counts: Partial<Answer>): Posted {
  const none = {
    accepted: 0,
    stored: 0,
    duplicates: 0,
    echoes: 0,
    statuses: 0,
    statusesUnmatched: 0,
    events: 0,
  };
  return { status: 200, answer: { refused: {}, ...none, ...counts } };
}

function answering(counts: Partial<Answer>, bodies: unknown[]): Poster {
  return {
    post: (body) => {
      bodies.push(body);
      return Promise.resolve(taken(counts));
    },
    close: () => undefined,
  };
}

function noted(): void {
  // The bar that a person sees; nobody looks here.
}
