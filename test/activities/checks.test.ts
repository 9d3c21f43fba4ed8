// The fifteen checks as a table: each passes on a good call, and fails in each way it can fail, with its code.
import assert from 'node:assert/strict';
import {
  CHECKS,
  checkCall,
  missingArguments,
  type ProposedCall,
} from '../../activities/validation/checks.js';
import { loadConfiguration } from '../../config/load.js';
import { decideByPolicy } from '../../config/policy.js';
import type { TenantConfiguration } from '../../config/configuration.js';
import type { ErrorCode } from '../../workflows/domain/failures.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';

const shipped = [...loadConfiguration({ directory: 'config' }).tenants.values()][0] as TenantConfiguration;

const tool: ToolDefinition = {
  name: 'lend_item',
  enabled: true,
  provider: 'shelf',
  operation: 'lend',
  description: 'Lends an item.',
  whenToUse: 'An item is wanted.',
  whenNotToUse: 'Otherwise.',
  aliases: [],
  triggerPhrases: [],
  tags: [],
  examples: [],
  effect: 'reversible',
  risk: 'medium',
  actors: ['customer'],
  chatKinds: ['direct'],
  privateData: false,
  inputSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['item', 'days'],
    properties: {
      item: { type: 'string', minLength: 1, maxLength: 20 },
      days: { type: 'integer', minimum: 1, maximum: 30 },
      card: { type: 'string' },
      pin: { type: 'string' },
    },
  },
  outputSchema: { type: 'object' },
  managedFields: ['card'],
  secretFields: ['pin'],
  timeoutMs: 1000,
  asyncEligible: true,
};

interface Change {
  tool?: Partial<ToolDefinition> | undefined;
  unknown?: boolean;
  call?: Partial<ProposedCall>;
  configuration?: Partial<TenantConfiguration>;
}

function callWith(change: Change = {}): ProposedCall {
  const changed = { ...tool, ...change.tool };
  const configuration = { ...shipped, ...change.configuration };
  const actor = change.call?.actor ?? 'customer';
  const chatKind = change.call?.chatKind ?? 'direct';
  const values = { item: 'pump', days: 3 };
  return {
    toolName: changed.name,
    tool: change.unknown ? undefined : changed,
    arguments: values,
    candidates: [changed.name],
    actor,
    chatKind,
    ordinal: 0,
    policy: change.unknown
      ? undefined
      : decideByPolicy(configuration, {
          tool: changed,
          arguments: values,
          actor,
          roleId: 'desk',
          channel: 'web',
          chatKind,
          isTainted: false,
          at: new Date(),
        }),
    configuration,
    ...change.call,
  };
}

const noOwners: Partial<TenantConfiguration> = { owners: [] };
const noSurfaces: Partial<TenantConfiguration> = { policy: { ...shipped.policy, surfaces: [] } };
const denying: Partial<TenantConfiguration> = {
  policy: { ...shipped.policy, rules: [{ name: 'no-lending', when: {}, then: 'deny' }] },
};

const demanding: Partial<TenantConfiguration> = {
  policy: { ...shipped.policy, rules: [{ name: 'both', when: {}, then: 'approve', needed: 5 }] },
};

const FAILING: { what: string; number: number; code: ErrorCode; change: Change }[] = [
  { what: 'a tool nobody knows', number: 1, code: 'TOOL_UNKNOWN', change: { unknown: true } },
  { what: 'a tool that is off', number: 2, code: 'TOOL_DISABLED', change: { tool: { enabled: false } } },
  {
    what: 'a tool that was not offered',
    number: 3,
    code: 'TOOL_POLICY_DENIED',
    change: { call: { candidates: ['another'] } },
  },
  {
    what: 'a tool of owners, asked for by a customer',
    number: 4,
    code: 'TOOL_NOT_ALLOWED_FOR_ACTOR',
    change: { tool: { actors: ['owner'] } },
  },
  {
    what: 'a direct tool in a group',
    number: 5,
    code: 'TOOL_NOT_ALLOWED_FOR_ACTOR',
    change: { tool: { actors: ['customer', 'group'] }, call: { chatKind: 'group' } },
  },
  {
    what: 'a number as text, because nothing is coerced',
    number: 6,
    code: 'TOOL_SCHEMA_INVALID',
    change: { call: { arguments: { item: 'pump', days: '3' } } },
  },
  {
    what: 'a number out of range',
    number: 6,
    code: 'TOOL_SCHEMA_INVALID',
    change: { call: { arguments: { item: 'pump', days: 31 } } },
  },
  {
    what: 'an empty text',
    number: 6,
    code: 'TOOL_SCHEMA_INVALID',
    change: { call: { arguments: { item: '', days: 3 } } },
  },
  {
    what: 'an argument too many',
    number: 7,
    code: 'TOOL_SCHEMA_INVALID',
    change: { call: { arguments: { item: 'pump', days: 3, colour: 'red' } } },
  },
  {
    what: 'a secret from the model',
    number: 8,
    code: 'TOOL_POLICY_DENIED',
    change: { call: { arguments: { item: 'pump', days: 3, pin: '1234' } } },
  },
  {
    what: 'a managed field from the model',
    number: 9,
    code: 'TOOL_POLICY_DENIED',
    change: { call: { arguments: { item: 'pump', days: 3, card: 'c-1' } } },
  },
  {
    what: 'private data in a group',
    number: 10,
    code: 'TOOL_POLICY_DENIED',
    change: {
      tool: { privateData: true, chatKinds: ['direct', 'group'], actors: ['group'] },
      call: { chatKind: 'group', actor: 'group' },
    },
  },
  { what: 'what policy denies', number: 11, code: 'TOOL_POLICY_DENIED', change: { configuration: denying } },
  {
    what: 'what only people do',
    number: 11,
    code: 'TOOL_POLICY_DENIED',
    change: { tool: { effect: 'human_only' } },
  },
  {
    what: 'a yes without an owner to give it',
    number: 12,
    code: 'TOOL_POLICY_DENIED',
    change: { configuration: noOwners },
  },
  {
    what: 'a yes without a place to give it',
    number: 12,
    code: 'TOOL_POLICY_DENIED',
    change: { configuration: noSurfaces },
  },
  {
    what: 'more yeses than there are owners',
    number: 12,
    code: 'TOOL_POLICY_DENIED',
    change: { configuration: demanding },
  },
  {
    what: 'a wait for a tool that may not wait',
    number: 13,
    code: 'TOOL_POLICY_DENIED',
    change: { tool: { asyncEligible: false } },
  },
  {
    what: 'a tool of an MCP server nobody trusts',
    number: 15,
    code: 'TOOL_POLICY_DENIED',
    change: { tool: { mcp: { server: 'shelf', isTrusted: false } } },
  },
  { what: 'a step too many', number: 14, code: 'TOOL_POLICY_DENIED', change: { call: { ordinal: 5 } } },
];

describe('the fifteen checks', () => {
  it('are fifteen, numbered in their order', () => {
    assert.deepEqual(
      CHECKS.map((check) => check.number),
      Array.from({ length: 15 }, (_, index) => index + 1),
    );
  });

  it('all pass on a good call', () => {
    assert.equal(checkCall(callWith()), undefined);
  });

  for (const { what, number, code, change } of FAILING) {
    it(`${number}: ${what} is ${code}`, () => {
      const failed = checkCall(callWith(change));
      assert.equal(failed?.number, number, failed?.problem);
      assert.equal(failed?.code, code);
      assert.ok(failed.problem.length > 5);
    });
  }

  it('have a failing row each', () => {
    const tried = new Set(FAILING.map((row) => row.number));
    assert.deepEqual(
      CHECKS.filter((check) => !tried.has(check.number)).map((check) => check.name),
      [],
    );
  });

  it('let a trusted MCP server pass', () => {
    assert.equal(checkCall(callWith({ tool: { mcp: { server: 'shelf', isTrusted: true } } })), undefined);
  });

  it('leave missing arguments to a question, without those that no customer gives', () => {
    assert.equal(checkCall(callWith({ call: { arguments: {} } })), undefined);
    assert.deepEqual(missingArguments(tool, {}), ['item', 'days']);
    const managed = { ...tool, inputSchema: { ...tool.inputSchema, required: ['item', 'card', 'pin'] } };
    assert.deepEqual(missingArguments(managed, {}), ['item']);
  });
});
