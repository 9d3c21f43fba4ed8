// What a tool says of itself, field by field. Nothing here knows a tool by name.
import type { TenantConfiguration } from '../../config/configuration.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';

export type Field = keyof TenantConfiguration['detection']['weights'];

export const FIELDS: readonly Field[] = [
  'name',
  'aliases',
  'triggerPhrases',
  'tags',
  'description',
  'whenToUse',
  'examples',
  'schema',
];

/** The texts of a field: one per phrase, so that phrases stay apart. */
export function textsOf(tool: ToolDefinition, field: Field): readonly string[] {
  switch (field) {
    case 'name':
      return [nameWords(tool.name)];
    case 'aliases':
      return tool.aliases;
    case 'triggerPhrases':
      return tool.triggerPhrases;
    case 'tags':
      return tool.tags.map(nameWords);
    case 'description':
      return [tool.description];
    case 'whenToUse':
      return [tool.whenToUse];
    case 'examples':
      return tool.examples;
    case 'schema':
      return schemaWords(tool.inputSchema, 0);
  }
}

const VALUE_WORDS = ['integer', 'number', 'date', 'time', 'date-time'];

/** Whether an argument of the tool is a date, a time of day or a number, by its schema's own word for it. */
export function takesValues(tool: ToolDefinition): boolean {
  return Object.values(propertiesOf(tool.inputSchema)).some((property) => {
    if (typeof property !== 'object' || property === null) return false;
    const { type, format }: { type?: unknown; format?: unknown } = property;
    return [type, format].some((word) => typeof word === 'string' && VALUE_WORDS.includes(word));
  });
}

/** `Alarm_1.GetAlarms`, `alarm/set_alarm` and `HTTPFetch` in words. */
function nameWords(name: string): string {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/[^\p{L}]+/gu, ' ');
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return {};
  const { properties } = schema;
  return typeof properties === 'object' && properties !== null ? { ...properties } : {};
}

/** Foreign schemas nest as they like; what lies deeper than this says little about the tool. */
const DEPTH = 6;

/** Names, titles, descriptions and enumerated values of the parameters. */
function schemaWords(schema: unknown, depth: number): string[] {
  if (typeof schema !== 'object' || schema === null || depth > DEPTH) return [];
  if (Array.isArray(schema)) return schema.flatMap((item) => schemaWords(item, depth + 1));
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
    if ((key === 'title' || key === 'description') && typeof value === 'string') return [value];
    if (key === 'enum' && Array.isArray(value)) return value.filter((item) => typeof item === 'string');
    if (key !== 'properties') return [];
    const properties = propertiesOf(schema);
    return [...Object.keys(properties).map(nameWords), ...schemaWords(Object.values(properties), depth + 1)];
  });
}
