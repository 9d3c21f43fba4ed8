import assert from 'node:assert/strict';
import { loadConfiguration } from '../../../config/load.js';
import { createCommandCheck } from '../../../gateway/arrival/commands.js';
import { arrivalOf, type ArrivalDecision, type ArrivalFacts } from '../../../gateway/arrival/gates.js';
import { createPeople } from '../../../gateway/arrival/people.js';

const HOUR = 3_600_000;
const now = new Date('2026-12-01T12:00:00Z');

const plain: ArrivalFacts = {
  chatKind: 'direct',
  kind: 'text',
  speaker: 'customer',
  isEcho: false,
  isSystem: false,
  isReadable: true,
  isAddressedToUs: false,
  isQuoting: false,
  hasRef: false,
  isCommand: false,
  sentAt: new Date(now.getTime() - 1_000),
  now,
  staleAfterMs: 24 * HOUR,
};

const owner = { speaker: 'owner:ada' } as const;
const operator = { speaker: 'operator:doc' } as const;
const group = { chatKind: 'group' } as const;
const old = { sentAt: new Date(now.getTime() - 25 * HOUR) };
const onNotices = { arrival: 'owner_command', isForNoticesOnly: true } as const;

describe('the arrival gates', () => {
  const table: [string, Partial<ArrivalFacts>, ArrivalDecision['arrival'] | ArrivalDecision][] = [
    ['a customer’s words', {}, 'turn'],
    ['a customer’s picture', { kind: 'image' }, 'turn'],
    ['a customer who types a code', { hasRef: true, isCommand: true }, 'turn'],
    ['a customer’s button', { kind: 'button' }, 'turn'],
    ['words without a time', { sentAt: undefined }, 'turn'],

    ['what the platform says', { kind: 'system' }, 'system'],
    ['what it says in plain text', { isSystem: true }, 'system'],
    ['the same at the shop’s phone', { isSystem: true, isEcho: true, speaker: 'business' }, 'system'],
    ['the same in a group', { ...group, isSystem: true }, 'system'],

    ['a person at the shop’s phone', { isEcho: true, speaker: 'business' }, 'human'],
    ['their picture', { isEcho: true, speaker: 'business', kind: 'image' }, 'human'],
    [
      'something of theirs that nobody can read',
      { isEcho: true, isReadable: false, kind: 'unsupported' },
      'human',
    ],
    ['their words of yesterday', { isEcho: true, ...old }, { arrival: 'human', takesNothing: true }],
    ['their mere sign', { isEcho: true, kind: 'reaction' }, 'reaction'],
    ['their edit', { isEcho: true, kind: 'edit' }, 'edit'],

    ['an edit', { kind: 'edit' }, 'edit'],
    ['an owner’s edit', { ...owner, kind: 'edit', isCommand: true }, 'edit'],
    ['a revoke', { kind: 'revoke' }, 'revoke'],
    ['a sign', { kind: 'reaction' }, 'reaction'],
    ['a sign of an operator', { ...operator, kind: 'reaction' }, 'reaction'],
    ['a sign of an owner', { ...owner, kind: 'reaction' }, onNotices],
    ['an owner’s sign taken back', { ...owner, kind: 'reaction', isReadable: false }, 'reaction'],
    ['an owner’s sign in a group', { ...owner, ...group, kind: 'reaction' }, 'reaction'],
    ['nothing to read', { isReadable: false }, 'unsupported'],
    ['a kind that nobody knows', { kind: 'unsupported' }, 'unsupported'],

    ['an operator’s words', { ...operator }, 'operator_reply'],
    ['an operator’s words in a group', { ...operator, ...group, isAddressedToUs: true }, 'turn'],

    ['an owner’s command', { ...owner, isCommand: true }, 'owner_command'],
    ['an owner’s code', { ...owner, hasRef: true }, 'owner_command'],
    ['an owner’s button', { ...owner, kind: 'button' }, 'owner_command'],
    ['an owner who quotes', { ...owner, isQuoting: true }, onNotices],
    ['an owner who talks', { ...owner }, 'turn'],
    ['an owner’s command in a group', { ...owner, ...group, isCommand: true }, 'group_unaddressed'],
    [
      'an owner’s command to us in a group',
      { ...owner, ...group, isCommand: true, isAddressedToUs: true },
      'turn',
    ],

    ['a group’s own talk', { ...group }, 'group_unaddressed'],
    ['a group’s word to us', { ...group, isAddressedToUs: true }, 'turn'],

    ['old words', { ...old }, 'stale'],
    ['words just young enough', { sentAt: new Date(now.getTime() - 24 * HOUR) }, 'turn'],
    ['an old command', { ...owner, ...old, isCommand: true }, 'stale'],
    ['an old answer', { ...operator, ...old }, 'stale'],
    ['an old sign', { ...old, kind: 'reaction' }, 'reaction'],
    ['old talk of a group', { ...old, ...group }, 'group_unaddressed'],
  ];

  for (const [name, facts, expected] of table) {
    const decision = typeof expected === 'string' ? { arrival: expected } : expected;
    it(`take ${name} for ${decision.arrival}`, () => {
      assert.deepEqual(arrivalOf({ ...plain, ...facts }), decision);
    });
  }
});

describe('the people of a business', () => {
  const person = createPeople({
    owners: [{ id: 'ada', name: 'Ada', addresses: { whatsapp: ['+905550000001'] }, groups: [] }],
    operators: [{ id: 'doc', name: 'Doc', addresses: { whatsapp: ['+905550000002'] } }],
  });

  it('are known by the digits of their own numbers, and by nothing that looks like them', () => {
    assert.equal(person('905550000001'), 'owner:ada');
    assert.equal(person('905550000002'), 'operator:doc');
    for (const other of ['+905550000001', '5550000001', '9055500000010', '00905550000001', 'ada', ''])
      assert.equal(person(other), undefined, other);
  });
});

describe('the words of owners', () => {
  const [configuration] = loadConfiguration({ directory: 'config' }).tenants.values();
  const isCommand = createCommandCheck(configuration?.phrases ?? {});

  for (const text of [
    'STATUS',
    'please approve K-7Q4F',
    'Yes',
    '👍',
    '👎🏿',
    'pause',
    'reddet K-7Q4F çünkü dolu',
    'Hayır',
    'HELP',
  ])
    it(`tell "${text}" for a command`, () => assert.equal(isCommand(text), true));

  for (const text of [
    '',
    '…',
    'Is Saturday free?',
    'the status of the repair',
    '👍👍 great work',
    'thanks, see you',
  ])
    it(`tell "${text}" for talk`, () => assert.equal(isCommand(text), false));
});
