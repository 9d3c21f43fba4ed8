import { z } from 'zod';
import { ACTORS, CHAT_KINDS, EFFECTS, RISKS, type JsonObject } from '../../workflows/domain/tool.js';
import { jsonSchemaProblems } from './json-schema.js';
import { line, text, toolName } from './values.js';

const json = z.json();
const jsonObject = z.record(z.string(), json);

/** A JSON Schema of the bounded subset; every problem is placed at the key that causes it. */
const objectSchema = jsonObject.check((payload) => {
  for (const problem of jsonSchemaProblems(payload.value)) {
    payload.issues.push({
      code: 'custom',
      input: payload.value,
      path: problem.path,
      message: problem.wrong,
      params: { right: problem.right },
    });
  }
});

const lines = z.array(line).max(100).default([]);

/** One tool as the files describe it; its name is the key it stands under. */
export const tool = z.strictObject({
  enabled: z.boolean().default(true),
  provider: z.string(),
  operation: z.string(),
  description: text,
  whenToUse: text,
  whenNotToUse: text,
  aliases: lines,
  triggerPhrases: lines,
  tags: lines,
  examples: lines,
  effect: z.enum(EFFECTS),
  risk: z.enum(RISKS),
  actors: z.array(z.enum(ACTORS)).min(1),
  chatKinds: z.array(z.enum(CHAT_KINDS)).min(1),
  privateData: z.boolean(),
  inputSchema: objectSchema,
  outputSchema: objectSchema,
  declinedWhen: z.record(line, z.array(line).min(1)).optional(),
  managedFields: lines,
  secretFields: lines,
  timeoutMs: z.int().min(100).max(110_000),
  asyncEligible: z.boolean(),
});

export const tools = z.record(toolName, tool);

/** The properties that a tool's schema names. */
export function propertiesOf(schema: JsonObject): string[] {
  const properties = schema['properties'];
  return isObject(properties) ? Object.keys(properties) : [];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
