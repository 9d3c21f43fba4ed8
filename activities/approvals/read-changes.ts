// Changes that a person typed, `time=11:00`, made into arguments by the tool's own schema. Nothing is guessed: "11" is a
// number only where the schema says number, and "yes" is no truth value.
import { isJsonObject } from '../../prisma/json.js';
import type { Json, JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';
import { isPlainJsonObject } from '../planning/read-proposal.js';

export type Pair = readonly [name: string, text: string];

export type ReadChanges =
  { values: JsonObject } | { why: 'unknown_name' | 'doubled' | 'unreadable'; name: string };

/** Names of arguments that a person may set: those of the schema that neither the runtime fills nor a secret holds. */
export function settableNames(tool: ToolDefinition): string[] {
  const { properties } = tool.inputSchema;
  const closed = new Set([...tool.managedFields, ...tool.secretFields]);
  return isJsonObject(properties) ? Object.keys(properties).filter((name) => !closed.has(name)) : [];
}

/** Reads `name`/`text` pairs as values of a tool's arguments. Names are taken in any case, and with `-` for `_`. */
export function readChanges(tool: ToolDefinition, pairs: readonly Pair[]): ReadChanges {
  const names = settableNames(tool);
  const values = new Map<string, Json>();
  for (const [typed, text] of pairs) {
    const name =
      names.find((known) => known === typed) ?? names.find((known) => folded(known) === folded(typed));
    if (name === undefined) return { why: 'unknown_name', name: typed };
    if (values.has(name)) return { why: 'doubled', name };
    const value = readValue(schemaOf(tool, name), text);
    if (value === undefined) return { why: 'unreadable', name };
    values.set(name, value);
  }
  return { values: Object.fromEntries(values) };
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

function schemaOf({ inputSchema: { properties } }: ToolDefinition, name: string): JsonObject {
  const schema = isJsonObject(properties) ? properties[name] : undefined;
  return isJsonObject(schema) ? schema : {};
}

const INTEGER = /^-?(0|[1-9][0-9]{0,14})$/;
const NUMBER = /^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$/;

/** Undefined: the text is no value of this type. What the value has to be beyond its type, the schema checks afterwards. */
function readValue(schema: JsonObject, text: string): Json | undefined {
  const types = typesOf(schema);
  if (types.length === 0 || types.includes('string')) return text;
  for (const type of types) {
    if (type === 'integer' && INTEGER.test(text)) return Number(text);
    if (type === 'number' && NUMBER.test(text)) return Number(text);
    if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
    if (type === 'null' && text === 'null') return null;
    if (type === 'array' || type === 'object') {
      // Wrapped, so that the check of a whole object looks at lists too.
      const wrapped: unknown = { value: parsedJson(text) };
      if (!isPlainJsonObject(wrapped)) return undefined;
      const { value } = wrapped;
      if (type === 'array' ? Array.isArray(value) : isJsonObject(value)) return value;
    }
  }
  return undefined;
}

/** Types that the schema names; where it names values instead, the types of those. */
function typesOf(schema: JsonObject): string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((one): one is string => typeof one === 'string');
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (!Array.isArray(values)) return [];
  return [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
