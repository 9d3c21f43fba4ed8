// What a call will do, in words of the runtime: the tool's own description and each argument in full. A person says yes to
// this, so hidden characters are shown and nothing is left out.
import { DateTime } from 'luxon';
import type { Business } from '../../config/configuration.js';
import { isJsonObject } from '../../prisma/json.js';
import type { Json, JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';
import { onOneLine, withHiddenShown } from '../../workflows/domain/visible-text.js';

/** The description, then a line for each argument. */
export function renderCall(tool: ToolDefinition, values: JsonObject, business: Business): string {
  const lines = Object.entries(values).map(
    ([name, value]) =>
      `• ${titleOf(tool, name)}: ${withHiddenShown(inWords(schemaOf(tool, name), value, business))}`,
  );
  // Another company's server describes its tools itself.
  return [tool.mcp ? withHiddenShown(tool.description) : tool.description, ...lines].join('\n');
}

/** The values alone, on one line. */
export function valuesInWords(tool: ToolDefinition, values: JsonObject, business: Business): string {
  return Object.entries(values)
    .map(([name, value]) => onOneLine(inWords(schemaOf(tool, name), value, business)))
    .join(', ');
}

/** The title that the schema gives an argument, or its name in words; on one line. */
export function titleOf(tool: ToolDefinition, name: string): string {
  const title = schemaOf(tool, name)?.['title'];
  return onOneLine(typeof title === 'string' ? title : name.replaceAll('_', ' '));
}

function schemaOf({ inputSchema }: ToolDefinition, name: string): JsonObject | undefined {
  const { properties } = inputSchema;
  const schema = isJsonObject(properties) ? properties[name] : undefined;
  return isJsonObject(schema) ? schema : undefined;
}

function inWords(schema: JsonObject | undefined, value: Json, { language }: Business): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (schema?.['format'] !== 'date') return value;
  const day = DateTime.fromISO(value).setLocale(language);
  return day.isValid ? day.toFormat('cccc d LLLL yyyy') : value;
}
