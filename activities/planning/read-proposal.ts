// What the model proposed, read strictly (spec A4). A proposal is data: whatever doesn't fit becomes a typed outcome, and
// nothing is repaired by guessing.
import { isJsonObject } from '../../prisma/json.js';
import type { JsonObject } from '../../workflows/domain/tool.js';
import type { ModelReply } from '../claude/model.js';
import { PLANNER_TOOLS } from './tool-definitions.js';

export type Proposal =
  | { kind: 'noTool'; because: string }
  | { kind: 'ask'; question: string; tool?: string; missing: string[]; arguments: JsonObject }
  | { kind: 'deny'; because: string }
  | { kind: 'calls'; calls: { tool: string; arguments: JsonObject }[]; because: string }
  | { kind: 'unreadable'; code: UnreadableCode; because: string };

/** For the audit, which holds no words. */
export type UnreadableCode =
  'cut_off' | 'unknown_ending' | 'doubled_id' | 'no_object' | 'too_large' | 'too_many_calls' | 'no_question';

export function readProposal(
  reply: ModelReply,
  limits: { argumentsBytes: number; maxSteps: number },
): Proposal {
  if (reply.stopReason === 'refusal') return { kind: 'deny', because: 'the model refuses' };
  if (reply.stopReason === 'max_tokens') return unreadable('cut_off', 'the reply was cut off');
  if (reply.stopReason !== 'tool_use' && reply.stopReason !== 'end_turn') {
    return unreadable('unknown_ending', 'the reply ended for an unknown reason');
  }
  const { toolUses } = reply;
  if (toolUses.length === 0) return { kind: 'noTool', because: 'the model answered in words' };
  if (new Set(toolUses.map((use) => use.id)).size !== toolUses.length)
    return unreadable('doubled_id', 'two calls share one id');
  const inputs: { tool: string; arguments: JsonObject }[] = [];
  for (const use of toolUses) {
    if (!isPlainJsonObject(use.input)) return unreadable('no_object', 'arguments that are no JSON object');
    if (JSON.stringify(use.input).length > limits.argumentsBytes)
      return unreadable('too_large', 'arguments that are too large');
    inputs.push({ tool: use.name, arguments: use.input });
  }
  const proposal = readCalls(inputs, reply.text);
  // Refused as a whole: carrying out the first of them would leave the customer with half of what was meant.
  if (proposal.kind === 'calls' && proposal.calls.length > limits.maxSteps) {
    return unreadable('too_many_calls', 'more calls than steps are allowed');
  }
  return proposal;
}

function readCalls(inputs: { tool: string; arguments: JsonObject }[], words: string): Proposal {
  const called = (name: string): JsonObject | undefined =>
    inputs.find((input) => input.tool === name)?.arguments;
  const denied = called(PLANNER_TOOLS.deny);
  if (denied) return { kind: 'deny', because: textOf(denied['reason']) ?? '' };
  const asked = called(PLANNER_TOOLS.ask);
  if (asked) return readQuestion(asked);
  const none = called(PLANNER_TOOLS.none);
  if (none) return { kind: 'noTool', because: textOf(none['reason']) ?? '' };
  return { kind: 'calls', calls: inputs, because: words };
}

/** Longer questions than this are no questions. */
const LONGEST_QUESTION = 500;

function readQuestion(input: JsonObject): Proposal {
  const question = textOf(input['question'])?.trim();
  if (!question || question.length > LONGEST_QUESTION)
    return unreadable('no_question', 'a question without words');
  const tool = textOf(input['tool']);
  const { missing } = input;
  const known = input['arguments'] ?? {};
  return {
    kind: 'ask',
    question,
    ...(tool !== undefined && { tool }),
    missing: Array.isArray(missing) ? missing.filter((name) => typeof name === 'string') : [],
    arguments: isJsonObject(known) ? known : {},
  };
}

function unreadable(code: UnreadableCode, because: string): Proposal {
  return { kind: 'unreadable', code, because };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Deeper structures than any tool takes, and names that reach into prototypes, are refused as a whole. */
const DEEPEST = 8;
const FORBIDDEN_NAMES = ['__proto__', 'constructor', 'prototype'];

export function isPlainJsonObject(value: unknown): value is JsonObject {
  return isJsonObject(value) && isPlain(value, DEEPEST);
}

function isPlain(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth - 1));
  return Object.entries(value).every(
    ([name, member]) => !FORBIDDEN_NAMES.includes(name) && isPlain(member, depth - 1),
  );
}
