// What an owner's words command, as a table: nothing but a yes is a yes, and no code is guessed.
import assert from 'node:assert/strict';
import { parseCommand, type OwnerCommand } from '../../../activities/owner/parse-command.js';
import { loadConfiguration } from '../../../config/load.js';
import { OWNER_LISTS } from '../../../config/owner-phrases.js';
import { isOnly, phrasesOf } from '../../../config/phrases.js';
import { refsIn } from '../../../workflows/domain/approval.js';

const [tenant] = loadConfiguration({ directory: 'config' }).tenants.values();
const phrases = tenant?.phrases ?? assert.fail();
const read = (text: string, ...known: string[]): OwnerCommand =>
  parseCommand(text, phrases, (ref) => known.includes(ref));

const ref = 'K-7Q4F';
const yes: OwnerCommand = { kind: 'approve', ref, isFirm: true };
const no = (reason?: string): Extract<OwnerCommand, { kind: 'reject' }> => ({
  kind: 'reject',
  ref,
  ...(reason !== undefined && { reason }),
  isPlain: false,
});
const unclear: OwnerCommand = { kind: 'unclear', ref };

const ROWS: [text: string, command: OwnerCommand][] = [
  ['APPROVE K-7Q4F', yes],
  ['approve k7q4f', yes],
  ['yes k7q4f', yes],
  ['K-7Q4F approve, please', yes],
  ['Approve K–7Q4F!', yes],
  ['hi, please approve K_7Q4F, thanks', yes],
  ['I approve\nK-7Q4F', yes],
  ['evet K-7Q4F', yes],
  ['ONAYLIYORUM k7q4f lütfen', yes],
  ['apruebo K-7Q4F, gracias', yes],
  ['aprovo K-7Q4F', yes],
  ['gree K-7Q4F abeg', yes],
  ['na amince K-7Q4F', yes],
  ['mo fọwọ́ sí i K-7Q4F', yes],
  ['ok K-7Q4F', { kind: 'approve', ref, isFirm: false }],
  ['yes', { kind: 'approve', isFirm: true }],
  ['ok', { kind: 'approve', isFirm: false }],
  ['👍', { kind: 'approve', isFirm: false }],
  ['👎🏾', { kind: 'reject', isPlain: true }],

  // A yes with anything beside it is none.
  ["don't approve K-7Q4F", unclear],
  ['approve K-7Q4F but at 11:00', unclear],
  ['yes, no, K-7Q4F', unclear],
  ['not sure about K-7Q4F', unclear],
  ['should I approve K-7Q4F?', unclear],
  ['approve everything but K-7Q4F', unclear],
  ['no problem, approve K-7Q4F', unclear],
  ['what about K-7Q4F', unclear],
  ['approve K-7Q4F K-9X3A', { kind: 'several' }],
  ['approve K-7Q4F and K-7Q4F', unclear],

  // A question decides nothing; only a reason may be one.
  ['K-7Q4F approved?', unclear],
  ['approved K-7Q4F??', unclear],
  ['yes K-7Q4F？', unclear],
  ['onaylandı mı K-7Q4F?', unclear],
  ['¿apruebo K-7Q4F', unclear],
  ['approve? K-7Q4F', unclear],
  ['approve K-7Q4F؟', unclear],
  ['approve K-7Q4F ❓', unclear],
  ['approve K-7Q4F ⁉', unclear],
  ['yes?', { kind: 'unknown' }],
  ['ok؟', { kind: 'unknown' }],
  ['accept it?', { kind: 'unclear' }],
  ['approved?', { kind: 'unclear' }],
  ['done K-7Q4F?', unclear],
  ['HAPPENED K-7Q4F ？', unclear],
  ['not K-7Q4F?', unclear],
  ['done?', { kind: 'unknown' }],
  ['rejected K-7Q4F?', unclear],
  ['K-7Q4F? rejected', unclear],
  ['reject? K-7Q4F too early', unclear],
  ['rejected K-7Q4F ❓', unclear],
  ['no K-7Q4F?', unclear],
  ['no?', { kind: 'unknown' }],
  ['REJECT K-7Q4F too early, maybe at 11?', no('too early, maybe at 11?')],
  ['No, K-7Q4F is too early?', { kind: 'reject', ref, reason: 'is too early?', isPlain: true }],

  ['REJECT K-7Q4F too early', no('too early')],
  ['reject: too early (k9x3a) K-7Q4F', { ...no(), ref: 'K-9X3A', reason: 'too early ( ) K-7Q4F' }],
  ['K-7Q4F rejected', no()],
  ['reddet K-7Q4F çok erken', no('çok erken')],
  ['não aprovo K-7Q4F', no()],
  ['I no gree K-7Q4F', no()],
  ['reject K-7Q4F yes really', no('yes really')],
  ['no K-7Q4F', { kind: 'reject', ref, isPlain: true }],
  ['No, K-7Q4F is too early', { kind: 'reject', ref, reason: 'is too early', isPlain: true }],
  ['no', { kind: 'reject', isPlain: true }],

  ['EDIT K-7Q4F time=11:00', { kind: 'edit', ref, pairs: [['time', '11:00']] }],
  [
    'edit k7q4f time = "11:00", date=2026-12-05; note=“two people”',
    {
      kind: 'edit',
      ref,
      pairs: [
        ['time', '11:00'],
        ['date', '2026-12-05'],
        ['note', 'two people'],
      ],
    },
  ],
  ['edit K-7Q4F note="a=b, c"', { kind: 'edit', ref, pairs: [['note', 'a=b, c']] }],
  ["edit K-7Q4F note=''", { kind: 'edit', ref, pairs: [['note', '']] }],
  ['EDIT K-7Q4F note=two people', { kind: 'edit', ref }],
  ['EDIT K-7Q4F to eleven', { kind: 'edit', ref }],
  ['EDIT K-7Q4F', { kind: 'edit', ref }],
  ['düzenle K-7Q4F time=11:00', { kind: 'edit', ref, pairs: [['time', '11:00']] }],
  ['edit k7q4f part=k9x3a', { kind: 'edit', ref, pairs: [['part', 'k9x3a']] }],

  ['LIST', { kind: 'list' }],
  ['list please', { kind: 'list' }],
  ['SHOW K-7Q4F', { kind: 'show', ref, part: 1 }],
  ['göster k-7q4f 2', { kind: 'show', ref, part: 2 }],
  ['K-7Q4F', { kind: 'show', ref, part: 1 }],
  ['HAPPENED K-7Q4F', { kind: 'happened', ref }],
  ['NOT K-7Q4F', { kind: 'notHappened', ref }],
  ['it did not happen K-7Q4F', { kind: 'notHappened', ref }],
  ['oldu K-7Q4F', { kind: 'happened', ref }],
  ['not K-7Q4F but another one happened', unclear],
  ['help', { kind: 'help' }],
  ['PAUSE until noon', { kind: 'desk', verb: 'pause', rest: 'until noon' }],
  ['take K-7Q4F', { kind: 'desk', verb: 'take', ref, rest: '' }],

  // Talk that begins as a command does.
  ['show me the bookings of Friday', { kind: 'unknown' }],
  ['edit the website', { kind: 'unknown' }],
  ['list of what we need', { kind: 'unknown' }],
  ['yes but not today', { kind: 'unknown' }],
  ['Is anything free on Friday?', { kind: 'unknown' }],
  ['', { kind: 'unknown' }],
  ['\u202Eyes', { kind: 'approve', isFirm: true }],
];

describe('an owner’s words', () => {
  for (const [text, command] of ROWS) {
    it(`${JSON.stringify(text)} ${command.kind}`, () => assert.deepEqual(read(text), command));
  }

  it('name a code without hyphen and digit only where there is such a code', () => {
    assert.deepEqual(read('approve kaqrf', 'K-AQRF'), { kind: 'approve', ref: 'K-AQRF', isFirm: true });
    assert.deepEqual(read('approve kaqrf'), { kind: 'unclear' });
    assert.deepEqual(read('reject too early', 'E-ARLY'), {
      kind: 'reject',
      ref: 'E-ARLY',
      reason: 'too',
      isPlain: false,
    });
    assert.deepEqual(read('reject too early'), { kind: 'reject', reason: 'too early', isPlain: false });
  });
});

describe('codes in a text', () => {
  const rows: [text: string, refs: string[]][] = [
    ['K-7Q4F', ['K-7Q4F']],
    ['k7q4f', ['K-7Q4F']],
    ['(K-7Q4F).', ['K-7Q4F']],
    ['time=a1234', []],
    ['xK-7Q4F', []],
    ['K-7Q4FX', []],
    ['K-7Q4', []],
    ['a dozen', []],
    ['early', []],
    ['K 7Q4F', []],
    ['https://example.com/k7q4f', ['K-7Q4F']],
  ];
  for (const [text, refs] of rows) {
    it(`${JSON.stringify(text)}: ${refs.join(' ') || 'none'} for certain`, () => {
      const certain = refsIn(text).filter(({ isCertain }) => isCertain);
      assert.deepEqual(
        certain.map((found) => found.ref),
        refs,
      );
    });
  }
});

it('codes that may as well be words are found, and marked', () => {
  assert.deepEqual(
    refsIn('early K 7Q4F').map(({ ref: found, isCertain }) => [found, isCertain]),
    [
      ['E-ARLY', false],
      ['K-7Q4F', false],
    ],
  );
});

describe('the words of command', () => {
  it('are never a yes in one language and a no in another', () => {
    const yeses = [...phrasesOf(phrases, 'yes'), ...phrasesOf(phrases, 'ownerApprove')];
    const noes = [...phrasesOf(phrases, 'no'), ...phrasesOf(phrases, 'ownerReject')];
    assert.ok(yeses.length > 30 && noes.length > 30);
    assert.deepEqual(
      yeses.filter((phrase) => isOnly(phrase, noes)),
      [],
    );
  });

  it('are there in every language, and command what their list says', () => {
    const kinds: Partial<Record<(typeof OWNER_LISTS)[number], OwnerCommand['kind']>> = {
      ownerApprove: 'approve',
      ownerReject: 'reject',
      ownerEdit: 'edit',
      ownerList: 'list',
      ownerShow: 'show',
      ownerHappened: 'happened',
      ownerNotHappened: 'notHappened',
      ownerHelp: 'help',
      ownerPause: 'desk',
      ownerResume: 'desk',
      ownerStatus: 'desk',
      ownerTake: 'desk',
      ownerRelease: 'desk',
    };
    for (const { language, lists } of Object.values(phrases)) {
      for (const list of OWNER_LISTS) {
        assert.ok(lists[list].length > 0, `${language} ${list}`);
        for (const phrase of lists[list]) {
          const kind = kinds[list];
          if (kind !== undefined) assert.equal(read(phrase).kind, kind, `${language}: ${phrase}`);
        }
      }
    }
  });
});
