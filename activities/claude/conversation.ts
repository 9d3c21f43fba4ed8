// A chat as messages for a model: history within a token budget, the current message exactly once, quotes with their
// author. Tells whether any of it comes from untrusted content; nobody else sets that flag.
import type Anthropic from '@anthropic-ai/sdk';
import type { Utterance } from '../../prisma/stores/history.js';
import type { TurnMessage } from '../../prisma/stores/turns.js';

export interface ConversationInput {
  /** Oldest first, without the current messages. */
  history: Utterance[];
  current: TurnMessage[];
  quoted?: Utterance | undefined;
  /** How many tokens of history may be sent. */
  historyTokens: number;
}

export interface ModelConversation {
  messages: Anthropic.MessageParam[];
  isTainted: boolean;
}

/** Four characters a token is what tokenizers do to European text; the budget needs no more than that. */
const CHARACTERS_PER_TOKEN = 4;

export function toModelMessages(input: ConversationInput): ModelConversation {
  const kept = withinBudget(input.history, input.historyTokens);
  const history = kept.map((utterance): Anthropic.MessageParam => ({
    role: utterance.author === 'customer' ? 'user' : 'assistant',
    content: wordsOf(utterance),
  }));
  const current = withoutOurLabels(input.current.map((message) => message.text).join('\n'));
  const quote = input.quoted ? `${quoteBlock(input.quoted)}\n` : '';
  return {
    messages: [...history, { role: 'user', content: `${quote}${current}` }],
    isTainted: [...kept, ...(input.quoted ? [input.quoted] : [])].some((utterance) => utterance.isTainted),
  };
}

function wordsOf({ author, text }: Utterance): string {
  if (author === 'customer') return withoutOurLabels(text);
  return author === 'human' ? `(a colleague wrote) ${text}` : text;
}

const OUR_LABELS = /<(?=\/?(?:tool_result|quoted_message|question_we_asked)\b)/gi;

/** A customer can't write a block that looks like one of ours. */
export function withoutOurLabels(text: string): string {
  return text.replace(OUR_LABELS, '‹');
}

/** Newest first until the budget is used up; cut at a customer's message, so that no answer stands without its question. */
function withinBudget(history: Utterance[], tokens: number): Utterance[] {
  let left = tokens * CHARACTERS_PER_TOKEN;
  const kept: Utterance[] = [];
  for (const utterance of history.toReversed()) {
    left -= utterance.text.length;
    if (left < 0) break;
    kept.unshift(utterance);
  }
  const firstQuestion = kept.findIndex((utterance) => utterance.author === 'customer');
  return firstQuestion === -1 ? [] : kept.slice(firstQuestion);
}

function quoteBlock(quoted: Utterance): string {
  return dataBlock('quoted_message', { from: quoted.author }, quoted.text);
}

/** A labelled block of data: a text that tries to close it, or to open another, is only text. */
export function dataBlock(label: string, attributes: Record<string, string>, text: string): string {
  const written = Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${value.replace(/[^\w:.\- ]/g, '')}"`)
    .join('');
  return `<${label}${written}>${text.replace(/</g, '‹').replace(/>/g, '›')}</${label}>`;
}
