// Twenty ways and more to write the sections of the desk wrongly. Each is told with its file, its place and its remedy,
// and with none of them anything starts.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfiguration } from '../../config/load.js';
import { Copy, TENANT } from './copy.js';

const MORE = `${TENANT}/desk.yaml`;
const PEOPLE = `${TENANT}/business.yaml`;

const account = (over: Record<string, string> = {}): string => {
  const fields = {
    accountKey: "'100200300400500'",
    displayNumber: "'+905550001100'",
    accessToken: 'desk-access-token',
    appSecrets: '[desk-app-secret]',
    verifyToken: 'desk-verify-token',
    ...over,
  };
  return `{ ${Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')} }`;
};
const accounts = (...list: string[]): string =>
  `channels: { web: { accountKey: harbour-desk }, whatsapp: [${list.join(', ')}] }\n`;
const OWN_CHANNELS = 'channels:\n  web:\n    accountKey: harbour-desk\n';
const OWN_OWNERS = '  - id: deniz\n    name: Deniz\n';
const number = (value: string): string => `addresses: { whatsapp: ['${value}'] }`;

interface Row {
  name: string;
  /** What the tenant's own file `desk.yaml` holds. */
  more?: string;
  edit?: [before: string, after: string];
  /** The file that `edit` changes. Absent: the tenant's business.yaml. */
  in?: string;
  /** The file that has to be named. Absent: `desk.yaml`. */
  file?: string;
  path: string;
  wrong: RegExp;
  right: RegExp;
}

const withAccounts = (...list: string[]): Pick<Row, 'more' | 'edit'> => ({
  edit: [OWN_CHANNELS, ''],
  more: accounts(...list),
});
const withOwners = (lines: string): Pick<Row, 'edit' | 'file'> => ({
  edit: [OWN_OWNERS, lines],
  file: PEOPLE,
});
const ASSISTANT = `${TENANT}/assistant.yaml`;
const ROLE = '  roleId: desk\n';
const withFirstMessage = (texts: string): Pick<Row, 'edit' | 'in' | 'file'> => ({
  edit: [ROLE, `${ROLE}  firstMessage: ${texts}\n`],
  in: ASSISTANT,
  file: ASSISTANT,
});

const rows: Row[] = [
  {
    name: 'a misspelt key of an account',
    ...withAccounts(account({ acessToken: 'x' })),
    path: 'channels.whatsapp.0.acessToken',
    wrong: /not a known key/,
    right: /did you mean accessToken\?/,
  },
  {
    name: 'a number without its quotes',
    ...withAccounts(account({ displayNumber: '+905550001100' })),
    path: 'channels.whatsapp.0.displayNumber',
    wrong: /is 905550001100/,
    right: /"\+905550001122", in quotes/,
  },
  {
    name: 'a number without its country',
    ...withAccounts(account({ displayNumber: "'05550001100'" })),
    path: 'channels.whatsapp.0.displayNumber',
    wrong: /05550001100/,
    right: /international number/,
  },
  {
    name: 'a secret that is needed and not named',
    ...withAccounts(account().replace('accessToken: desk-access-token, ', '')),
    path: 'channels.whatsapp.0.accessToken',
    wrong: /is missing/,
    right: /name of a file in the directory of secrets/,
  },
  {
    name: 'three app secrets at once',
    ...withAccounts(account({ appSecrets: '[one, two, three]' })),
    path: 'channels.whatsapp.0.appSecrets',
    wrong: /too large/,
    right: /at most 2 entries/,
  },
  {
    name: 'a profile that is not there',
    ...withAccounts(account({ profile: 'dek' })),
    path: 'channels.whatsapp.0.profile',
    wrong: /no profile "dek"/,
    right: /did you mean desk\?/,
  },
  {
    name: 'an account twice',
    ...withAccounts(account(), account({ displayNumber: "'+905550001199'" })),
    path: 'channels.whatsapp.1.accountKey',
    wrong: /has the key "100200300400500" already/,
    right: /of its own/,
  },
  {
    name: 'two accounts with one number',
    ...withAccounts(account(), account({ accountKey: "'999888777'" })),
    path: 'channels.whatsapp.1.displayNumber',
    wrong: /an account of the desk itself has this number/,
    right: /of its own/,
  },
  {
    name: 'an unknown template',
    ...withAccounts(account({ templates: '{ lateAnswers: { name: late, language: en } }' })),
    path: 'channels.whatsapp.0.templates.lateAnswers',
    wrong: /not a known key/,
    right: /did you mean lateAnswer\?/,
  },
  {
    name: 'two owners with one number',
    ...withOwners(
      `  - { id: ada, name: Ada, ${number('+905550001111')} }\n  - { id: bo, name: Bo, ${number('+905550001111')} }\n`,
    ),
    path: 'owners.1.addresses.whatsapp.0',
    wrong: /the owner ada has this number already/,
    right: /of its own/,
  },
  {
    name: 'an owner who writes from the desk’s own number',
    edit: [
      `${OWN_CHANNELS}\nowners:\n${OWN_OWNERS}`,
      `owners:\n  - { id: ada, name: Ada, ${number('+905550001100')} }\n`,
    ],
    more: accounts(account()),
    file: PEOPLE,
    path: 'owners.0.addresses.whatsapp.0',
    wrong: /account of the desk itself/,
    right: /of its own/,
  },
  {
    name: 'two operators with one number',
    more: `operators: [{ id: ada, name: Ada, ${number('+905550001111')} }, { id: bo, name: Bo, ${number('+905550001111')} }]`,
    path: 'operators.1.addresses.whatsapp.0',
    wrong: /the operator ada has this number already/,
    right: /of its own/,
  },
  {
    name: 'an operator with the number of an owner',
    edit: [OWN_OWNERS, `  - { id: ada, name: Ada, ${number('+905550001111')} }\n`],
    more: `operators: [{ id: bo, name: Bo, ${number('+905550001111')} }]`,
    path: 'operators.0.addresses.whatsapp.0',
    wrong: /the owner ada has this number already/,
    right: /whoever is both is listed as an owner only/,
  },
  {
    name: 'an operator with the id of an owner',
    more: 'operators: [{ id: deniz, name: Deniz }]',
    path: 'operators.0.id',
    wrong: /an owner has the id "deniz" already/,
    right: /owner only/,
  },
  {
    name: 'two operators with one id',
    more: 'operators: [{ id: ada, name: Ada }, { id: ada, name: Bo }]',
    path: 'operators.1.id',
    wrong: /another operator/,
    right: /of its own/,
  },
  ...['console', 'api', 'superseded', 'customer'].map((id): Row => ({
    name: `an owner who is called ${id}, as a part of the desk is`,
    ...withOwners(`  - { id: ${id}, name: Ada }\n`),
    path: 'owners.0.id',
    wrong: new RegExp(`"${id}" is the name of a part of the desk`),
    right: /another name/,
  })),
  {
    name: 'a group of owners with the name of a surface',
    ...withOwners('  - { id: ada, name: Ada, groups: [senior, cli] }\n'),
    path: 'owners.0.groups.1',
    wrong: /"cli" is the name of a part of the desk itself, so a group of owners/,
    right: /another name/,
  },
  {
    name: 'an operator with the name of a system actor',
    more: 'operators: [{ id: clock, name: Ada }]',
    path: 'operators.0.id',
    wrong: /"clock" is the name of a part of the desk itself, so an operator/,
    right: /another name/,
  },
  {
    name: 'an address of a channel that is not there',
    more: "operators: [{ id: ada, name: Ada, addresses: { whatsap: ['+905550001111'] } }]",
    path: 'operators.0.addresses.whatsap',
    wrong: /not a known key/,
    right: /did you mean whatsapp\?/,
  },
  {
    name: 'a reminder after the end',
    more: 'forwarding: { expiresAfterMinutes: 30 }',
    file: 'defaults/assistant.yaml',
    path: 'forwarding.remindAfterMinutes',
    wrong: /45 minutes comes when the question has expired \(30\)/,
    right: /less than 30/,
  },
  {
    name: 'a first message in a language that is not spoken',
    ...withFirstMessage('{ en: Hello., de: Hallo. }'),
    path: 'assistant.firstMessage.de',
    wrong: /"de" is not a language of the assistant/,
    right: /one of en, tr/,
  },
  {
    name: 'a first message that is missing in the language of the business',
    ...withFirstMessage('{ tr: Merhaba. }'),
    path: 'assistant.firstMessage.en',
    wrong: /language is not known yet/,
    right: /a sentence in "en"/,
  },
  {
    name: 'a shift without length',
    more: "shift: { enabled: true, staffed: { monday: [{ from: '09:00', to: '09:00' }] } }",
    path: 'shift.staffed.monday.0',
    wrong: /09:00 to 09:00 is empty/,
    right: /the whole day is 00:00 to 00:00/,
  },
  {
    name: 'shifts of one day that overlap',
    more: "shift: { enabled: true, staffed: { monday: [{ from: '09:00', to: '13:00' }, { from: '12:00', to: '18:00' }] } }",
    path: 'shift.staffed.monday.1',
    wrong: /12:00 begins before the one of monday 09:00 to 13:00 has ended/,
    right: /in order/,
  },
  {
    name: 'a night that reaches into the next day’s shift',
    more: "shift: { enabled: true, staffed: { monday: [{ from: '22:00', to: '06:00' }], tuesday: [{ from: '05:00', to: '12:00' }] } }",
    path: 'shift.staffed.tuesday.0',
    wrong: /begins before the one of monday 22:00 to 06:00/,
    right: /ends on the next day/,
  },
  {
    name: 'the night from Sunday that reaches into Monday’s shift',
    more: "shift: { enabled: true, staffed: { monday: [{ from: '05:00', to: '12:00' }], sunday: [{ from: '22:00', to: '06:00' }] } }",
    path: 'shift.staffed.monday.0',
    wrong: /begins before the one of sunday/,
    right: /ends on the next day/,
  },
  {
    name: 'a schedule that is on, and never staffed',
    more: 'shift: { enabled: true }',
    file: 'defaults/assistant.yaml',
    path: 'shift.staffed',
    wrong: /nobody is ever at the desk/,
    right: /enabled: false/,
  },
  {
    name: 'a shift on a day that does not exist',
    more: "shift: { enabled: true, staffed: { mondy: [{ from: '09:00', to: '12:00' }] } }",
    path: 'shift.staffed.mondy',
    wrong: /not a known key|can't be a name/,
    right: /monday/,
  },
  {
    name: 'an approver who is nobody',
    more: '',
    edit: [
      '    - name: effects-need-an-owner\n',
      '    - name: effects-need-an-owner\n      approvers: [seniors]\n',
    ],
    in: 'defaults/policy.yaml',
    file: 'defaults/policy.yaml',
    path: 'policy.rules.3.approvers.0',
    wrong: /no owner or group of owners "seniors"/,
    right: /one of deniz/,
  },
  {
    name: 'a sentence that nobody says, among very many',
    more: 'phrases: { en: { sentences: { zzqqxxjjwwkk: No. } } }',
    path: 'phrases.en.sentences.zzqqxxjjwwkk',
    wrong: /not a known key/,
    right: /^one of \d+ names, the most similar being (\w+, ){4}\w+$/,
  },
  {
    name: 'a debounce whose most is below its least',
    more: 'profiles: { desk: { debounceMs: 60000, debounceMaxMs: 1000 } }',
    path: 'profiles.desk',
    wrong: /debounceMaxMs 1000 is below debounceMs 60000/,
    right: /at least debounceMs/,
  },
  {
    name: 'an approval that outlives the decision behind it',
    more: 'limits: { decisionMinutes: 60 }',
    file: `${TENANT}/policy.yaml`,
    path: 'policy.approvalMinutes',
    wrong: /120 minutes are longer than a decision is kept/,
    right: /at most 60, or a larger limits\.decisionMinutes/,
  },
];

describe('the sections of the desk', () => {
  let copy: Copy;
  beforeEach(() => {
    copy = new Copy();
  });
  afterEach(() => copy.remove());

  it('are right when they are written as meant', () => {
    copy.replace(PEOPLE, OWN_CHANNELS, '');
    copy.replace(
      PEOPLE,
      OWN_OWNERS,
      `  - { id: ada, name: Ada, ${number('+905550001111')}, groups: [senior] }\n`,
    );
    copy.write(
      MORE,
      [
        accounts(account(), account({ accountKey: "'999888777'", displayNumber: "'+905550001199'" })),
        `operators: [{ id: bo, name: Bo, ${number('+905550002222')} }]`,
        "shift: { enabled: true, staffed: { sunday: [{ from: '22:00', to: '06:00' }], monday: [{ from: '06:00', to: '12:00' }], tuesday: [{ from: '00:00', to: '00:00' }] } }",
      ].join('\n'),
    );
    copy.replace(ASSISTANT, ROLE, `${ROLE}  firstMessage: { en: Hello., tr: Merhaba. }\n`);
    const tenant = copy.load();
    assert.equal(tenant.channels.whatsapp.length, 2);
    assert.equal(tenant.operators[0]?.id, 'bo');
  });

  it(`are told apart in at least twenty ways to be wrong`, () => {
    assert.ok(rows.length >= 20);
  });

  for (const row of rows) {
    it(`tell ${row.name}, and nothing starts`, () => {
      if (row.edit) copy.replace(row.in ?? PEOPLE, ...row.edit);
      if (row.more !== undefined) copy.write(MORE, row.more);
      const problems = copy.problems();
      const found = problems.find(({ path, wrong }) => path === row.path && row.wrong.test(wrong));
      assert.ok(found, `not among: ${JSON.stringify(problems, null, 1)}`);
      assert.match(found.right, row.right);
      assert.equal(found.file, join(copy.directory, row.file ?? MORE));
      assert.equal(problems.length, 1, `one mistake, one problem: ${JSON.stringify(problems, null, 1)}`);
    });
  }

  it('tell a second tenant that takes an account of the first, on every channel', () => {
    copy.replace(PEOPLE, OWN_CHANNELS, '');
    copy.write(MORE, accounts(account()));
    cpSync(join(copy.directory, TENANT), join(copy.directory, 'tenants/second'), { recursive: true });
    const problems = copy.problems();
    assert.deepEqual(
      problems.map(({ path, file }) => `${path} ${file.includes('tenants/second/') ? 'second' : 'first'}`),
      ['channels.web.accountKey second', 'channels.whatsapp.0.accountKey second'],
    );
  });

  it('never quote a secret that was written where its name belongs', () => {
    const canary = 'EAAG0canary0000secret';
    copy.replace(PEOPLE, OWN_CHANNELS, '');
    copy.write(
      MORE,
      accounts(account({ accessToken: canary, appSecrets: `['${canary}']`, verifyToken: '4242424242' })),
    );
    assert.throws(
      () => loadConfiguration(copy),
      (error: Error) => {
        assert.match(error.message, /channels\.whatsapp\.0\.accessToken/);
        assert.match(error.message, /channels\.whatsapp\.0\.verifyToken/);
        assert.ok(!error.message.includes(canary) && !error.message.includes('4242424242'), error.message);
        return true;
      },
    );
  });
});
