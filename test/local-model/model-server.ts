// The model program on a free port with the product's own client in front of it.
import Anthropic from '@anthropic-ai/sdk';
import type { FastifyInstance } from 'fastify';
import { createModelServer, type ModelMode } from '../../local/model/server.js';

export interface RunningModel {
  url: string;
  client: Anthropic;
  server: FastifyInstance;
  close(): Promise<void>;
}

export async function startModel(mode: ModelMode): Promise<RunningModel> {
  const server = createModelServer({ mode });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  return { url, server, client: clientFor(url), close: () => server.close() };
}

export function clientFor(url: string, timeoutMs = 5000): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: 'local', maxRetries: 0, timeout: timeoutMs });
}

/** A Monday evening; every date in these tests is relative to it. */
export const NOW = 'Now: 2026-11-30T18:48 (Monday) Europe/Istanbul';

export const PLAIN = { model: 'any-model', max_tokens: 500, system: `You answer customers.\n${NOW}` };

/** Customer and assistant in turns, the customer first and last. */
export function dialogue(...said: string[]): Anthropic.MessageParam[] {
  return said.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
}

export function textOf(message: Anthropic.Message): string {
  return message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/** The first call of a message, or the text where there is none: what a failing assertion should show. */
export function callOf(message: Anthropic.Message): { name: string; input: unknown } | string {
  const call = message.content.find((block) => block.type === 'tool_use');
  return call ? { name: call.name, input: call.input } : textOf(message);
}

/** A field of a parsed JSON body; undefined where there is none. */
export function fieldOf(body: unknown, name: string): unknown {
  if (typeof body !== 'object' || body === null) return undefined;
  const fields: [string, unknown][] = Object.entries(body);
  return fields.find(([key]) => key === name)?.[1];
}
