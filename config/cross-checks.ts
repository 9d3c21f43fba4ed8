// Checks between sections: each value is right by itself, and the whole doesn't fit together. Sections that couldn't be
// read are left out, so that one mistake doesn't hide the others.
import type { TenantConfiguration } from './configuration.js';
import type { Explained } from './schema/explain.js';
import { MANAGED_FIELDS } from './schema/managed-fields.js';
import { OPERATIONS } from './schema/providers.js';
import type { ReadSections, Sections } from './schema/sections.js';
import { propertiesOf } from './schema/tools.js';
import { nearest } from './suggest.js';

type Tool = Sections['tools'][string];

/** Every problem between the sections of one tenant. */
export function crossProblems(sections: ReadSections): Explained[] {
  return [
    ...Object.entries(sections.tools ?? {}).flatMap(([name, tool]) => toolProblems(name, tool, sections)),
    ...ruleProblems(sections),
    ...languageProblems(sections),
    ...ownerProblems(sections),
    ...profileProblems(sections),
  ];
}

function toolProblems(name: string, tool: Tool, sections: ReadSections): Explained[] {
  const path = ['tools', name];
  return [...operationProblems(path, tool, sections), ...fieldProblems(path, tool)];
}

function operationProblems(path: string[], tool: Tool, { providers }: ReadSections): Explained[] {
  const provider = known(OPERATIONS, tool.provider);
  if (provider === undefined) {
    return [unknownName([...path, 'provider'], tool.provider, 'provider', Object.keys(OPERATIONS))];
  }
  const problems: Explained[] = [];
  if (providers !== undefined && known(providers, tool.provider) === undefined) {
    problems.push({
      path: ['providers', tool.provider],
      wrong: `is missing, and the tool ${path.join('.')} needs it`,
      right: 'the settings of this provider',
    });
  }
  const operation = known(provider, tool.operation);
  if (operation === undefined) {
    problems.push(unknownName([...path, 'operation'], tool.operation, 'operation', Object.keys(provider)));
  } else if (operation.writes && tool.effect === 'read') {
    problems.push({
      path: [...path, 'effect'],
      wrong: `"read" is not true of ${tool.operation}: it changes something`,
      right: 'reversible, irreversible or human_only',
    });
  }
  return problems;
}

function fieldProblems(path: string[], tool: Tool): Explained[] {
  const properties = propertiesOf(tool.inputSchema);
  const unfilled = tool.managedFields.flatMap((field, index) =>
    MANAGED_FIELDS.some((known) => known === field)
      ? []
      : [
          unknownName(
            [...path, 'managedFields', index],
            field,
            'value that the runtime can fill',
            MANAGED_FIELDS,
          ),
        ],
  );
  const absent = (['managedFields', 'secretFields'] as const).flatMap((list) =>
    tool[list].flatMap((field, index) =>
      properties.includes(field)
        ? []
        : [unknownName([...path, list, index], field, 'property of inputSchema', properties)],
    ),
  );
  return [...unfilled, ...absent];
}

function ruleProblems({ policy, tools }: ReadSections): Explained[] {
  if (policy === undefined) return [];
  const problems = duplicates(policy.rules.map(({ name }) => name)).map((index): Explained => ({
    path: ['policy', 'rules', index, 'name'],
    wrong: 'another rule has this name',
    right: 'a name of its own: verdicts keep it',
  }));
  for (const [index, { when }] of policy.rules.entries()) {
    for (const [place, name] of (when.tools ?? []).entries()) {
      if (tools === undefined || known(tools, name) !== undefined) continue;
      problems.push(
        unknownName(['policy', 'rules', index, 'when', 'tools', place], name, 'tool', Object.keys(tools)),
      );
    }
  }
  // Approval is also what an effect without a rule needs, so a place to give it must exist in any case.
  if (policy.surfaces.length === 0) {
    problems.push({
      path: ['policy', 'surfaces'],
      wrong: 'nobody could decide an approval anywhere',
      right: 'at least one surface, such as console',
    });
  }
  return problems;
}

function languageProblems({ assistant, business, phrases }: ReadSections): Explained[] {
  if (assistant === undefined) return [];
  const problems: Explained[] = [];
  if (business !== undefined && !assistant.languages.includes(business.language)) {
    problems.push({
      path: ['business', 'language'],
      wrong: `"${business.language}" is not a language of the assistant`,
      right: `one of ${assistant.languages.join(', ')}, or one more in assistant.languages`,
    });
  }
  for (const [index, language] of assistant.languages.entries()) {
    if (phrases === undefined || known(phrases, language)?.sentences !== undefined) continue;
    const spoken = Object.entries(phrases).filter(([, book]) => book.sentences !== undefined);
    problems.push({
      path: ['assistant', 'languages', index],
      wrong: `there are no sentences in "${language}"`,
      right: `a file phrases/${language}.yaml with sentences, or one of ${spoken.map(([name]) => name).join(', ')}`,
    });
  }
  return problems;
}

function ownerProblems({ owners }: ReadSections): Explained[] {
  return duplicates((owners ?? []).map(({ id }) => id)).map((index) => ({
    path: ['owners', index, 'id'],
    wrong: 'another owner has this id',
    right: 'an id of its own: decisions are signed with it',
  }));
}

function profileProblems({ channels, profiles }: ReadSections): Explained[] {
  if (channels === undefined || profiles === undefined) return [];
  const names = Object.keys(profiles);
  const accounts = [
    { path: ['channels', 'web', 'profile'], profile: channels.web.profile },
    ...channels.whatsapp.map(({ profile }, index) => ({
      path: ['channels', 'whatsapp', index, 'profile'],
      profile,
    })),
  ];
  return accounts.flatMap(({ path, profile }) =>
    names.includes(profile) ? [] : [unknownName(path, profile, 'profile', names)],
  );
}

/** Two tenants behind one account: an arriving message couldn't be told apart. */
export function accountProblem(
  tenant: TenantConfiguration,
  others: Iterable<TenantConfiguration>,
): Explained[] {
  const { accountKey } = tenant.channels.web;
  const twin = [...others].find((other) => other.channels.web.accountKey === accountKey);
  if (twin === undefined) return [];
  return [
    {
      path: ['channels', 'web', 'accountKey'],
      wrong: `the tenant ${twin.slug} has the account key "${accountKey}" already`,
      right: 'a key of its own',
    },
  ];
}

function unknownName(
  path: (string | number)[],
  name: string,
  kind: string,
  names: readonly string[],
): Explained {
  const near = nearest(name, names);
  const list = names.length === 0 ? 'none is defined' : `one of ${names.join(', ')}`;
  return {
    path,
    wrong: `there is no ${kind} "${name}"`,
    right: near === undefined ? list : `did you mean ${near}?`,
  };
}

/** An own property of a mapping by a name that may be anything. */
function known<T>(mapping: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(mapping, name) ? mapping[name] : undefined;
}

/** Indexes of the entries that an earlier one equals. */
function duplicates(names: readonly string[]): number[] {
  return [...names.keys()].filter((index) => names.indexOf(names[index] ?? '') < index);
}
