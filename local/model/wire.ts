// The Anthropic Messages wire format, as far as Aroko's client uses it: what is accepted, what is refused, and
// how answers and errors look. Refusals follow API version 2026-10-21, so that a request which passes here
// passes there. Nothing in this file knows how an answer is found.
import type Anthropic from '@anthropic-ai/sdk';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { conversationProblem } from './conversation-rules.js';
import { strictSchemaProblem } from './strict-schema.js';

/** Request bodies above this are refused by the real API as well. */
export const BODY_LIMIT_BYTES = 32 * 1024 * 1024;

/** The usual rule of thumb for English text; good enough to compare prompts with each other. */
const CHARACTERS_PER_TOKEN = 4;

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

const textBlock = z.looseObject({ type: z.literal('text'), text: z.string().min(1) });

const toolUseBlock = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
});

/** The API takes a string where it takes blocks; from here on there are only blocks. */
const asBlocks = (content: unknown): unknown =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const toolResultBlock = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string().min(1),
  is_error: z.boolean().optional(),
  content: z.preprocess(
    (content) => (content === undefined || content === '' ? [] : asBlocks(content)),
    z.array(z.discriminatedUnion('type', [textBlock, z.looseObject({ type: z.literal('image') })])),
  ),
});

const contentBlock = z.discriminatedUnion('type', [
  textBlock,
  toolUseBlock,
  toolResultBlock,
  z.looseObject({ type: z.literal('image') }),
  z.looseObject({ type: z.literal('document') }),
  z.looseObject({ type: z.literal('thinking') }),
  z.looseObject({ type: z.literal('redacted_thinking') }),
]);

const message = z.strictObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.preprocess(asBlocks, z.array(contentBlock).min(1, 'all messages must have non-empty content')),
});

const tool = z
  .looseObject({
    type: z.literal('custom').nullish(),
    name: z.string().regex(TOOL_NAME, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    description: z.string().optional(),
    strict: z.boolean().optional(),
    input_schema: z.looseObject({ type: z.literal('object') }),
  })
  .superRefine((definition, context) => {
    const problem = definition.strict ? strictSchemaProblem(definition.input_schema) : undefined;
    if (problem) context.addIssue({ code: 'custom', message: problem, path: ['input_schema'] });
  });

const parallel = { disable_parallel_tool_use: z.boolean().optional() };
const toolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), ...parallel }),
  z.strictObject({ type: z.literal('any'), ...parallel }),
  z.strictObject({ type: z.literal('tool'), name: z.string(), ...parallel }),
  z.strictObject({ type: z.literal('none') }),
]);

/** Fields of the real API that change nothing in a local answer. */
const accepted = z.unknown().optional();

const requestSchema = z
  .strictObject({
    model: z.string().min(1),
    max_tokens: z.number().int().min(1, 'Input should be greater than or equal to 1'),
    messages: z.array(message).min(1, 'at least one message is required'),
    system: z.preprocess(asBlocks, z.array(textBlock)).optional(),
    tools: z.array(tool).optional(),
    tool_choice: toolChoice.optional(),
    stream: z.boolean().optional(),
    stop_sequences: z.array(z.string()).optional(),
    metadata: z.looseObject({}).optional(),
    cache_control: accepted,
    container: accepted,
    diagnostics: accepted,
    inference_geo: accepted,
    output_config: accepted,
    service_tier: accepted,
    speed: accepted,
    thinking: accepted,
    user_profile_id: accepted,
    workspace_id: accepted,
  })
  .superRefine((request, context) => {
    const problem = toolsProblem(request) ?? conversationProblem(request.messages);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });

export type ModelRequest = z.infer<typeof requestSchema>;
export type ModelTool = NonNullable<ModelRequest['tools']>[number];
export type ModelMessage = ModelRequest['messages'][number];
export type ModelBlock = ModelMessage['content'][number];

function toolsProblem(request: {
  tools?: { name: string }[] | undefined;
  tool_choice?: { type: string; name?: string } | undefined;
}): string | undefined {
  const names = (request.tools ?? []).map((each) => each.name);
  if (new Set(names).size < names.length) return 'tools: Tool names must be unique.';
  const choice = request.tool_choice;
  if (choice && names.length === 0)
    return 'tool_choice: tool_choice may only be specified while providing tools.';
  if (choice?.type === 'tool' && !names.includes(choice.name ?? '')) {
    return `tool_choice: Tool '${choice.name ?? ''}' not found in provided tools`;
  }
  return undefined;
}

/** Either the request, or the sentence the API would put into its 400. */
export function parseRequest(body: unknown): { request: ModelRequest } | { problem: string } {
  const parsed = requestSchema.safeParse(body);
  if (parsed.success) return { request: parsed.data };
  return { problem: parsed.error.issues.map(issueSentence).join('; ') };
}

function issueSentence(issue: z.core.$ZodIssue): string {
  const at = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${[...at, key].join('.')}: Extra inputs are not permitted`).join('; ');
  }
  const missing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  const sentence = missing ? 'Field required' : issue.message;
  return at.length > 0 ? `${at.join('.')}: ${sentence}` : sentence;
}

/** What a model says: the variable part of a response. */
export interface Reply {
  content: ReplyBlock[];
  /** A string and not the SDK's union: tests send reasons that no client knows yet. */
  stopReason: string;
}

export type ReplyBlock =
  { type: 'text'; text: string } | { type: 'tool_use'; name: string; input: unknown; id?: string };

/** A response body. The stop reason alone is wider than the SDK's type. */
export type WireMessage = Omit<Anthropic.Message, 'stop_reason'> & { stop_reason: string };

/** The complete response body for a reply. */
export function toMessage(request: ModelRequest, reply: Reply): WireMessage {
  const { content, stopReason } = withinMaxTokens(request.max_tokens, reply);
  return {
    id: newId('msg'),
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: content.map(toContentBlock),
    stop_reason: stopReason,
    stop_details: stopReason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
    stop_sequence: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: inputTokens(request),
      output_tokens: tokens(JSON.stringify(content)),
      cache_creation: null,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: null,
      inference_geo: null,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: 'standard',
      speed: null,
    },
  };
}

function toContentBlock(block: ReplyBlock): Anthropic.TextBlock | Anthropic.ToolUseBlock {
  if (block.type === 'text') return { type: 'text', text: block.text, citations: null };
  return {
    type: 'tool_use',
    id: block.id ?? newId('toolu'),
    name: block.name,
    input: block.input,
    caller: { type: 'direct' },
  };
}

function withinMaxTokens(maxTokens: number, reply: Reply): Reply {
  const first = reply.content[0];
  const room = maxTokens * CHARACTERS_PER_TOKEN;
  if (reply.content.length !== 1 || first?.type !== 'text' || first.text.length <= room) return reply;
  return { content: [{ type: 'text', text: first.text.slice(0, room) }], stopReason: 'max_tokens' };
}

/** Tokens of everything the client sent, roughly. */
export function inputTokens(request: ModelRequest): number {
  return tokens(JSON.stringify(request));
}

function tokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/** Ids look like the API's (`msg_…`, `toolu_…`, `req_…`), because logs and eyes tell them apart by that. */
export function newId(prefix: 'msg' | 'toolu' | 'req'): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

const ERROR_TYPES = new Map<number, Anthropic.ErrorType>([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [409, 'conflict_error'],
  [413, 'invalid_request_error'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
]);

export interface ErrorBody {
  type: 'error';
  error: { type: string; message: string };
  request_id: string;
}

/** The error body the API sends with a status; `errorType` overrides the usual one. */
export function errorBody(status: number, message: string, requestId: string, errorType?: string): ErrorBody {
  const type =
    errorType ?? ERROR_TYPES.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  return { type: 'error', error: { type, message }, request_id: requestId };
}
