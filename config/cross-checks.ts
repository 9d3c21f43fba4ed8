// Checks between sections: each value is right by itself, and the whole doesn't fit together. Sections that couldn't be
// read are left out, so that one mistake doesn't hide the others.
import { deskProblems } from './desk-checks.js';
import { known, unknownName } from './named.js';
import { peopleProblems } from './people-checks.js';
import { policyProblems } from './policy-checks.js';
import type { Explained } from './schema/explain.js';
import { MANAGED_FIELDS } from './schema/managed-fields.js';
import { OPERATIONS } from './schema/providers.js';
import type { ReadSections, Sections } from './schema/sections.js';
import { propertiesOf } from './schema/tools.js';

type Tool = Sections['tools'][string];

/** Every problem between the sections of one tenant. */
export function crossProblems(sections: ReadSections): Explained[] {
  return [
    ...Object.entries(sections.tools ?? {}).flatMap(([name, tool]) => toolProblems(name, tool, sections)),
    ...policyProblems(sections),
    ...languageProblems(sections),
    ...profileProblems(sections),
    ...peopleProblems(sections),
    ...deskProblems(sections),
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
  const results = propertiesOf(tool.outputSchema);
  const unknown = Object.keys(tool.declinedWhen ?? {}).flatMap((field) =>
    results.includes(field)
      ? []
      : [unknownName([...path, 'declinedWhen', field], field, 'property of outputSchema', results)],
  );
  return [...unfilled, ...absent, ...unknown];
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
