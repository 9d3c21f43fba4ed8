// The subset of JSON Schema (2020-12) that tools may use. It is small on purpose: these schemas are sent to models, shown
// to people, compiled by Ajv and checked against what models return, and a keyword that one of the four reads otherwise is
// a hole. No references, no patternProperties, nothing that fetches or that grows without bound.
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Json, JsonObject } from '../../workflows/domain/tool.js';
import { nearest } from '../suggest.js';

export interface SchemaProblem {
  path: (string | number)[];
  wrong: string;
  right: string;
}

const MAX_DEPTH = 6;
const MAX_BYTES = 32_768;

const KEYWORDS_BY_TYPE: Record<string, readonly string[]> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  boolean: [],
};
const ALWAYS = ['type', 'title', 'description', 'enum', 'const', 'default', 'examples'];
const TYPES = Object.keys(KEYWORDS_BY_TYPE);
const PROPERTY_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
export const FORMATS = ['date', 'time', 'date-time', 'email', 'uri', 'uuid'] as const;

/** Everything that is wrong with a tool's input or output schema; the path is the place within the schema. */
export function jsonSchemaProblems(schema: JsonObject): SchemaProblem[] {
  if (JSON.stringify(schema).length > MAX_BYTES) {
    return [{ path: [], wrong: 'the schema is too large', right: `at most ${MAX_BYTES} bytes` }];
  }
  const problems: SchemaProblem[] = [];
  if (schema['type'] !== 'object') {
    problems.push({ path: ['type'], wrong: 'the schema is not of an object', right: 'type: object' });
  }
  inspect({ schema, path: [], problems });
  return problems.length > 0 ? problems : compileProblems(schema);
}

interface Place {
  schema: JsonObject;
  path: (string | number)[];
  problems: SchemaProblem[];
}

function inspect({ schema, path, problems }: Place): void {
  if (path.length > 2 * MAX_DEPTH) {
    problems.push({ path, wrong: 'is nested too deeply', right: `at most ${MAX_DEPTH} levels` });
    return;
  }
  const type = schema['type'];
  if (typeof type !== 'string' || !TYPES.includes(type)) {
    if (path.length > 0) {
      problems.push({
        path: [...path, 'type'],
        wrong: 'has no single type',
        right: `one of ${TYPES.join(', ')}`,
      });
    }
    return;
  }
  inspectKeywords({ schema, path, problems }, type);
  if (type === 'object') inspectObject({ schema, path, problems });
  if (type === 'array') inspectChild({ schema, path, problems }, 'items');
}

function inspectKeywords({ schema, path, problems }: Place, type: string): void {
  const known = [...ALWAYS, ...(KEYWORDS_BY_TYPE[type] ?? [])];
  for (const keyword of Object.keys(schema)) {
    if (known.includes(keyword)) continue;
    const near = nearest(keyword, known);
    problems.push({
      path: [...path, keyword],
      wrong: `"${keyword}" is not allowed in a schema of type ${type}`,
      right: near === undefined ? `only ${known.join(', ')}` : `did you mean ${near}?`,
    });
  }
  const format = schema['format'];
  if (format !== undefined && !FORMATS.some((known) => known === format)) {
    const right = `one of ${FORMATS.join(', ')}`;
    problems.push({ path: [...path, 'format'], wrong: 'is not a known format', right });
  }
}

function inspectObject({ schema, path, problems }: Place): void {
  if (schema['additionalProperties'] !== false) {
    problems.push({
      path: [...path, 'additionalProperties'],
      wrong: 'unknown arguments would be let through',
      right: 'additionalProperties: false',
    });
  }
  const properties = schema['properties'];
  if (!isObject(properties)) {
    problems.push({ path: [...path, 'properties'], wrong: 'is missing', right: 'a mapping, {} for none' });
    return;
  }
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  for (const [index, name] of required.entries()) {
    if (typeof name === 'string' && Object.hasOwn(properties, name)) continue;
    problems.push({
      path: [...path, 'required', index],
      wrong: `${JSON.stringify(name)} is required and not among the properties`,
      right: `names out of ${Object.keys(properties).join(', ')}`,
    });
  }
  for (const name of Object.keys(properties)) {
    if (!PROPERTY_NAME.test(name)) {
      const right = 'letters, digits and _, at most 64: models accept nothing else';
      problems.push({ path: [...path, 'properties', name], wrong: 'is no name of an argument', right });
    }
    inspectChild({ schema: properties, path: [...path, 'properties'], problems }, name);
  }
}

function inspectChild({ schema, path, problems }: Place, name: string): void {
  const child = schema[name];
  if (isObject(child)) inspect({ schema: child, path: [...path, name], problems });
  else problems.push({ path: [...path, name], wrong: 'is not a schema', right: 'a mapping with a type' });
}

/** Made once: the meta-schemas that it checks with take longer to compile than any tool's schema. */
const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: false });
addFormats.default(ajv, [...FORMATS]);

/** What Ajv itself finds: a pattern that doesn't compile, a bound that isn't a number. */
function compileProblems(schema: JsonObject): SchemaProblem[] {
  try {
    ajv.compile(schema);
    return [];
  } catch (error) {
    const wrong = error instanceof Error ? error.message : 'Ajv refuses it';
    return [{ path: [], wrong, right: 'a schema of JSON Schema 2020-12 that Ajv compiles in strict mode' }];
  } finally {
    ajv.removeSchema(schema);
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
