// Policy as data: each condition, the order of rules, what a rule says beside its outcome, and every way in which a rule can
// be wrong.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fc from 'fast-check';
import type { PolicyConditions, PolicyRule, TenantConfiguration } from '../../config/configuration.js';
import { loadConfiguration } from '../../config/load.js';
import { decideByPolicy, tryRules, type PolicyQuestion } from '../../config/policy.js';
import type { Json, ToolDefinition } from '../../workflows/domain/tool.js';
import { Copy, TENANT } from './copy.js';

const shipped = [...loadConfiguration({ directory: 'config' }).tenants.values()][0] as TenantConfiguration;
const [anyTool] = shipped.tools;
assert.ok(anyTool);
const tool: ToolDefinition = { ...anyTool, name: 'send_refund', effect: 'irreversible', risk: 'high' };

/** A Wednesday, 15:30 in Istanbul. */
const WEDNESDAY = new Date('2026-12-02T12:30:00Z');

const call: PolicyQuestion = {
  tool,
  arguments: { amount: 250, to: { name: 'Ada' } },
  actor: 'customer',
  roleId: 'desk',
  channel: 'web',
  chatKind: 'direct',
  isTainted: false,
  at: WEDNESDAY,
};

const owner = (id: string, ...groups: string[]): TenantConfiguration['owners'][number] => ({
  id,
  name: id.toUpperCase(),
  groups,
  addresses: { whatsapp: [] },
});

function termsOf(rules: PolicyRule[], owners = [owner('ann', 'money'), owner('bo', 'money'), owner('cy')]) {
  return {
    ...shipped,
    owners,
    policy: { ...shipped.policy, rules, approvalMinutes: 240, confirmMinutes: 10 },
  };
}

function matches(when: PolicyConditions, question: Partial<PolicyQuestion> = {}): boolean {
  const terms = termsOf([{ name: 'tried', when, then: 'deny' }]);
  return decideByPolicy(terms, { ...call, ...question }).rule === 'tried';
}

describe('a condition of a policy rule', () => {
  const rows: { when: PolicyConditions; yes: Partial<PolicyQuestion>; no: Partial<PolicyQuestion> }[] = [
    { when: { effects: ['irreversible'] }, yes: {}, no: { tool: { ...tool, effect: 'reversible' } } },
    { when: { risks: ['medium', 'high'] }, yes: {}, no: { tool: { ...tool, risk: 'low' } } },
    { when: { actors: ['owner'] }, yes: { actor: 'owner' }, no: {} },
    { when: { roles: ['bookkeeper'] }, yes: { roleId: 'bookkeeper' }, no: {} },
    { when: { channels: ['whatsapp-cloud'] }, yes: { channel: 'whatsapp-cloud' }, no: {} },
    { when: { chatKinds: ['group'] }, yes: { chatKind: 'group' }, no: {} },
    { when: { tools: ['send_refund'] }, yes: {}, no: { tool: { ...tool, name: 'another' } } },
    { when: { tainted: true }, yes: { isTainted: true }, no: {} },
    { when: { tainted: false }, yes: {}, no: { isTainted: true } },
    {
      when: { effects: ['irreversible'], actors: ['owner'] },
      yes: { actor: 'owner' },
      no: { actor: 'group' },
    },
  ];
  for (const { when, yes, no } of rows) {
    it(`${JSON.stringify(when)} holds where it should, and nowhere else`, () => {
      assert.equal(matches(when, yes), true);
      assert.equal(matches(when, no), false);
    });
  }

  it('that is absent matches everything', () => {
    assert.equal(matches({}), true);
  });
});

describe('a condition about an argument', () => {
  const amount = (value: Json | undefined, condition: object): boolean =>
    matches(
      { arguments: [{ path: 'amount', ...condition }] },
      { arguments: value === undefined ? {} : { amount: value } },
    );

  it('compares numbers, also where they are written as text', () => {
    for (const value of [100.5, '100.5', '101', 1e9]) assert.equal(amount(value, { above: 100 }), true);
    for (const value of [100, '100', '100.0', 99, -500]) assert.equal(amount(value, { above: 100 }), false);
    for (const value of [99, '99.9', -1]) assert.equal(amount(value, { below: 100 }), true);
    for (const value of [100, '100.00', 101]) assert.equal(amount(value, { below: 100 }), false);
  });

  it('takes what is no number for larger than any limit', () => {
    for (const value of ['1.000,50', 'ten', '1e1', '0x1', ' 5', '', [5], { value: 5 }, true, null]) {
      assert.equal(amount(value, { above: 1_000_000 }), true, JSON.stringify(value));
      assert.equal(amount(value, { below: 1_000_000 }), false, JSON.stringify(value));
    }
  });

  it('holds about nothing that is absent, except that it is', () => {
    assert.equal(amount(undefined, { above: 0 }), false);
    assert.equal(amount(undefined, { below: 0 }), false);
    assert.equal(amount(undefined, { equals: 0 }), false);
    assert.equal(amount(undefined, { present: true }), false);
    assert.equal(amount(undefined, { present: false }), true);
    assert.equal(amount(null, { present: true }), true);
  });

  it('is equal by number or by text', () => {
    assert.equal(amount(5, { equals: 5 }), true);
    assert.equal(amount('5.0', { equals: 5 }), true);
    assert.equal(amount('five', { equals: 'five' }), true);
    assert.equal(amount('Five', { equals: 'five' }), false);
    assert.equal(amount(true, { equals: true }), true);
    assert.equal(amount(1, { equals: true }), false);
  });

  it('looks into objects along its path, and never into what an object inherits', () => {
    const when = (path: string): PolicyConditions => ({ arguments: [{ path, present: true }] });
    assert.equal(matches(when('to.name')), true);
    assert.equal(matches(when('to.iban')), false);
    assert.equal(matches(when('to.name.length')), false);
    for (const path of ['constructor', 'to.toString', '__proto__']) assert.equal(matches(when(path)), false);
  });

  it('has to hold together with all others', () => {
    const when: PolicyConditions = {
      arguments: [
        { path: 'amount', above: 100, below: 300 },
        { path: 'to.name', equals: 'Ada' },
      ],
    };
    assert.equal(matches(when), true);
    assert.equal(matches(when, { arguments: { amount: 301, to: { name: 'Ada' } } }), false);
    assert.equal(matches(when, { arguments: { amount: 250, to: { name: 'Bo' } } }), false);
  });

  it('never lets a larger amount pass where a smaller one is asked about', () => {
    const terms = termsOf([
      { name: 'small', when: { arguments: [{ path: 'amount', below: 100 }] }, then: 'allow' },
      { name: 'large', when: {}, then: 'approve' },
    ]);
    const gateOf = (amount: Json): string => decideByPolicy(terms, { ...call, arguments: { amount } }).gate;
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const isSmall =
          (typeof value === 'number' && value < 100) ||
          (typeof value === 'string' && /^[+-]?\d{1,15}(\.\d{1,15})?$/.test(value) && Number(value) < 100);
        return gateOf(value as Json) === (isSmall ? 'allow' : 'approve');
      }),
      { numRuns: 500 },
    );
  });
});

describe('a condition about the time', () => {
  const at = (iso: string, ...times: NonNullable<PolicyConditions['times']>): boolean =>
    matches({ times }, { at: new Date(iso) });

  it('is meant in the time zone of the business', () => {
    // 21:30 in UTC is half past midnight, the next day, in Istanbul.
    assert.equal(at('2026-12-02T21:30:00Z', { weekdays: ['thursday'] }), true);
    assert.equal(at('2026-12-02T21:30:00Z', { weekdays: ['wednesday'] }), false);
    assert.equal(at('2026-12-02T12:30:00Z', { from: '15:30', to: '15:31' }), true);
    assert.equal(at('2026-12-02T12:31:00Z', { from: '15:30', to: '15:31' }), false);
  });

  it('may reach over midnight, and belongs to the day on which it begins', () => {
    const friday = { weekdays: ['friday'] as const, from: '22:00', to: '06:00' };
    const night = { ...friday, weekdays: [...friday.weekdays] };
    assert.equal(at('2026-12-04T19:30:00Z', night), true, 'Friday 22:30');
    assert.equal(at('2026-12-05T02:59:00Z', night), true, 'Saturday 05:59');
    assert.equal(at('2026-12-05T03:00:00Z', night), false, 'Saturday 06:00');
    assert.equal(at('2026-12-04T02:59:00Z', night), false, 'Friday 05:59 belongs to Thursday');
    assert.equal(at('2026-12-05T19:30:00Z', night), false, 'Saturday 22:30');
  });

  it('holds when one of several does', () => {
    const times: NonNullable<PolicyConditions['times']> = [
      { weekdays: ['sunday'] },
      { from: '15:00', to: '24:00' },
    ];
    assert.equal(at('2026-12-02T12:30:00Z', ...times), true);
    assert.equal(at('2026-12-02T11:30:00Z', ...times), false);
  });
});

describe('policy', () => {
  it('asks for a yes where no rule matches an effect, and denies the unknown', () => {
    const terms = termsOf([]);
    assert.equal(decideByPolicy(terms, call).gate, 'approve');
    for (const effect of ['read', 'human_only'] as const) {
      assert.equal(decideByPolicy(terms, { ...call, tool: { ...tool, effect } }).gate, 'deny');
    }
  });

  it('lets the first matching rule decide, and says what matched and what did not', () => {
    const terms = termsOf([
      { name: 'others', when: { risks: ['high'], tools: ['something_else'] }, then: 'deny' },
      { name: 'large', when: { arguments: [{ path: 'amount', above: 100 }] }, then: 'approve' },
      { name: 'rest', when: {}, then: 'allow' },
    ]);
    const answer = decideByPolicy(terms, call);
    assert.equal(answer.rule, 'large');
    assert.deepEqual(answer.explanation, {
      matched: ['arguments.amount.above'],
      overruled: [],
      passedOver: [{ rule: 'others', condition: 'tools' }],
    });
    assert.ok(!JSON.stringify(answer).includes('250'), 'no argument is in the answer');
  });

  it('asks owners by id, by group, or all of them; and surfaces by name', () => {
    const asked = (approvers?: string[]): string[] =>
      decideByPolicy(termsOf([{ name: 'r', when: {}, then: 'approve', approvers }]), call).approvers;
    assert.deepEqual(asked(), []);
    assert.deepEqual(asked(['cy']), ['cy']);
    assert.deepEqual(asked(['money']), ['ann', 'bo']);
    assert.deepEqual(asked(['cy', 'money', 'ann']), ['ann', 'bo', 'cy']);
    assert.deepEqual(asked(['cy', 'api']), ['cy', 'api']);
  });

  it('has its own times: four hours and half of them, ten minutes without a reminder, or what the rule says', () => {
    const answerTo = (rule: Partial<PolicyRule>) => {
      const answer = decideByPolicy(termsOf([{ name: 'r', when: {}, then: 'approve', ...rule }]), call);
      const { expiresAfterMinutes, remindAfterMinutes, onExpiry, needed } = answer;
      return [expiresAfterMinutes, remindAfterMinutes, onExpiry, needed];
    };
    assert.deepEqual(answerTo({}), [240, 120, 'refuse', 1]);
    assert.deepEqual(answerTo({ then: 'confirm' }), [10, undefined, 'refuse', 1]);
    assert.deepEqual(
      answerTo({ expiresAfterMinutes: 60, remindAfterMinutes: 20, onExpiry: 'handOff', needed: 2 }),
      [60, 20, 'handOff', 2],
    );
    assert.deepEqual(answerTo({ expiresAfterMinutes: 60 }), [60, 30, 'refuse', 1]);
  });

  it('lets owners confirm their own as shipped, asks an owner for customers, and lets everybody read', () => {
    assert.equal(decideByPolicy(shipped, { ...call, actor: 'owner' }).gate, 'confirm');
    assert.equal(decideByPolicy(shipped, call).gate, 'approve');
    assert.equal(decideByPolicy(shipped, { ...call, tool: { ...tool, effect: 'read' } }).gate, 'allow');
    const tainted = decideByPolicy(shipped, { ...call, actor: 'owner', isTainted: true });
    assert.deepEqual([tainted.gate, tainted.rule], ['approve', 'suggested-from-outside']);
  });
});

describe('untrusted content', () => {
  const tainted = { ...call, isTainted: true };

  it('turns allow and confirm into an owner’s yes, for effects', () => {
    for (const then of ['allow', 'confirm'] as const) {
      const terms = termsOf([{ name: 'open-door', when: {}, then }]);
      const answer = decideByPolicy(terms, tainted);
      assert.equal(answer.gate, 'approve');
      assert.match(answer.rule, /untrusted/);
      assert.deepEqual(answer.explanation.overruled, ['open-door']);
      assert.equal(decideByPolicy(terms, call).gate, then);
    }
  });

  it('changes nothing for reading, and nothing about a denial', () => {
    const open = termsOf([{ name: 'open-door', when: {}, then: 'allow' }]);
    assert.equal(decideByPolicy(open, { ...tainted, tool: { ...tool, effect: 'read' } }).gate, 'allow');
    const shut = termsOf([{ name: 'shut', when: {}, then: 'deny' }]);
    assert.equal(decideByPolicy(shut, tainted).gate, 'deny');
  });

  it('asks those whom a later rule asks, and skips a later denial', () => {
    const terms = termsOf([
      { name: 'open-door', when: {}, then: 'allow' },
      { name: 'never', when: {}, then: 'deny' },
      { name: 'money', when: { risks: ['high'] }, then: 'approve', approvers: ['money'], needed: 2 },
    ]);
    const answer = decideByPolicy(terms, tainted);
    assert.deepEqual([answer.gate, answer.rule, answer.needed], ['approve', 'money', 2]);
    assert.deepEqual(answer.approvers, ['ann', 'bo']);
    assert.deepEqual(
      tryRules(terms, tainted).map(({ outcome }) => outcome),
      ['overruled', 'skipped', 'decides'],
    );
  });
});

describe('the requester’s own yes in a group', () => {
  const inGroup = { ...call, chatKind: 'group' } as const;

  it('becomes an owner’s, whatever the effect, and says why', () => {
    const terms = termsOf([{ name: 'themselves', when: {}, then: 'confirm' }]);
    for (const effect of ['read', 'reversible', 'irreversible'] as const) {
      const answer = decideByPolicy(terms, { ...inGroup, tool: { ...tool, effect } });
      assert.equal(answer.gate, 'approve', effect);
      assert.match(answer.rule, /in a group/);
      assert.deepEqual(answer.explanation.overruled, ['themselves']);
    }
    assert.equal(decideByPolicy(terms, call).gate, 'confirm');
  });

  it('asks those whom a later rule asks, and leaves other gates alone', () => {
    const terms = termsOf([
      { name: 'themselves', when: {}, then: 'confirm' },
      { name: 'money', when: {}, then: 'approve', approvers: ['money'] },
    ]);
    assert.equal(decideByPolicy(terms, inGroup).rule, 'money');
    for (const then of ['allow', 'approve', 'deny'] as const) {
      assert.equal(decideByPolicy(termsOf([{ name: 'r', when: {}, then }]), inGroup).gate, then);
    }
  });
});

describe('a policy that can not work is found at start', () => {
  let copy: Copy;
  beforeEach(() => {
    copy = new Copy();
  });
  afterEach(() => {
    copy.remove();
  });

  const rows: { name: string; rule: string; path: string; wrong: RegExp; right: RegExp }[] = [
    {
      name: 'approvers that nobody is',
      rule: '{ name: r, when: {}, then: approve, approvers: [denis] }',
      path: 'approvers.0',
      wrong: /no owner or group of owners "denis"/,
      right: /did you mean deniz/,
    },
    {
      name: 'more yeses than there are owners',
      rule: '{ name: r, when: {}, then: approve, needed: 2 }',
      path: 'needed',
      wrong: /2 have to say yes, and only one is asked/,
      right: /at most 1/,
    },
    {
      name: 'more yeses than there are in the group',
      rule: '{ name: r, when: {}, then: approve, approvers: [deniz], needed: 3 }',
      path: 'needed',
      wrong: /3 have to say yes/,
      right: /at most 1/,
    },
    {
      name: 'an argument that the tool does not have',
      rule: '{ name: r, when: { tools: [reserve_slot], arguments: [{ path: amount, above: 5 }] }, then: deny }',
      path: 'when.arguments.0.path',
      wrong: /reserve_slot has no argument "amount"/,
      right: /date, time/,
    },
    {
      name: 'an argument that no tool has',
      rule: '{ name: r, when: { arguments: [{ path: amount, above: 5 }] }, then: deny }',
      path: 'when.arguments.0.path',
      wrong: /every tool has no argument "amount"/,
      right: /date/,
    },
    {
      name: 'a condition that asks nothing',
      rule: '{ name: r, when: { arguments: [{ path: date }] }, then: deny }',
      path: 'when.arguments.0',
      wrong: /nothing is asked/,
      right: /above, below, equals or present/,
    },
    {
      name: 'a role that nobody plays',
      rule: '{ name: r, when: { roles: [bookkeeper] }, then: deny }',
      path: 'when.roles.0',
      wrong: /no role "bookkeeper"/,
      right: /desk/,
    },
    {
      name: 'half a window of time',
      rule: "{ name: r, when: { times: [{ from: '18:00' }] }, then: deny }",
      path: 'when.times.0',
      wrong: /only one end/,
      right: /both/,
    },
    {
      name: 'approvers of a rule that asks none',
      rule: '{ name: r, when: {}, then: confirm, approvers: [deniz] }',
      path: '',
      wrong: /"confirm" asks no owner/,
      right: /no approvers/,
    },
    {
      name: 'an expiry of what does not wait',
      rule: '{ name: r, when: {}, then: allow, onExpiry: handOff }',
      path: '',
      wrong: /nothing to expire/,
      right: /no onExpiry/,
    },
    {
      name: 'a reminder after the end',
      rule: '{ name: r, when: {}, then: approve, expiresAfterMinutes: 30, remindAfterMinutes: 30 }',
      path: 'remindAfterMinutes',
      wrong: /when the request has expired/,
      right: /less than 30/,
    },
    {
      name: 'leave for what untrusted content may have suggested',
      rule: '{ name: r, when: { effects: [irreversible], tainted: true }, then: allow }',
      path: 'then',
      wrong: /never holds/,
      right: /approve or deny/,
    },
  ];
  for (const { name, rule, path, wrong, right } of rows) {
    it(name, () => {
      copy.write(`${TENANT}/policy.yaml`, `policy:\n  rules:\n    - ${rule}\n`);
      const where = ['policy.rules.0', ...(path === '' ? [] : [path])].join('.');
      const problems = copy.problems();
      const found = problems.find((problem) => problem.path === where && wrong.test(problem.wrong));
      assert.ok(found, `not among: ${JSON.stringify(problems, null, 1)}`);
      assert.match(found.right, right);
      assert.ok((found.line ?? 0) > 0);
    });
  }

  it('and a right one is not complained about', () => {
    copy.write(
      `${TENANT}/policy.yaml`,
      [
        'policy:',
        '  rules:',
        '    - { name: a, when: { tools: [reserve_slot], arguments: [{ path: note, present: true }] }, then: confirm }',
        "    - { name: b, when: { arguments: [{ path: date, equals: '2026-12-24' }], channels: [web] }, then: deny }",
        "    - { name: c, when: { times: [{ weekdays: [sunday], from: '22:00', to: '06:00' }] }, then: approve, approvers: [deniz, api], needed: 2, onExpiry: handOff, remindAfterMinutes: 5 }",
      ].join('\n'),
    );
    assert.deepEqual(copy.problems(), []);
  });
});

describe('npm run policy:explain', function () {
  this.timeout(60_000);
  const command = ['--import', 'tsx', 'gateway/cli/policy-explain.ts'];

  it('says which rule decides, and why each earlier one does not', () => {
    const said = execFileSync(
      process.execPath,
      [...command, '--tool', 'reserve_slot', '--arguments', '{"date":"2026-12-04"}', '--actor', 'customer'],
      { encoding: 'utf8' },
    );
    assert.match(
      said,
      /1\. people-only \(deny\): does not match\n +✗ effects: wants human_only, is reversible/,
    );
    assert.match(said, /tainted: wants true, is false/);
    assert.match(said, /4\. effects-need-an-owner \(approve\): decides/);
    assert.match(said, /APPROVE by effects-need-an-owner\n +who: +Deniz/);
  });

  it('refuses what it can not ask about, in words', () => {
    const { status, stderr } = spawnSync(process.execPath, [...command, '--tool', 'reserve_slto'], {
      encoding: 'utf8',
    });
    assert.equal(status, 1);
    assert.match(stderr, /no tool "reserve_slto"\. Did you mean reserve_slot\?/);
  });
});
