// Arguments against a tool's JSON Schema: strict, no coercion, no default filled in. Compiled once per schema.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { JsonObject } from '../../workflows/domain/tool.js';

const ajv = new Ajv2020({ strict: true, allErrors: true, ownProperties: true });
// Named differently by CommonJS and ESM, and the same function in both.
addFormats.default(ajv);

const compiled = new WeakMap<JsonObject, ValidateFunction>();

function validatorOf(schema: JsonObject): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const fresh = ajv.compile(schema);
  compiled.set(schema, fresh);
  return fresh;
}

export interface SchemaFindings {
  /** Required members that are absent, at the top level. */
  missing: string[];
  /** Members that the schema doesn't know, at any level. */
  extra: string[];
  /** Everything else, as places: values are never repeated. */
  invalid: string[];
}

export function schemaFindings(schema: JsonObject, value: JsonObject): SchemaFindings {
  const validate = validatorOf(schema);
  const findings: SchemaFindings = { missing: [], extra: [], invalid: [] };
  if (validate(value)) return findings;
  for (const error of validate.errors ?? []) sort(error, findings);
  return findings;
}

function sort(error: ErrorObject, findings: SchemaFindings): void {
  const { missingProperty, additionalProperty }: Record<string, unknown> = error.params;
  if (error.keyword === 'required' && error.instancePath === '' && typeof missingProperty === 'string') {
    findings.missing.push(missingProperty);
  } else if (error.keyword === 'additionalProperties' && typeof additionalProperty === 'string') {
    findings.extra.push(additionalProperty);
  } else {
    findings.invalid.push(`${error.instancePath || '/'} ${error.keyword}`);
  }
}
