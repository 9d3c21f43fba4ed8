// A request as a conversation: who said what, which parts are data, and what time it is for the customer.
// Labelled blocks (`<label …>…</label>`) and tool results are data, never the customer's words.
import { DateTime, IANAZone } from 'luxon';
import type { ModelBlock, ModelRequest } from './wire.js';

export interface Turn {
  /** `data` is what tools and the runtime put between the people's words. */
  speaker: 'customer' | 'assistant' | 'data';
  text: string;
  /** Which message of the request it stands in. */
  message: number;
}

export interface ToolResult {
  text: string;
  isError: boolean;
}

export interface Conversation {
  /** Oldest first; the customer's latest words are the last turn spoken by `customer`. */
  turns: Turn[];
  /** The text of the last user message, labelled blocks included. */
  lastUserText: string;
  /** Results that the last message brings by themselves, as `tool_result` blocks. */
  results: ToolResult[];
  /** Results that the last message brings inside its text, as `<tool_result>` labels. */
  labelledResults: ToolResult[];
  /** The customer's wall clock. */
  now: DateTime;
}

const LABELLED = /<([a-z][\w-]*)(\s[^>]*)?>([\s\S]*?)<\/\1>/gi;
const RESULT_LABEL = 'tool_result';

/** Reads a request once; everything the demo decides is decided on this. */
export function readConversation(request: ModelRequest): Conversation {
  const system = [
    ...(request.system ?? []).map((block) => block.text),
    ...request.messages
      .filter((message) => message.role === 'system')
      .map((message) => textOf(message.content)),
  ].join('\n');
  const spoken = request.messages.filter((message) => message.role !== 'system');
  const turns = spoken.flatMap((message, at): Turn[] => {
    const isLast = at === spoken.length - 1;
    const said =
      message.role === 'assistant' ? assistantTurns(message.content) : userTurns(message.content, isLast);
    return said.map((turn) => ({ ...turn, message: at }));
  });
  const last = spoken.at(-1)?.content ?? [];
  const lastUserText = textOf(last);
  return {
    turns,
    lastUserText,
    results: last.flatMap((block) => (block.type === 'tool_result' ? [resultOf(block)] : [])),
    labelledResults: labelledBlocks(lastUserText)
      .filter((block) => block.label === RESULT_LABEL)
      .map((block) => ({ text: block.inside, isError: /\b(error|failed)\b/i.test(block.attributes) })),
    now: readNow(`${system}\n${lastUserText}`),
  };
}

type Said = Omit<Turn, 'message'>;

function assistantTurns(content: ModelBlock[]): Said[] {
  const text = textOf(content);
  return text === '' ? [] : [{ speaker: 'assistant', text }];
}

/** A last message that is nothing but labelled blocks holds the customer's words in the last of them. */
function userTurns(content: ModelBlock[], isLast: boolean): Said[] {
  const results = content.flatMap((block) =>
    block.type === 'tool_result' ? [{ speaker: 'data' as const, text: resultOf(block).text }] : [],
  );
  const text = textOf(content);
  const blocks = labelledBlocks(text);
  const outside = text.replace(LABELLED, ' ').trim();
  const wrapped =
    isLast && outside === '' ? blocks.findLast((block) => block.label !== RESULT_LABEL) : undefined;
  const data = blocks
    .filter((block) => block !== wrapped)
    .map((block) => ({ speaker: 'data' as const, text: block.inside }));
  const words = outside === '' ? (wrapped?.inside ?? '') : outside;
  return [...results, ...data, ...(words === '' ? [] : [{ speaker: 'customer' as const, text: words }])];
}

function labelledBlocks(text: string): { label: string; attributes: string; inside: string }[] {
  return Array.from(text.matchAll(LABELLED), ([, label, attributes, inside]) => ({
    label: (label ?? '').toLowerCase(),
    attributes: attributes ?? '',
    inside: (inside ?? '').trim(),
  }));
}

function textOf(content: readonly { type: string; text?: unknown }[]): string {
  return content
    .flatMap((block) => (block.type === 'text' && typeof block.text === 'string' ? [block.text] : []))
    .join('\n')
    .trim();
}

function resultOf(block: Extract<ModelBlock, { type: 'tool_result' }>): ToolResult {
  return { text: textOf(block.content), isError: block.is_error === true };
}

const NOW_LINE =
  /^.*\b(?:now|today|current (?:date|time)|date and time)\b.*?(\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}[\d:.]*)?)(Z|[+-]\d{2}:?\d{2})?.*$/im;
const ZONE_NAME = /\b[A-Z][A-Za-z_]+(?:\/[A-Za-z_+-]+\d*)+|\bUTC\b/g;

/** The labelled current time of the request; a request without one is answered by the machine's own clock. */
function readNow(text: string): DateTime {
  const line = NOW_LINE.exec(text);
  const zone = findZone(line?.[0] ?? '') ?? findZone(text) ?? 'local';
  const stamp = line?.[1];
  if (stamp === undefined) return DateTime.now().setZone(zone);
  const parsed = DateTime.fromISO(`${stamp}${line?.[2] ?? ''}`, { zone });
  return parsed.isValid ? parsed : DateTime.now().setZone(zone);
}

function findZone(text: string): string | undefined {
  return Array.from(text.matchAll(ZONE_NAME), ([name]) => name).find((name) => IANAZone.isValidZone(name));
}
