// The parameters of a tool as the demo sees them, whatever the tool is about: read from the JSON Schema alone.
import type { ModelTool } from '../wire.js';

export type Kind =
  | 'date'
  | 'time'
  | 'dateTime'
  | 'choice'
  | 'number'
  | 'boolean'
  | 'email'
  | 'phone'
  | 'url'
  | 'pattern'
  | 'text'
  | 'list'
  | 'other';

export interface Parameter {
  name: string;
  description: string;
  kind: Kind;
  /** Must be given; a required parameter that may be null counts as optional and is then filled with null. */
  required: boolean;
  fillWithNull: boolean;
  choices: string[];
  /** Only for kind `pattern`: what a value must look like. */
  pattern: RegExp | undefined;
  isInteger: boolean;
  minimum: number | undefined;
  maximum: number | undefined;
  fallback: unknown;
}

type Schema = Record<string, unknown>;

/** The parameters of a tool in the order of its schema. */
export function parametersOf(tool: ModelTool): Parameter[] {
  const root: Schema = tool.input_schema;
  const required = Array.isArray(root['required']) ? root['required'] : [];
  return Object.entries(asSchema(root['properties'])).map(([name, raw]) => {
    const { schema, nullable } = withoutNull(resolved(asSchema(raw), root));
    const description = asText(schema['description']) || asText(asSchema(raw)['description']);
    const isRequired = required.includes(name);
    const pattern = patternOf(schema, description);
    return {
      name,
      description,
      kind: kindOf({ name, schema, description, pattern }),
      required: isRequired && !nullable,
      fillWithNull: isRequired && nullable,
      choices: choicesOf(schema),
      pattern,
      isInteger: schema['type'] === 'integer',
      minimum: asNumber(schema['minimum']),
      maximum: asNumber(schema['maximum']),
      fallback: schema['default'] ?? schema['const'],
    };
  });
}

function kindOf(options: {
  name: string;
  schema: Schema;
  description: string;
  pattern: RegExp | undefined;
}): Kind {
  const { name, schema, description, pattern } = options;
  if (choicesOf(schema).length > 0) return 'choice';
  switch (schema['type']) {
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return 'list';
    case 'string':
      return textKind({ name, format: asText(schema['format']), description, pattern });
    default:
      return 'other';
  }
}

const FORMATS = new Map<string, Kind>([
  ['date', 'date'],
  ['time', 'time'],
  ['date-time', 'dateTime'],
  ['email', 'email'],
  ['phone', 'phone'],
  ['uri', 'url'],
  ['url', 'url'],
]);

/** Values that tell by which pattern they are accepted what a pattern is for. */
const SAMPLES: { kind: Kind; accepted: string[] }[] = [
  { kind: 'date', accepted: ['2026-12-05', '2027-01-31'] },
  { kind: 'time', accepted: ['10:30', '21:00'] },
  { kind: 'dateTime', accepted: ['2026-12-05T10:30'] },
  { kind: 'email', accepted: ['a.person@example.com'] },
  { kind: 'phone', accepted: ['+905551234567'] },
];
/** A pattern that accepts this says nothing about what is meant. */
const ANYTHING = 'any words at all, 12';

function textKind(options: {
  name: string;
  format: string;
  description: string;
  pattern: RegExp | undefined;
}): Kind {
  const { name, format, description, pattern } = options;
  const byFormat = FORMATS.get(format);
  if (byFormat) return byFormat;
  if (pattern && !pattern.test(ANYTHING)) {
    const sample = SAMPLES.find(({ accepted }) => accepted.every((value) => pattern.test(value)));
    return sample?.kind ?? 'pattern';
  }
  if (/\bYYYY-MM-DDTHH:MM\b/i.test(description)) return 'dateTime';
  if (/\bYYYY-MM-DD\b/i.test(description)) return 'date';
  if (/\bHH:MM\b/i.test(description)) return 'time';
  if (/e-?mail/i.test(name)) return 'email';
  if (/phone|mobile/i.test(name)) return 'phone';
  return 'text';
}

/** Clients that send strict schemas move a pattern into the description, as `{pattern: "…"}`. */
const MOVED_PATTERN = /\{.*?pattern: ("(?:[^"\\]|\\.)*").*?\}/;

function patternOf(schema: Schema, description: string): RegExp | undefined {
  const moved = MOVED_PATTERN.exec(description)?.[1];
  try {
    const source: unknown = schema['pattern'] ?? (moved === undefined ? undefined : JSON.parse(moved));
    return typeof source === 'string' ? new RegExp(source, 'u') : undefined;
  } catch {
    return undefined;
  }
}

function choicesOf(schema: Schema): string[] {
  const values = Array.isArray(schema['enum']) ? schema['enum'] : [];
  return values.filter((value): value is string => typeof value === 'string');
}

function resolved(schema: Schema, root: Schema): Schema {
  const name = /^#\/\$defs\/(.+)$/.exec(asText(schema['$ref']))?.[1];
  return name === undefined ? schema : { ...schema, ...asSchema(asSchema(root['$defs'])[name]) };
}

function withoutNull(schema: Schema): { schema: Schema; nullable: boolean } {
  const { type, anyOf } = schema;
  if (Array.isArray(type) && type.includes('null')) {
    const other: unknown = type.find((each) => each !== 'null');
    return { schema: { ...schema, type: other }, nullable: true };
  }
  if (Array.isArray(anyOf)) {
    const variants = anyOf.map(asSchema);
    const other = variants.find((variant) => variant['type'] !== 'null');
    return {
      schema: { ...schema, ...other },
      nullable: variants.some((variant) => variant['type'] === 'null'),
    };
  }
  return { schema, nullable: false };
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
