// The fifteen checks (spec A5) between a proposal and anything that happens. Deterministic: no model, no clock, no IO.
// Each says the problem, or nothing; a check whose feature comes later says that it doesn't apply, and why.
import type { TenantConfiguration } from '../../config/configuration.js';
import type { PolicyAnswer } from '../../config/policy.js';
import type { ErrorCode } from '../../workflows/domain/failures.js';
import type { Actor, ChatKind, JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';
import { schemaFindings } from './argument-schema.js';

/** A proposed call with all that the checks look at. */
export interface ProposedCall {
  toolName: string;
  /** Absent: the catalogue knows no such tool. */
  tool: ToolDefinition | undefined;
  /** As the model gave them. */
  arguments: JsonObject;
  /** Names that were offered for this turn. */
  candidates: readonly string[];
  actor: Actor;
  chatKind: ChatKind;
  ordinal: number;
  /** What policy says of this tool, actor and taint; absent where the tool is unknown. */
  policy: PolicyAnswer | undefined;
  configuration: TenantConfiguration;
}

/** A call of a tool that exists: all checks but the first see one. */
type KnownCall = ProposedCall & { tool: ToolDefinition; policy: PolicyAnswer };

type Finding = { problem: string } | { notApplicable: string } | undefined;

export interface Check {
  number: number;
  name: string;
  code: ErrorCode;
  find(call: KnownCall): Finding;
}

const problem = (text: string): Finding => ({ problem: text });

export const CHECKS: readonly Check[] = [
  {
    number: 1,
    name: 'exists',
    code: 'TOOL_UNKNOWN',
    // Asked first, by `checkCall`, because nothing else can be asked of a tool that isn't there.
    find: () => undefined,
  },
  {
    number: 2,
    name: 'enabled',
    code: 'TOOL_DISABLED',
    find: ({ tool }) => (tool.enabled ? undefined : problem('the tool is switched off')),
  },
  {
    number: 3,
    name: 'in_candidates',
    code: 'TOOL_POLICY_DENIED',
    find: ({ tool, candidates }) =>
      candidates.includes(tool.name) ? undefined : problem('the tool was not offered for this message'),
  },
  {
    number: 4,
    name: 'actor_allowed',
    code: 'TOOL_NOT_ALLOWED_FOR_ACTOR',
    find: ({ tool, actor }) =>
      tool.actors.includes(actor) ? undefined : problem(`not for a speaker who is ${actor}`),
  },
  {
    number: 5,
    name: 'chat_kind_allowed',
    code: 'TOOL_NOT_ALLOWED_FOR_ACTOR',
    find: ({ tool, chatKind }) =>
      tool.chatKinds.includes(chatKind) ? undefined : problem(`not in a chat that is ${chatKind}`),
  },
  {
    number: 6,
    name: 'schema_valid',
    code: 'TOOL_SCHEMA_INVALID',
    find: ({ tool, arguments: values }) => {
      const [first] = schemaFindings(tool.inputSchema, values).invalid;
      return first === undefined ? undefined : problem(`an argument does not fit its schema: ${first}`);
    },
  },
  {
    number: 7,
    name: 'no_extra_arguments',
    code: 'TOOL_SCHEMA_INVALID',
    find: ({ tool, arguments: values }) =>
      schemaFindings(tool.inputSchema, values).extra.length === 0
        ? undefined
        : problem('an argument that the tool does not have'),
  },
  {
    number: 8,
    name: 'no_secret_from_model',
    code: 'TOOL_POLICY_DENIED',
    find: ({ tool, arguments: values }) => givenByModel(values, tool.secretFields, 'a secret'),
  },
  {
    number: 9,
    name: 'no_managed_from_model',
    code: 'TOOL_POLICY_DENIED',
    find: ({ tool, arguments: values }) => givenByModel(values, tool.managedFields, 'filled by the runtime'),
  },
  {
    number: 10,
    name: 'private_data',
    code: 'TOOL_POLICY_DENIED',
    find: ({ tool, chatKind }) =>
      tool.privateData && chatKind === 'group' ? problem('private data is never told to a group') : undefined,
  },
  {
    number: 11,
    name: 'risk_allowed',
    code: 'TOOL_POLICY_DENIED',
    find: ({ policy }) =>
      policy.gate === 'deny' ? problem(`denied by the rule "${policy.rule}"`) : undefined,
  },
  {
    number: 12,
    name: 'approval_possible',
    code: 'TOOL_POLICY_DENIED',
    find: ({ policy, configuration }) => {
      if (policy.gate !== 'approve') return { notApplicable: 'no approval is asked for' };
      const { owners, policy: terms } = configuration;
      const able = policy.approvers.length > 0 ? policy.approvers.length : owners.length;
      const canBeDecided = able >= Math.max(1, policy.needed) && terms.surfaces.length > 0;
      return canBeDecided ? undefined : problem('needs a yes that nobody could give');
    },
  },
  {
    number: 13,
    name: 'asynchronous_eligible',
    code: 'TOOL_POLICY_DENIED',
    find: ({ tool, policy }) =>
      (policy.gate === 'approve' || policy.gate === 'confirm') && !tool.asyncEligible
        ? problem('the tool may not run later than at once')
        : undefined,
  },
  {
    number: 14,
    name: 'step_limit',
    code: 'TOOL_POLICY_DENIED',
    find: ({ ordinal, configuration }) =>
      ordinal < configuration.limits.maxSteps
        ? undefined
        : problem(`more than ${configuration.limits.maxSteps} steps for one message`),
  },
  {
    number: 15,
    name: 'mcp_source_trusted',
    code: 'TOOL_POLICY_DENIED',
    find: ({ tool: { mcp } }) => {
      if (!mcp) return { notApplicable: 'not a tool of an MCP server' };
      return mcp.isTrusted ? undefined : problem(`the MCP server "${mcp.server}" is not trusted`);
    },
  },
];

function givenByModel(values: JsonObject, fields: readonly string[], what: string): Finding {
  const given = fields.find((field) => Object.hasOwn(values, field));
  return given === undefined ? undefined : problem(`"${given}" is ${what}, and came from the model`);
}

export interface FailedCheck {
  number: number;
  check: string;
  code: ErrorCode;
  problem: string;
}

/** The first check that fails, in their order; nothing when all pass. */
export function checkCall(call: ProposedCall): FailedCheck | undefined {
  const { tool, policy } = call;
  if (!tool || !policy) {
    return { number: 1, check: 'exists', code: 'TOOL_UNKNOWN', problem: 'the catalogue knows no such tool' };
  }
  for (const check of CHECKS) {
    const finding = check.find({ ...call, tool, policy });
    if (finding && 'problem' in finding) {
      return { number: check.number, check: check.name, code: check.code, problem: finding.problem };
    }
  }
  return undefined;
}

/** Required arguments that are not there and that the customer can give. */
export function missingArguments(tool: ToolDefinition, values: JsonObject): string[] {
  const notFromCustomer = new Set([...tool.managedFields, ...tool.secretFields]);
  return schemaFindings(tool.inputSchema, values).missing.filter((name) => !notFromCustomer.has(name));
}
