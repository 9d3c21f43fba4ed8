// Policy against the rest of the configuration. A rule that names nobody, asks for more yeses than there are owners, or looks
// at an argument that no tool has would fail on the day it is needed; so it is found at start.
import type { Json, JsonObject } from '../workflows/domain/tool.js';
import type { ArgumentCondition } from './configuration.js';
import { known, unknownName } from './named.js';
import { approversOf } from './policy.js';
import type { Explained } from './schema/explain.js';
import type { ReadSections, Sections } from './schema/sections.js';

type Policy = Sections['policy'];
type Rule = Policy['rules'][number];
type Tool = Sections['tools'][string];
type Path = (string | number)[];

/** Every problem of the policy with itself, the tools, the owners and the roles. */
export function policyProblems(sections: ReadSections): Explained[] {
  const { policy } = sections;
  if (policy === undefined) return [];
  return [
    ...nameProblems(policy),
    ...policy.rules.flatMap((rule, index) =>
      ruleProblems(['policy', 'rules', index], rule, policy, sections),
    ),
    ...surfaceProblems(policy),
  ];
}

function nameProblems({ rules }: Policy): Explained[] {
  const names = rules.map(({ name }) => name);
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [
          {
            path: ['policy', 'rules', index, 'name'],
            wrong: 'another rule has this name',
            right: 'a name of its own: verdicts keep it',
          },
        ],
  );
}

/** Approval is also what an effect without a rule needs, so a place to give it must exist in any case. */
function surfaceProblems({ surfaces }: Policy): Explained[] {
  if (surfaces.length > 0) return [];
  return [
    {
      path: ['policy', 'surfaces'],
      wrong: 'nobody could decide an approval anywhere',
      right: 'at least one surface, such as console',
    },
  ];
}

function ruleProblems(path: Path, rule: Rule, policy: Policy, sections: ReadSections): Explained[] {
  return [
    ...toolProblems(path, rule, sections),
    ...roleProblems(path, rule, sections),
    ...argumentProblems(path, rule, sections),
    ...approverProblems(path, rule, policy, sections),
    ...reminderProblems(path, rule, policy),
    ...taintProblems(path, rule),
  ];
}

function toolProblems(path: Path, { when }: Rule, { tools }: ReadSections): Explained[] {
  if (tools === undefined) return [];
  return (when.tools ?? []).flatMap((name, place) =>
    known(tools, name) === undefined
      ? [unknownName([...path, 'when', 'tools', place], name, 'tool', Object.keys(tools))]
      : [],
  );
}

function roleProblems(path: Path, { when }: Rule, { assistant }: ReadSections): Explained[] {
  if (assistant === undefined) return [];
  const roles = [assistant.roleId];
  return (when.roles ?? []).flatMap((name, place) =>
    roles.includes(name) ? [] : [unknownName([...path, 'when', 'roles', place], name, 'role', roles)],
  );
}

/** Each tool that the rule names has to have the argument; a rule for all tools needs one that has it. */
function argumentProblems(path: Path, { when }: Rule, { tools }: ReadSections): Explained[] {
  if (tools === undefined) return [];
  const named = (when.tools ?? []).filter((name) => known(tools, name) !== undefined);
  const isNamed = when.tools !== undefined;
  const asked = Object.entries(tools).filter(([name]) => !isNamed || named.includes(name));
  return (when.arguments ?? []).flatMap((condition, place) => {
    const here = [...path, 'when', 'arguments', place];
    const found = asked.map(([name, tool]) => ({ name, problem: argumentProblem(condition, tool) }));
    const failing = found.filter(({ problem }) => problem !== undefined);
    if (!isNamed && (failing.length < found.length || found.length === 0)) return [];
    return (isNamed ? failing : failing.slice(0, 1)).map(({ name, problem }) => ({
      path: [...here, 'path'],
      wrong: `${isNamed ? `the tool ${name}` : 'every tool'} ${problem ?? ''}`,
      right: `one of ${argumentNames(asked).join(', ') || 'the arguments of a tool, and these have none'}`,
    }));
  });
}

function argumentProblem(
  { path, above, below }: ArgumentCondition,
  { inputSchema, managedFields, secretFields }: Tool,
): string | undefined {
  const [first = ''] = path.split('.');
  const schema = propertyAt(inputSchema, path);
  if (schema === undefined) return `has no argument "${path}"`;
  if (managedFields.includes(first)) return `gets "${first}" from the runtime after policy has decided`;
  if (secretFields.includes(first)) return `keeps "${first}" secret`;
  const { type } = schema;
  const isComparable = type === 'number' || type === 'integer' || type === 'string';
  if ((above !== undefined || below !== undefined) && !isComparable) {
    return `has no number in "${path}" (${JSON.stringify(type)})`;
  }
  return undefined;
}

function propertyAt(schema: JsonObject, path: string): JsonObject | undefined {
  let here: JsonObject | undefined = schema;
  for (const name of path.split('.')) {
    const properties: Json | undefined = here?.['properties'];
    const next: Json | undefined = isObject(properties) ? known(properties, name) : undefined;
    here = isObject(next) ? next : undefined;
  }
  return here;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function argumentNames(tools: [string, Tool][]): string[] {
  const names = tools.flatMap(([, { inputSchema }]) => {
    const properties = inputSchema['properties'];
    return isObject(properties) ? Object.keys(properties) : [];
  });
  return [...new Set(names)];
}

function approverProblems(
  path: Path,
  { approvers, needed = 1 }: Rule,
  policy: Policy,
  { owners }: ReadSections,
): Explained[] {
  if (owners === undefined) return [];
  const names = [...new Set([...owners.flatMap(({ id, groups }) => [id, ...groups]), ...policy.surfaces])];
  const unknown = (approvers ?? []).flatMap((name, place) =>
    names.includes(name)
      ? []
      : [unknownName([...path, 'approvers', place], name, 'owner or group of owners', names)],
  );
  const able = approvers === undefined ? owners.length : approversOf({ owners, policy }, approvers).length;
  if (unknown.length > 0 || needed <= able) return unknown;
  return [
    {
      path: [...path, 'needed'],
      wrong: `${needed} have to say yes, and ${able === 1 ? 'only one is' : `${able} are`} asked`,
      right: `at most ${able}, or more owners in approvers`,
    },
  ];
}

function reminderProblems(path: Path, rule: Rule, policy: Policy): Explained[] {
  const { remindAfterMinutes: remind } = rule;
  if (remind === undefined) return [];
  const expire =
    rule.expiresAfterMinutes ?? (rule.then === 'confirm' ? policy.confirmMinutes : policy.approvalMinutes);
  if (remind < expire) return [];
  return [
    {
      path: [...path, 'remindAfterMinutes'],
      wrong: `the reminder after ${remind} minutes comes when the request has expired (${expire})`,
      right: `less than ${expire}, or no reminder`,
    },
  ];
}

/** Would be overruled each time (spec G9): whoever wrote it believes something that isn't so. */
function taintProblems(path: Path, { when, then }: Rule): Explained[] {
  const effects = (when.effects ?? []).filter((effect) => effect !== 'read');
  if (when.tainted !== true || effects.length === 0 || (then !== 'allow' && then !== 'confirm')) return [];
  return [
    {
      path: [...path, 'then'],
      wrong: `"${then}" never holds for an effect that untrusted content may have suggested`,
      right: 'approve or deny',
    },
  ];
}
