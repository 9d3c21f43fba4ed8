// Candidates as Claude tool definitions (spec A3): what the catalogue says, and nothing that the model may not give.
import type Anthropic from '@anthropic-ai/sdk';
import type { Json, JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';
import { isJsonObject } from '../../prisma/json.js';

/** How the planner says that it must ask first, that no tool fits, or that the request must be refused. */
export const PLANNER_TOOLS = {
  ask: 'ask_customer',
  none: 'no_tool_fits',
  deny: 'deny_request',
} as const;

/** The candidates, then the three ways not to call any of them. */
export function toolDefinitions(candidates: readonly ToolDefinition[]): Anthropic.Tool[] {
  return [...candidates.map(toClaudeTool), ...plannerTools(candidates)];
}

export function toClaudeTool(tool: ToolDefinition): Anthropic.Tool {
  const schema = modelSchema(tool);
  return {
    name: tool.name,
    description: [
      tool.description,
      `Use it when: ${tool.whenToUse}`,
      `Do not use it when: ${tool.whenNotToUse}`,
    ].join('\n'),
    input_schema: { ...schema, type: 'object' },
    ...(isStrictCapable(schema) && { strict: true }),
  };
}

/** The input schema without what the runtime fills and what holds secrets. */
function modelSchema({ inputSchema, managedFields, secretFields }: ToolDefinition): JsonObject {
  const hidden = new Set([...managedFields, ...secretFields]);
  const { properties, required } = inputSchema;
  return {
    ...inputSchema,
    ...(isJsonObject(properties ?? null) && {
      properties: Object.fromEntries(
        Object.entries(properties as JsonObject).filter(([name]) => !hidden.has(name)),
      ),
    }),
    ...(Array.isArray(required) && {
      required: required.filter((name) => typeof name !== 'string' || !hidden.has(name)),
    }),
  };
}

/** Keywords that strict tool use can't hold a model to; with one of them the schema is sent as a plain one. */
const NOT_STRICT = [
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'pattern',
];

function isStrictCapable(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictCapable);
  if (!isJsonObject(schema)) return true;
  return Object.entries(schema).every(([key, value]) => !NOT_STRICT.includes(key) && isStrictCapable(value));
}

function plannerTools(candidates: readonly ToolDefinition[]): Anthropic.Tool[] {
  const reason = { type: 'string', description: 'One short sentence, for the log of decisions.' };
  return [
    {
      name: PLANNER_TOOLS.ask,
      description:
        'Asks the customer a clarifying question, when a tool is meant and something that it requires is not known yet. ' +
        'Ask for all that is missing at once, in the language of the customer.',
      input_schema: {
        type: 'object',
        additionalProperties: false,
        required: ['question'],
        properties: {
          question: { type: 'string', description: 'The question, one friendly sentence.' },
          tool: {
            type: 'string',
            enum: candidates.map(({ name }) => name),
            description: 'The tool that is meant.',
          },
          missing: {
            type: 'array',
            items: { type: 'string' },
            description: 'Names of the missing arguments.',
          },
          arguments: { type: 'object', description: 'The arguments that are known already.' },
        },
      },
    },
    {
      name: PLANNER_TOOLS.none,
      description: 'Says that no tool fits: the message is conversation, or is about something else.',
      input_schema: {
        type: 'object',
        additionalProperties: false,
        required: ['reason'],
        properties: { reason },
      },
    },
    {
      name: PLANNER_TOOLS.deny,
      description:
        'Refuses a request that is harmful, or that asks for something that belongs to another person.',
      input_schema: {
        type: 'object',
        additionalProperties: false,
        required: ['reason', 'harm'],
        properties: { reason, harm: { type: 'string', enum: ['harmful', 'belongs_to_another_person'] } },
      },
    },
  ];
}
