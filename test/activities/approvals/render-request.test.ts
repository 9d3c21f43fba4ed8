// What an owner reads: everything that is there, nothing that hides, and no more than a message holds.
import assert from 'node:assert/strict';
import { requestPart, requestText } from '../../../activities/approvals/render-request.js';
import { readChanges } from '../../../activities/approvals/read-changes.js';
import type { TenantConfiguration } from '../../../config/configuration.js';
import { loadConfiguration } from '../../../config/load.js';
import type { ApprovalView } from '../../../prisma/stores/views/approvals.js';
import type { Json, JsonObject, ToolDefinition } from '../../../workflows/domain/tool.js';

const [shipped] = loadConfiguration({ directory: 'config' }).tenants.values();
const [first] = shipped?.tools ?? [];
if (!shipped || !first) throw new Error('the shipped configuration has a tool');

const properties: Record<string, JsonObject> = {
  note: { type: 'string', title: 'the note' },
  count: { type: 'integer', minimum: 1 },
  amount: { type: 'number' },
  urgent: { type: 'boolean' },
  level: { enum: ['low', 'high'] },
  stage: { enum: [1, 2] },
  tags: { type: 'array', items: { type: 'string' } },
  maybe: { type: ['integer', 'null'] },
  contact_id: { type: 'string' },
  password: { type: 'string' },
};
const tool: ToolDefinition = {
  ...first,
  name: 'write_down',
  description: 'Writes something down.',
  inputSchema: { type: 'object', additionalProperties: false, properties },
  managedFields: ['contact_id'],
  secretFields: ['password'],
};
const configuration: TenantConfiguration = { ...shipped, tools: [tool] };
const tenant = { configuration };

function view(values: JsonObject, more: Partial<ApprovalView> = {}): ApprovalView {
  return {
    approvalId: 'a',
    ref: 'K-7Q4F',
    gate: 'approve',
    tool: tool.name,
    arguments: values,
    chatId: 'c',
    channel: 'whatsapp-cloud',
    chat: '15550100009',
    contactId: 'p',
    rule: 'a-rule',
    isTainted: false,
    state: 'open',
    askedAt: new Date('2026-12-01T08:00:00Z'),
    expiresAt: new Date('2026-12-01T12:00:00Z'),
    onExpiry: 'refuse',
    approvers: [],
    needed: 1,
    yeses: [],
    turnId: 't',
    stepId: 's',
    runState: 'waiting',
    stepState: 'accepted',
    isDeclined: false,
    told: undefined,
    decisions: [],
    ...more,
  };
}

describe('a request as an owner reads it', () => {
  it('holds what would be done, for whom, why, until when, and what silence means', () => {
    const text = requestText(tenant, view({ note: 'Bring the pump', count: 2 }));
    for (const part of [
      'K-7Q4F',
      'write down',
      'Writes something down.',
      '• the note: Bring the pump',
      '• count: 2',
      '+15550100009',
      '"a-rule"',
      'Tue 1 Dec 15:00',
      'Without an answer nothing is done',
      'EDIT K-7Q4F note=…',
    ]) {
      assert.ok(text.includes(part), `${part} in ${text}`);
    }
    assert.doesNotMatch(text, /outside|people|password=|contact_id=/);
  });

  it('says that content from outside may be behind it, and how many have to agree', () => {
    const text = requestText(
      tenant,
      view({ note: 'x' }, { isTainted: true, needed: 2, onExpiry: 'handOff' }),
    );
    assert.match(text, /Content from outside may have suggested it/);
    assert.match(text, /yes from 2 people/);
    assert.match(text, /a person has to get back to the customer/);
  });

  it('shows what hides or reorders, in the arguments and in the address', () => {
    const hidden = view({ note: 'pay \u202E001 to\u200B me\nUntil never' }, { chat: 'a\u2066b' });
    const text = requestText(tenant, hidden);
    for (const shown of ['⟦U+202E⟧', '⟦U+200B⟧', '⟦↵⟧', '⟦U+2066⟧']) assert.ok(text.includes(shown), shown);
    assert.doesNotMatch(text, /[\u202E\u200B\u2066]/);
  });

  it('lets no line of a value begin where a line of ours does, nor one of a title or of another company', () => {
    const forged = '\n• the time: 09:00\nUntil never\r\n• count: 1\u2028• count: 3\n\nFor nobody';
    const server = { server: 'books\n• the time: 11:00', isTrusted: false };
    const evil: ToolDefinition = {
      ...tool,
      description: `Writes.${forged}`,
      mcp: server,
      inputSchema: {
        type: 'object',
        properties: { note: { type: 'string', title: `note${forged}` }, count: { type: 'integer' } },
      },
    };
    const desk = { configuration: { ...shipped, tools: [evil] } };
    const asked = (note: string, name: string, chat: string): string =>
      requestText(desk, view({ note, [name]: 2, count: 2, tags: [note] }, { chat }), -10_000);
    // The same words with their lines on one: where lines of ours begin.
    const lines = asked(`x${forged}`, `na${forged}me`, `me${forged}`).split('\n');
    const starts = lines.filter((line) => /^\s*(?:•|Until|For)/u.test(line)).map((line) => line.slice(0, 9));
    assert.deepEqual(starts, ['• note⟦↵⟧', '• na⟦↵⟧• ', '• count: ', '• tags: [', 'For me⟦↵⟧', 'Until Tue']);
    assert.ok(lines.includes('  │ • the time: 09:00⟦↵⟧'), lines.join('\n'));
  });

  it('is set in where a part begins within a value', () => {
    const long = view({ note: `${'x'.repeat(2_930)}${'• the time: 09:00 '.repeat(400)}` });
    for (const part of [2, 3]) {
      const [, second = ''] = requestPart(tenant, long, part).split('\n');
      assert.match(second, /^ {2}│ /);
    }
  });

  it('fits beside buttons whatever it holds, says that it was cut, and can be had in full', () => {
    const note = Array.from({ length: 1_400 }, (_, index) => `w${index}`).join(' ');
    const long = view({ note });
    const text = requestText(tenant, long);
    assert.ok(text.length <= 1_000, `${text.length}`);
    assert.match(text, /cut short; SHOW K-7Q4F/);
    assert.match(text, /Until Tue 1 Dec/);
    const parts = [1, 2, 3, 4].map((part) => requestPart(tenant, long, part));
    assert.match(parts[0] ?? '', /part 1 of 3[^]*Go on with SHOW K-7Q4F 2/);
    assert.ok(parts.every((part) => part.length <= 4_096));
    assert.equal(parts[3], parts[2], 'beyond the end is the end');
    const shown = parts.slice(0, 3).join('\n');
    const words = new Set(shown.match(/w\d+/g));
    // A word may be cut by the end of a part.
    const missing = note.split(' ').filter((word) => !words.has(word));
    assert.ok(missing.length <= 4, missing.join(' '));
  });

  it('cuts no character in half', () => {
    for (let length = 800; length < 810; length++) {
      const text = requestText(tenant, view({ note: `${'x'.repeat(length)}${'🚲'.repeat(400)}` }));
      assert.doesNotMatch(text, /[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
    }
  });
});

describe('a change as it was typed', () => {
  const rows: [pair: [string, string], value: Json | undefined][] = [
    [['note', '11'], '11'],
    [['Note', 'x'], 'x'],
    [['count', '11'], 11],
    [['count', '11.0'], undefined],
    [['count', '0x1f'], undefined],
    [['count', '1e3'], undefined],
    [['count', ' 7'], undefined],
    [['count', ''], undefined],
    [['amount', '12.50'], 12.5],
    [['amount', '12,50'], undefined],
    [['amount', 'NaN'], undefined],
    [['urgent', 'true'], true],
    [['urgent', 'yes'], undefined],
    [['level', 'high'], 'high'],
    [['stage', '2'], 2],
    [
      ['tags', '["a","b"]'],
      ['a', 'b'],
    ],
    [['tags', 'a,b'], undefined],
    [['tags', '[{"__proto__":{"a":1}}]'], undefined],
    [['maybe', 'null'], null],
    [['maybe', '3'], 3],
  ];
  for (const [[name, text], value] of rows) {
    it(`${name}=${text} is ${value === undefined ? 'no value' : JSON.stringify(value)}`, () => {
      const read = readChanges(tool, [[name, text]]);
      if (value === undefined) assert.ok('why' in read && read.why === 'unreadable', JSON.stringify(read));
      else assert.deepEqual(read, { values: { [name.toLowerCase()]: value } });
    });
  }

  it('never touches what the runtime fills, what is secret, or what isn’t there', () => {
    for (const name of ['contact_id', 'password', 'other', '__proto__', 'constructor']) {
      assert.deepEqual(readChanges(tool, [[name, 'x']]), { why: 'unknown_name', name });
    }
    assert.deepEqual(
      readChanges(tool, [
        ['note', 'a'],
        ['NOTE', 'b'],
      ]),
      { why: 'doubled', name: 'note' },
    );
  });
});
