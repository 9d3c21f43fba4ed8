import assert from 'node:assert/strict';
import { cpSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES } from '../../workflows/domain/failures.js';
import { describeConfiguration } from '../../config/describe.js';
import { loadConfiguration } from '../../config/load.js';
import { Copy, SHIPPED, TENANT } from './copy.js';

describe('the configuration', () => {
  let copy: Copy;
  beforeEach(() => {
    copy = new Copy();
  });
  afterEach(() => {
    copy.remove();
  });

  it('is right as shipped, and fits on one screen', () => {
    const configuration = loadConfiguration({ directory: SHIPPED });
    const summary = describeConfiguration(configuration);
    assert.match(summary, /Harbour Desk .*Europe\/Istanbul/);
    assert.match(summary, /saturday 09:00–13:00, sunday closed/);
    assert.ok(summary.split('\n').length <= 24);
  });

  it('has a sentence for every error code in every language', () => {
    const { phrases, assistant } = copy.load();
    for (const language of assistant.languages) {
      const sentences = phrases[language]?.sentences ?? assert.fail(`${language} has no sentences`);
      for (const code of ERROR_CODES) assert.ok(sentences[code].length > 5, `${language} ${code}`);
    }
  });

  it('hears languages that it doesn’t speak, by files that hold lists only', () => {
    const { phrases, assistant } = copy.load();
    const heard = Object.values(phrases).filter(({ sentences }) => sentences === undefined);
    assert.deepEqual(heard.map(({ language }) => language).sort(), ['es', 'ha', 'pcm', 'pt', 'yo']);
    for (const { language, lists } of heard) {
      assert.ok(!assistant.languages.includes(language));
      assert.ok(lists.smallTalk.length > 10 && lists.negative.length > 3, language);
    }
  });

  it('is frozen to its depth', () => {
    const tenant = copy.load();
    assert.throws(() => tenant.tools.push(tenant.tools[0] ?? assert.fail()), TypeError);
    assert.throws(() => {
      tenant.business.openingHours.monday[0] = { from: '00:00', to: '24:00' };
    }, TypeError);
  });

  it('takes the tenant over the defaults: mappings merge, lists are replaced', () => {
    copy.write(
      `${TENANT}/more.yaml`,
      [
        'limits: { maxCandidates: 3 }',
        'models: { chat: { maxTokens: 99 } }',
        'phrases: { en: { sentences: { acknowledgement: One moment. }, lists: { followUp: [and then] } } }',
      ].join('\n'),
    );
    const tenant = copy.load();
    assert.equal(tenant.limits.maxCandidates, 3);
    assert.equal(tenant.limits.questionMinutes, 15);
    assert.equal(tenant.models.chat.maxTokens, 99);
    assert.ok(tenant.models.chat.name.length > 0);
    assert.equal(tenant.phrases['en']?.sentences?.acknowledgement, 'One moment.');
    assert.deepEqual(tenant.phrases['en']?.lists.followUp, ['and then']);
    assert.ok((tenant.phrases['en']?.lists.negative.length ?? 0) > 5);
  });

  it('merges a tool of the defaults with the tenant’s own words for it by name', () => {
    const tools = readFileSync(join(copy.directory, TENANT, 'tools.yaml'), 'utf8');
    copy.write('defaults/tools.yaml', tools);
    copy.replace('defaults/assistant.yaml', 'tools: {}\nproviders: {}\n', '');
    copy.write(`${TENANT}/tools.yaml`, 'tools: { reserve_slot: { enabled: false, tags: [only] } }');
    const tool = copy.load().tools.find(({ name }) => name === 'reserve_slot');
    assert.equal(tool?.enabled, false);
    assert.deepEqual(tool.tags, ['only']);
    assert.equal(tool.effect, 'reversible');
  });

  describe('hash', () => {
    it('stays the same when keys stand in another order or another file', () => {
      const before = copy.load().hash;
      assert.match(before, /^[0-9a-f]{64}$/);
      copy.replace(`${TENANT}/business.yaml`, '  timeZone: Europe/Istanbul\n  language: en\n', '');
      copy.replace(
        `${TENANT}/business.yaml`,
        'business:\n',
        'business:\n  language: en\n  timeZone: Europe/Istanbul\n',
      );
      renameSync(join(copy.directory, TENANT, 'tools.yaml'), join(copy.directory, TENANT, 'a-first.yaml'));
      assert.equal(copy.load().hash, before);
    });

    it('changes with any value', () => {
      const before = copy.load().hash;
      copy.replace(`${TENANT}/tools.yaml`, 'slotMinutes: 30', 'slotMinutes: 45');
      assert.notEqual(copy.load().hash, before);
    });
  });

  describe('when it is broken, names file, line, path, what is wrong and what would be right', () => {
    const business = `${TENANT}/business.yaml`;
    const tools = `${TENANT}/tools.yaml`;
    const rows: {
      name: string;
      file: string;
      edit: [before: string, after: string];
      path: string;
      wrong: RegExp;
      right: RegExp;
    }[] = [
      {
        name: 'a misspelt key',
        file: business,
        edit: ['timeZone:', 'timezon:'],
        path: 'business.timezon',
        wrong: /not a known key/,
        right: /did you mean timeZone\?/,
      },
      {
        name: 'a misspelt section',
        file: 'defaults/limits.yaml',
        edit: ['\nlimits:', '\nlimit:'],
        path: 'limit',
        wrong: /not a known key/,
        right: /did you mean limits\?/,
      },
      {
        name: 'an unknown key deep in a list',
        file: 'defaults/policy.yaml',
        edit: ['when: { effects: [human_only] }', 'when: { effect: [human_only] }'],
        path: 'policy.rules.0.when.effect',
        wrong: /not a known key/,
        right: /did you mean effects\?/,
      },
      {
        name: 'an unknown weekday',
        file: business,
        edit: ['    sunday: []', '    sundays: []'],
        path: 'business.openingHours.sundays',
        wrong: /not a known key/,
        right: /did you mean sunday\?/,
      },
      {
        name: 'a time zone that does not exist',
        file: business,
        edit: ['Europe/Istanbul', 'Europe/Istambul'],
        path: 'business.timeZone',
        wrong: /Istambul.*not a time zone/,
        right: /did you mean Europe\/Istanbul/,
      },
      {
        name: 'a time that does not exist',
        file: business,
        edit: ["from: '13:30'", "from: '13:70'"],
        path: 'business.openingHours.monday.1.from',
        wrong: /13:70/,
        right: /09:00/,
      },
      {
        name: 'windows that overlap',
        file: business,
        edit: ["from: '13:30'", "from: '12:00'"],
        path: 'business.openingHours.monday',
        wrong: /begins before/,
        right: /in order/,
      },
      {
        name: 'a closed date that is not in the calendar',
        file: business,
        edit: ['2027-01-01', '2027-02-30'],
        path: 'business.closedDates.0',
        wrong: /2027-02-30/,
        right: /date of the calendar/,
      },
      {
        name: 'a number out of its bounds',
        file: 'defaults/limits.yaml',
        edit: ['maxCandidates: 8', 'maxCandidates: 21'],
        path: 'limits.maxCandidates',
        wrong: /too large/,
        right: /at most 20/,
      },
      {
        name: 'text where a number belongs',
        file: 'defaults/limits.yaml',
        edit: ['questionMinutes: 15', 'questionMinutes: soon'],
        path: 'limits.questionMinutes',
        wrong: /"soon"/,
        right: /number/,
      },
      {
        name: 'a required value that is missing',
        file: business,
        edit: ['  name: Harbour Desk\n', ''],
        path: 'business.name',
        wrong: /is missing/,
        right: /text/,
      },
      {
        name: 'an effect that does not exist',
        file: tools,
        edit: ['effect: reversible', 'effect: reversable'],
        path: 'tools.reserve_slot.effect',
        wrong: /reversable/,
        right: /did you mean reversible\?/,
      },
      {
        name: 'a writing operation that is called reading',
        file: tools,
        edit: ['effect: reversible', 'effect: read'],
        path: 'tools.reserve_slot.effect',
        wrong: /changes something/,
        right: /reversible/,
      },
      {
        name: 'a provider that does not exist',
        file: tools,
        edit: ['provider: bookings', 'provider: booking'],
        path: 'tools.check_availability.provider',
        wrong: /no provider "booking"/,
        right: /did you mean bookings\?/,
      },
      {
        name: 'an operation that does not exist',
        file: tools,
        edit: ['operation: listFreeSlots', 'operation: listSlots'],
        path: 'tools.check_availability.operation',
        wrong: /no operation/,
        right: /listFreeSlots/,
      },
      {
        name: 'a managed field that no argument has',
        file: tools,
        edit: ['    privateData: false', '    managedFields: [dat]\n    privateData: false'],
        path: 'tools.check_availability.managedFields.0',
        wrong: /no property/,
        right: /did you mean date\?/,
      },
      {
        name: 'a result told apart by what it never holds',
        file: tools,
        edit: ['    declinedWhen: { status: [taken,', '    declinedWhen: { statu: [taken,'],
        path: 'tools.reserve_slot.declinedWhen.statu',
        wrong: /no property/,
        right: /did you mean status\?/,
      },
      {
        name: 'a schema that lets unknown arguments through',
        file: tools,
        edit: ['      additionalProperties: false\n      required: [date]', '      required: [date]'],
        path: 'tools.check_availability.inputSchema.additionalProperties',
        wrong: /unknown arguments/,
        right: /additionalProperties: false/,
      },
      {
        name: 'a schema that refers to somewhere else',
        file: tools,
        edit: [
          '          format: date\n',
          '          format: date\n          $ref: https://example.com/date.json\n',
        ],
        path: 'tools.check_availability.inputSchema.properties.date.$ref',
        wrong: /"\$ref" is not allowed/,
        right: /only type/,
      },
      {
        name: 'a tool name that models refuse',
        file: tools,
        edit: ['  reserve_slot:', '  Reserve-Slot:'],
        path: 'tools.Reserve-Slot',
        wrong: /can't be a name/,
        right: /lower case/,
      },
      {
        name: 'a rule about a tool that does not exist',
        file: 'defaults/policy.yaml',
        edit: ['when: { effects: [read] }', 'when: { tools: [check_availabilty] }'],
        path: 'policy.rules.4.when.tools.0',
        wrong: /no tool/,
        right: /did you mean check_availability\?/,
      },
      {
        name: 'two rules of one name',
        file: 'defaults/policy.yaml',
        edit: ['name: reading-is-free', 'name: people-only'],
        path: 'policy.rules.4.name',
        wrong: /another rule/,
        right: /its own/,
      },
      {
        name: 'approvals that nobody can give',
        file: 'defaults/policy.yaml',
        edit: ['surfaces: [console, api, cli, temporal, whatsapp, web]', 'surfaces: []'],
        path: 'policy.surfaces',
        wrong: /nobody could decide/,
        right: /console/,
      },
      {
        name: 'a placeholder that the sentence does not have',
        file: 'phrases/tr.yaml',
        edit: ['{missing}', '{eksik}'],
        path: 'phrases.tr.sentences.missingArguments',
        wrong: /\{eksik\}/,
        right: /\{missing\}, always/,
      },
      {
        name: 'a value that may be absent, outside of brackets',
        file: 'phrases/en.yaml',
        edit: ['[ (reference {ref})]', ' (reference {ref})'],
        path: 'phrases.en.sentences.waitingForOwner',
        wrong: /outside of \[brackets\]/,
        right: /only inside/,
      },
      {
        name: 'a sentence that is missing',
        file: 'phrases/en.yaml',
        edit: ['  TOOL_TIMEOUT:', '  TOOL_TIMEOUTS:'],
        path: 'phrases.en.sentences.TOOL_TIMEOUTS',
        wrong: /not a known key/,
        right: /did you mean TOOL_TIMEOUT\?/,
      },
      {
        name: 'a language without phrases',
        file: 'defaults/assistant.yaml',
        edit: ['languages: [en, tr]', 'languages: [en, de]'],
        path: 'assistant.languages.1',
        wrong: /no sentences in "de"/,
        right: /phrases\/de\.yaml/,
      },
      {
        name: 'the same key twice',
        file: business,
        edit: ['  language: en\n', '  language: en\n  language: tr\n'],
        path: '',
        wrong: /twice/,
        right: /one of the two/,
      },
      {
        name: 'something that is not YAML',
        file: business,
        edit: ['  name: Harbour Desk', '  name: "Harbour Desk'],
        path: '',
        wrong: /not YAML/,
        right: /YAML 1\.2/,
      },
      {
        name: 'a section in two files',
        file: `${TENANT}/policy.yaml`,
        edit: ['policy:', 'owners: []\npolicy:'],
        path: 'owners',
        wrong: /already/,
        right: /one file per section/,
      },
    ];

    for (const row of rows) {
      it(row.name, () => {
        copy.replace(row.file, ...row.edit);
        const problems = copy.problems();
        const found = problems.find(({ path, wrong }) => path === row.path && row.wrong.test(wrong));
        assert.ok(found, `not among: ${JSON.stringify(problems, null, 1)}`);
        assert.match(found.right, row.right);
        assert.equal(found.file, join(copy.directory, row.file));
        assert.ok((found.line ?? 0) > 0, 'no line');
      });
    }

    it('shows the line of the mistake itself', () => {
      copy.replace(business, 'Europe/Istanbul', 'Europe/Istambul');
      const lines = readFileSync(join(copy.directory, business), 'utf8').split('\n');
      const line = lines.findIndex((text) => text.includes('Istambul')) + 1;
      assert.equal(copy.problems()[0]?.line, line);
    });

    it('tells all problems of all files at once, each once', () => {
      copy.replace(business, 'Europe/Istanbul', 'Nowhere');
      copy.replace(tools, 'risk: low', 'risk: none');
      copy.replace('defaults/limits.yaml', 'maxSteps: 1', 'maxSteps: 9');
      cpSync(join(copy.directory, TENANT), join(copy.directory, 'tenants/second'), { recursive: true });
      const paths = copy.problems().map(({ path, file }) => `${path} ${file.includes('second') ? 2 : 1}`);
      assert.deepEqual(paths.sort(), [
        'business.timeZone 1',
        'business.timeZone 2',
        'limits.maxSteps 1',
        'tools.check_availability.risk 1',
        'tools.check_availability.risk 2',
      ]);
    });

    it('two tenants behind one account', () => {
      cpSync(join(copy.directory, TENANT), join(copy.directory, 'tenants/second'), { recursive: true });
      const [problem, ...more] = copy.problems();
      assert.equal(problem?.path, 'channels.web.accountKey');
      assert.match(problem.wrong, /harbour-desk/);
      assert.deepEqual(more, []);
    });

    it('no tenant at all', () => {
      rmSync(join(copy.directory, 'tenants'), { recursive: true });
      assert.match(copy.problems()[0]?.wrong ?? '', /no tenant/);
    });
  });
});
