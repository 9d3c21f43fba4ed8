// What the API refuses in the schema of a tool with `strict: true`: it compiles such schemas into a grammar and
// answers 400 for anything it cannot compile. Being as strict here finds those tools without a key.

const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'];

const REFUSED = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
];

/** The first thing in a strict tool's schema that the API would refuse, or undefined. */
export function strictSchemaProblem(schema: unknown): string | undefined {
  if (!isRecord(schema)) return undefined;
  const type = typeof schema['type'] === 'string' ? schema['type'] : 'union';
  const refused = REFUSED.find((keyword) => keyword in schema);
  if (refused) return `For '${type}' type, property '${refused}' is not supported`;
  if (type === 'object' && schema['additionalProperties'] !== false) {
    return "For 'object' type, 'additionalProperties' must be explicitly set to false";
  }
  const format = schema['format'];
  if (typeof format === 'string' && !FORMATS.includes(format)) {
    return `For '${type}' type, format '${format}' is not supported`;
  }
  const minItems = schema['minItems'];
  if (typeof minItems === 'number' && minItems > 1) {
    return "For 'array' type, 'minItems' values other than 0 or 1 are not supported";
  }
  return subSchemas(schema)
    .map(strictSchemaProblem)
    .find((problem) => problem !== undefined);
}

function subSchemas(schema: Record<string, unknown>): unknown[] {
  const { properties, $defs, anyOf, allOf, items } = schema;
  return [
    ...(isRecord(properties) ? Object.values(properties) : []),
    ...(isRecord($defs) ? Object.values($defs) : []),
    ...listed(anyOf),
    ...listed(allOf),
    items,
  ];
}

function listed(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
