// Plain talk: small talk, questions about what was said, and an honest word where this program is out of its depth.
import type { Conversation } from '../conversation.js';
import phrases from './phrases.json' with { type: 'json' };
import { plain, smallTalkIn } from './small-talk.js';
import { stem, stems, wordsOf } from './words.js';

const { memory, tasks, answers } = phrases;

/** Enough to recognise a message by. */
const LONGEST_QUOTE_CHARACTERS = 200;

/** An answer from the customer's last words and the history in the request. */
export function converse({ turns }: Conversation): string {
  const at = turns.findLastIndex((turn) => turn.speaker === 'customer');
  const text = turns[at]?.text ?? '';
  const before = turns.slice(0, Math.max(0, at));
  const saidBy = (speaker: string): string[] =>
    before.filter((turn) => turn.speaker === speaker).map((turn) => turn.text);
  return (
    fromMemory(text, { customer: saidBy('customer'), assistant: saidBy('assistant') }) ??
    smallTalkIn(text)?.answer ??
    asTask(text, saidBy('assistant')) ??
    answers.cannotTell
  );
}

function fromMemory(text: string, said: { customer: string[]; assistant: string[] }): string | undefined {
  if (has(text, memory.firstMessage)) return quoteOf('You began with', said.customer[0]);
  if (has(text, memory.customerSaid)) return quoteOf('You said', said.customer.at(-1));
  if (has(text, memory.assistantSaid)) return quoteOf('I said', said.assistant.at(-1));
  if (!has(text, memory.recall)) return undefined;
  const wanted = new Set([...stems(text)].filter((word) => !RECALL_STEMS.has(word)));
  const remembered = said.customer.findLast(
    (earlier) => !earlier.includes('?') && wordsOf(earlier).some((word) => wanted.has(stem(word))),
  );
  return remembered === undefined ? answers.nothingRemembered : quoteOf('Yes, you told me', remembered);
}

/** The words of asking itself name nothing that could be remembered. */
const RECALL_STEMS = new Set(memory.recall.flatMap((phrase) => [...stems(phrase)]));

function quoteOf(opening: string, text: string | undefined): string {
  if (text === undefined) return answers.nothingSaid;
  const short =
    text.length > LONGEST_QUOTE_CHARACTERS ? `${text.slice(0, LONGEST_QUOTE_CHARACTERS).trimEnd()}…` : text;
  return `${opening}: “${short}”`;
}

function asTask(text: string, said: string[]): string | undefined {
  if (has(text, tasks.rewrite)) return answers.cannotRewrite;
  if (!has(text, tasks.explain)) return undefined;
  const last = said.at(-1);
  return last === undefined ? answers.nothingToExplain : `Sure. What I meant was: ${last}`;
}

function has(text: string, sayings: string[]): boolean {
  const message = ` ${plain(text)} `;
  return sayings.some((saying) => message.includes(` ${plain(saying)} `));
}
