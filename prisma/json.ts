// JSON that we wrote ourselves and encrypted, read back.
import type { JsonObject } from '../workflows/domain/tool.js';

/** Reads a stored JSON object; anything else means that the row is broken. */
export function parseJsonObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new TypeError('a stored value is no JSON object');
  return value;
}

/** True for what JSON calls an object. Its members come from JSON.parse, so they are JSON too. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
