// Tools by which a product lets the model say "I must ask first" or "none of these fits". They are told apart
// from real tools by the shape of their schema only, never by name.
import type { ModelTool } from '../wire.js';

const ASKING_FIELDS = ['missing', 'tool', 'arguments'];

export interface ToolSet {
  /** Tools that do something. */
  real: ModelTool[];
  /** Takes the string `question`, and may take `missing` (strings), `tool` (string), `arguments` (object or JSON text). */
  asking: ModelTool | undefined;
  /** Takes exactly the string `reason`. Of several, the one that says "no tool" or "none". */
  declining: ModelTool | undefined;
}

export function sortTools(tools: ModelTool[]): ToolSet {
  const asking = tools.find(asks);
  const decliners = tools.filter(declines);
  const declining =
    decliners.find((tool) =>
      /\bno[ _-]?(?:tool|action)|none\b/i.test(`${tool.name} ${tool.description ?? ''}`),
    ) ?? decliners[0];
  const firstMeta = asking ? tools.indexOf(asking) : tools.length;
  const isReal = (tool: ModelTool, at: number): boolean =>
    !asks(tool) && !declines(tool) && !(at > firstMeta && refuses(tool));
  return { real: tools.filter(isReal), asking, declining };
}

function asks(tool: ModelTool): boolean {
  const properties = propertiesOf(tool);
  const others = Object.keys(properties).filter((name) => name !== 'question');
  return isString(properties['question']) && others.every((name) => ASKING_FIELDS.includes(name));
}

function declines(tool: ModelTool): boolean {
  const properties = propertiesOf(tool);
  return isString(properties['reason']) && Object.keys(properties).length === 1;
}

/**
 * A third kind, which refuses a request: a `reason` and otherwise only choices, listed after the asking tool. The
 * demo never calls it, but must not take it for a tool that does something.
 */
function refuses(tool: ModelTool): boolean {
  const { reason, ...others } = propertiesOf(tool);
  return isString(reason) && Object.values(others).every(isChoice);
}

/** The input for the asking tool: only the fields it has. */
export function askingInput(
  asking: ModelTool,
  ask: { question: string; missing: string[]; tool: string; found: Record<string, unknown> },
): Record<string, unknown> {
  const properties = propertiesOf(asking);
  return {
    question: ask.question,
    ...('missing' in properties && { missing: ask.missing }),
    ...('tool' in properties && { tool: ask.tool }),
    ...('arguments' in properties && {
      arguments: isString(properties['arguments']) ? JSON.stringify(ask.found) : ask.found,
    }),
  };
}

function propertiesOf(tool: ModelTool): Record<string, unknown> {
  const properties = tool.input_schema['properties'];
  return typeof properties === 'object' && properties !== null ? { ...properties } : {};
}

function isChoice(schema: unknown): boolean {
  return isString(schema) && typeof schema === 'object' && schema !== null && 'enum' in schema;
}

function isString(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || !('type' in schema)) return false;
  return schema.type === 'string' || (Array.isArray(schema.type) && schema.type.includes('string'));
}
