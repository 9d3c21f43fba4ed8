// Which tool the customer's message is about, and which messages belong to the same request.
import type { DateTime } from 'luxon';
import type { Conversation, Turn } from '../conversation.js';
import { asksSomething, onlyLooks, rankTools, type CatalogueEntry, type Ranked } from './choose-tool.js';
import { fillArguments } from './fill-arguments.js';
import { blankOut, findDates, findTimes } from './moments.js';
import type { Parameter } from './parameters.js';
import { readValues } from './read-values.js';
import { smallTalkIn } from './small-talk.js';
import { meaningfulWords } from './words.js';

/** How many turns before the message may break a tie between tools. */
const CONTEXT_TURNS = 4;
/** A follow-up follows soon. */
const FOLLOW_UP_TURNS = 8;
/** Less than this is a word of some parameter, which an answer or a follow-up has as well. */
const CLEAR_SCORE = 0.75;
/** Words beside its days and times with which a message still says nothing else. */
const WORDS_BESIDE_MOMENTS = 1;

export interface FoundRequest {
  entry: CatalogueEntry;
  /** Places in the turns: the message that began the request, then the answers to questions about it. */
  messages: number[];
}

interface Search {
  catalogue: CatalogueEntry[];
  turns: Turn[];
  now: DateTime;
  /** Place of the message in question. */
  last: number;
}

/** By the message's own words; else as a follow-up; else, for a bare day or time, by what a tool can use. */
export function findRequest(
  catalogue: CatalogueEntry[],
  { turns, now }: Conversation,
): FoundRequest | undefined {
  const last = lastCustomerTurn(turns);
  const search: Search = { catalogue, turns, now, last };
  const own = bestFor(search, last);
  const byOwnWords = own && lookFirst(search, { entry: own.entry, messages: [last] });
  if (own && own.score >= CLEAR_SCORE) return byOwnWords;
  if (smallTalkIn(turns[last]?.text ?? '')) return undefined;
  return followUp(search) ?? byMoments(search) ?? byOwnWords;
}

export function lastCustomerTurn(turns: Turn[]): number {
  return Math.max(
    0,
    turns.findLastIndex((turn) => turn.speaker === 'customer'),
  );
}

function bestFor({ catalogue, turns }: Search, index: number): Ranked | undefined {
  const context = turns.slice(Math.max(0, index - CONTEXT_TURNS), index).map((turn) => turn.text);
  return rankTools({ catalogue, message: turns[index]?.text ?? '', context: context.join('\n') })[0];
}

/**
 * A message that gives an argument of the latest request. After a question of ours it answers that request, otherwise
 * it is a new one of the same kind ("and on Sunday?").
 */
function followUp(search: Search): FoundRequest | undefined {
  const { turns, last } = search;
  const answers = [last];
  let isAnswer = true;
  const spoken = turns.flatMap((turn, index) =>
    turn.speaker !== 'data' && index < last ? [{ turn, index }] : [],
  );
  for (const { turn, index } of spoken.slice(-FOLLOW_UP_TURNS).reverse()) {
    if (turn.speaker === 'assistant') {
      isAnswer &&= turn.text.includes('?');
      continue;
    }
    const earlier = bestFor(search, index);
    if (earlier && earlier.score >= CLEAR_SCORE) {
      const found = { entry: earlier.entry, messages: isAnswer ? [index, ...answers] : [last] };
      return givesSomething(search, found) ? found : undefined;
    }
    if (isAnswer) answers.unshift(index);
  }
  return undefined;
}

/** Whether the last message says anything the tool can use. */
function givesSomething({ turns, now, last }: Search, { entry, messages }: FoundRequest): boolean {
  const { parameters } = entry;
  const before = fillArguments(parameters, { turns, messages: messages.slice(0, -1), now });
  const asked = messages.length > 1 ? before.missing : [];
  const text = turns[last]?.text ?? '';
  const given = readValues(parameters, { text, now, asked });
  // A parameter that takes the whole message as a question takes any message.
  return Object.values(given).some((value) => value !== text.trim() || asked.length > 0);
}

/** A message that is nothing but a day or a time: the tool that can use most of it and lacks nothing then. */
function byMoments(search: Search): FoundRequest | undefined {
  const { catalogue, turns, now, last } = search;
  const text = turns[last]?.text ?? '';
  const moments = [...findDates(text, now), ...findTimes(text)];
  const isBare = meaningfulWords(blankOut(text, moments)).length <= WORDS_BESIDE_MOMENTS;
  if (moments.length === 0 || !isBare) return undefined;
  const usable = catalogue
    .map((entry) => ({ entry, used: momentsUsed(entry, text, now) }))
    .filter(({ entry, used }) => used > 0 && missingCount(search, entry) === 0)
    .sort((one, other) => other.used - one.used)[0];
  return usable && { entry: usable.entry, messages: [last] };
}

function momentsUsed({ parameters }: CatalogueEntry, text: string, now: DateTime): number {
  return Object.keys(readValues(parameters.filter(isMoment), { text, now, asked: [] })).length;
}

/**
 * A question whose words fit best to a tool that does something, with too little said to do it, is answered by a tool
 * that only looks, if all that one needs was said.
 */
function lookFirst(search: Search, chosen: FoundRequest): FoundRequest {
  const { catalogue, turns, last } = search;
  const isQuestion = asksSomething(turns[last]?.text ?? '');
  const wouldAct = !onlyLooks(chosen.entry.tool);
  if (!isQuestion || !wouldAct || missingCount(search, chosen.entry) === 0) return chosen;
  const looking = catalogue.find(
    (entry) =>
      onlyLooks(entry.tool) &&
      entry.parameters.some((parameter) => parameter.required && isMoment(parameter)) &&
      missingCount(search, entry) === 0,
  );
  return looking ? { entry: looking, messages: [last] } : chosen;
}

function missingCount({ turns, now, last }: Search, { parameters }: CatalogueEntry): number {
  return fillArguments(parameters, { turns, messages: [last], now }).missing.length;
}

function isMoment({ kind }: Parameter): boolean {
  return kind === 'date' || kind === 'time' || kind === 'dateTime';
}
