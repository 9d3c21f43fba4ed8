// What one message says about each parameter of a tool.
import type { DateTime } from 'luxon';
import { blankOut, findDates, findTimes, type Found } from './moments.js';
import type { Parameter } from './parameters.js';
import { readText } from './read-text.js';
import { stem, stems, wordsOf } from './words.js';

export type Values = Record<string, unknown>;

export interface Reading {
  text: string;
  now: DateTime;
  /** Parameters that were just asked for: a bare "9" or a bare name answers them. */
  asked: Parameter[];
}

/** The values that the text gives; a parameter it says nothing about is absent. */
export function readValues(parameters: Parameter[], reading: Reading): Values {
  const dates = findDates(reading.text, reading.now);
  const times = findTimes(reading.text, { bareHours: reading.asked.some(takesTime) && dates.length === 0 });
  const rest = blankOut(reading.text, [...dates, ...times]);
  const numbers = findNumbers(rest);
  // What was just asked for comes first: of two days in a request, "Tuesday" answers for the one that is still open.
  const rank = (parameter: Parameter): number =>
    (reading.asked.includes(parameter) ? 2 : 0) + Number(parameter.required);
  const ordered = [...parameters].sort((one, other) => rank(other) - rank(one));
  const moments = readMoments(ordered, { dates, times, now: reading.now });
  const values: Values = { ...moments };
  for (const parameter of ordered) {
    const value =
      values[parameter.name] ?? readOne(parameter, { ...reading, rest, numbers, parameters, values });
    if (value !== undefined) values[parameter.name] = value;
  }
  return values;
}

export function takesTime(parameter: Parameter): boolean {
  return parameter.kind === 'time' || parameter.kind === 'dateTime';
}

/** Dates and times go to the parameters in order: the first day named to the first that takes a day. */
function readMoments(
  parameters: Parameter[],
  moments: { dates: Found<string>[]; times: Found<string>[]; now: DateTime },
): Values {
  const dates = moments.dates.map((found) => found.value);
  const times = moments.times.map((found) => found.value);
  const values: Values = {};
  for (const { name, kind } of parameters) {
    if (kind === 'date' && dates.length > 0) values[name] = dates.shift();
    if (kind === 'time' && times.length > 0) values[name] = times.shift();
    if (kind === 'dateTime' && dates.length > 0 && times.length > 0) {
      values[name] = instantOf(dates.shift() ?? '', times.shift() ?? '', moments.now);
    }
  }
  return values;
}

/** A day and a time on the customer's clock as one ISO 8601 instant. */
export function instantOf(date: string, time: string, now: DateTime): string | undefined {
  const [year, month, day] = date.split('-').map(Number);
  const [hour, minute] = time.split(':').map(Number);
  if (year === undefined || month === undefined || day === undefined || hour === undefined) return undefined;
  const instant = now.set({ year, month, day, hour, minute: minute ?? 0, second: 0, millisecond: 0 });
  return instant.toISO({ suppressMilliseconds: true, suppressSeconds: false }) ?? undefined;
}

interface Context extends Reading {
  /** The text without its dates and times. */
  rest: string;
  numbers: NumberFound[];
  parameters: Parameter[];
  /** Values read so far, so that one word isn't taken twice. */
  values: Values;
}

const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/;
/** Shorter runs of digits are more often something else. */
const PHONE = /\+?\d[\d\s()-]{7,}\d/;
const URL_IN_TEXT = /https?:\/\/[^\s<>"]+/;

function readOne(parameter: Parameter, context: Context): unknown {
  switch (parameter.kind) {
    case 'choice':
      return readChoice(parameter, context.text);
    case 'number':
      return readNumber(parameter, context);
    case 'boolean':
      return readBoolean(parameter, context);
    case 'email':
      return EMAIL.exec(context.text)?.[0];
    case 'phone':
      return PHONE.exec(context.rest)?.[0].replace(/[\s()-]/g, '');
    case 'url':
      return URL_IN_TEXT.exec(context.text)?.[0];
    case 'pattern':
      return context.text
        .split(/\s+/)
        .map((word) => word.replace(/^[("'“]+|[)"'”.,;:!?]+$/g, ''))
        .flatMap((word) => [word, word.toUpperCase()])
        .find((word) => word !== '' && parameter.pattern?.test(word));
    case 'text':
      return readText(parameter, context);
    case 'list':
      return readList(parameter, context.text);
    case 'date':
    case 'time':
    case 'dateTime':
    case 'other':
      return undefined;
  }
}

/** The choice all of whose words the text has; of several the one with the most words. */
function readChoice(parameter: Parameter, text: string): string | undefined {
  const said = new Set(wordsOf(text).map(stem));
  return parameter.choices
    .map((choice) => ({ choice, words: wordsOf(choice) }))
    .filter(({ words }) => words.length > 0 && words.every((word) => said.has(stem(word))))
    .sort((one, other) => other.words.length - one.words.length)[0]?.choice;
}

const QUOTED = /["“]([^"”]+)["”]/g;

function readList(parameter: Parameter, text: string): string[] | undefined {
  const said = new Set(wordsOf(text).map(stem));
  const chosen = parameter.choices.filter((choice) => wordsOf(choice).every((word) => said.has(stem(word))));
  const quoted = Array.from(text.matchAll(QUOTED), (match) => match[1] ?? '');
  const items = chosen.length > 0 ? chosen : quoted;
  return items.length > 0 ? items : undefined;
}

interface NumberFound {
  value: number;
  /** Place among the words of the text. */
  at: number;
  isWord: boolean;
}

const NUMBER_WORDS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');

function findNumbers(text: string): NumberFound[] {
  return numberedWords(text).flatMap((word, at): NumberFound[] => {
    if (/^\d+(?:[.,]\d+)?$/.test(word)) return [{ value: Number(word.replace(',', '.')), at, isWord: false }];
    const value = NUMBER_WORDS.indexOf(word);
    return value < 0 ? [] : [{ value, at, isWord: true }];
  });
}

function numberedWords(text: string): string[] {
  return text.toLowerCase().match(/\d+(?:[.,]\d+)?(?!\w)|[\p{L}\p{N}]+/gu) ?? [];
}

/** A number belongs to the words right beside it: "for two people", "party of 4". */
const NEAR_WORDS = 2;
const MINUTES_PER_HOUR = 60;

function readNumber(parameter: Parameter, context: Context): number | undefined {
  const words = numberedWords(context.rest);
  const labels = stems(`${parameter.name} ${parameter.description}`);
  const isLabelled = ({ at }: NumberFound): boolean =>
    words.some((word, index) => Math.abs(index - at) <= NEAR_WORDS && index !== at && labels.has(stem(word)));
  const length = lengthOfTime(parameter, context.rest);
  if (length !== undefined) return length;
  const isOnlyTaker = context.parameters.filter((other) => other.kind === 'number').length === 1;
  // "one" is more often "one of these" than a number; it needs its label.
  const unlabelled =
    isOnlyTaker && !isMeasuredInTime(parameter)
      ? context.numbers.filter((number) => number.value !== 1 || !number.isWord)
      : [];
  const found = context.numbers.find(isLabelled) ?? (unlabelled.length === 1 ? unlabelled[0] : undefined);
  return found !== undefined && isWithin(parameter, found.value) ? found.value : undefined;
}

function isMeasuredInTime(parameter: Parameter): boolean {
  return /minute|hour|duration/i.test(`${parameter.name} ${parameter.description}`);
}

/** "an hour", "half an hour", "90 minutes" for a parameter that counts minutes or hours. */
function lengthOfTime(parameter: Parameter, text: string): number | undefined {
  if (!isMeasuredInTime(parameter)) return undefined;
  const said = /\b(half an|an|a|\d+(?:[.,]\d+)?|[a-z]+)[\s-]+(hours?|minutes?|mins?)\b/i.exec(text);
  if (!said) return undefined;
  const amount = amountOf((said[1] ?? '').toLowerCase());
  if (amount === undefined) return undefined;
  const minutes = /^hour/i.test(said[2] ?? '') ? amount * MINUTES_PER_HOUR : amount;
  const inMinutes = /minute/i.test(`${parameter.name} ${parameter.description}`);
  const value = inMinutes ? minutes : minutes / MINUTES_PER_HOUR;
  return isWithin(parameter, value) ? value : undefined;
}

function amountOf(word: string): number | undefined {
  if (word === 'half an') return 0.5;
  if (word === 'a' || word === 'an') return 1;
  const value = NUMBER_WORDS.includes(word) ? NUMBER_WORDS.indexOf(word) : Number(word.replace(',', '.'));
  return Number.isFinite(value) ? value : undefined;
}

function isWithin(parameter: Parameter, value: number): boolean {
  const { minimum, maximum, isInteger } = parameter;
  return (
    (!isInteger || Number.isInteger(value)) &&
    (minimum === undefined || value >= minimum) &&
    (maximum === undefined || value <= maximum)
  );
}

const YES = /^\s*(?:yes|yeah|yep|sure|please do|of course)\b/i;
const NO = /^\s*(?:no|nope|not)\b/i;
const NEGATIONS = ['no', 'not', 'without', 'dont', 'don', 'never'];

/** Words before a mention that a "without" reaches over. */
const NEGATION_REACH = 3;

function readBoolean(parameter: Parameter, context: Context): boolean | undefined {
  const words = wordsOf(context.text);
  const labels = stems(parameter.name);
  const mention = words.findIndex((word) => labels.has(stem(word)));
  if (mention >= 0) {
    const before = words.slice(Math.max(0, mention - NEGATION_REACH), mention);
    return !before.some((word) => NEGATIONS.includes(word));
  }
  if (!context.asked.includes(parameter)) return undefined;
  if (YES.test(context.text)) return true;
  return NO.test(context.text) ? false : undefined;
}
