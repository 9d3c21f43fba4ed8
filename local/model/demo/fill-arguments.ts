// The arguments of a chosen tool: from the customer's request, from their answers to questions about it, and for
// what is required from earlier talk.
import type { DateTime } from 'luxon';
import type { Turn } from '../conversation.js';
import { findDates, findTimes } from './moments.js';
import type { Parameter } from './parameters.js';
import { instantOf, readValues, takesTime, type Values } from './read-values.js';
import { wordsOf } from './words.js';

export interface Filled {
  values: Values;
  missing: Parameter[];
}

export interface Request {
  turns: Turn[];
  /** Places in `turns`: the message that began the request, then the answers to questions about it. */
  messages: number[];
  now: DateTime;
}

/** Words that point back to what was talked about. */
const POINTING_BACK =
  /\b(?:it|that|this|those|them|these|same|there|then|one|first|second|third|fourth|fifth|last)\b(?!\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day)/i;

/** Talk from further back is about something else. */
const LOOK_BACK_TURNS = 8;

/** Later messages win over earlier ones; only required arguments are looked for before the request. */
export function fillArguments(parameters: Parameter[], request: Request): Filled {
  const { turns, messages, now } = request;
  let values: Values = {};
  let asked: Parameter[] = [];
  for (const index of messages) {
    const text = turns[index]?.text ?? '';
    values = { ...values, ...readValues(parameters, { text, now, asked }) };
    if (index === messages[0]) values = withEarlier(parameters, values, request);
    asked = missingOf(parameters, values);
  }
  return { values: completed(parameters, values), missing: asked };
}

function missingOf(parameters: Parameter[], values: Values): Parameter[] {
  return parameters.filter(
    ({ name, required, fallback }) => required && values[name] === undefined && fallback === undefined,
  );
}

function completed(parameters: Parameter[], values: Values): Values {
  const filled: Values = {};
  for (const { name, required, fallback, fillWithNull } of parameters) {
    const value = values[name] ?? (required ? fallback : undefined) ?? (fillWithNull ? null : undefined);
    if (value !== undefined) filled[name] = value;
  }
  return filled;
}

/**
 * A request that gives none of the required arguments and points at nothing starts afresh: what was agreed before
 * is not repeated unasked. A day that is talked about stays, a time belongs to its day.
 */
function withEarlier(parameters: Parameter[], values: Values, request: Request): Values {
  const start = request.messages[0] ?? 0;
  const message = request.turns[start]?.text ?? '';
  const pointsBack = POINTING_BACK.test(message);
  const gives = parameters.some((parameter) => parameter.required && values[parameter.name] !== undefined);
  const earlier = earlierTurns(request.turns.slice(0, start));
  const found: Values = { ...values };
  for (const parameter of missingOf(parameters, values)) {
    if (!pointsBack && !gives && !isPersonal(parameter)) continue;
    if (
      parameter.kind === 'time' &&
      !pointsBack &&
      parameters.some(({ name, kind }) => kind === 'date' && values[name] !== undefined)
    )
      continue;
    const value = earlierValue(parameter, { parameters, earlier, message, now: request.now });
    if (value !== undefined) found[parameter.name] = value;
  }
  return found;
}

/**
 * Where to look, in this order: what people said, newest first; then data, the newest message first, within one
 * message as it lists them.
 */
function earlierTurns(before: Turn[]): Turn[] {
  const spoken = before
    .filter((turn) => turn.speaker !== 'data')
    .slice(-LOOK_BACK_TURNS)
    .reverse();
  const data = before
    .filter((turn) => turn.speaker === 'data')
    .sort((one, other) => other.message - one.message);
  return [...spoken, ...data];
}

/** Who somebody is doesn't change from one request to the next. */
function isPersonal(parameter: Parameter): boolean {
  return parameter.kind === 'email' || parameter.kind === 'phone' || /(?:^|_)name$/i.test(parameter.name);
}

interface Looking {
  parameters: Parameter[];
  /** In the order in which to look. */
  earlier: Turn[];
  message: string;
  now: DateTime;
}

function earlierValue(parameter: Parameter, looking: Looking): unknown {
  const { now, message } = looking;
  switch (parameter.kind) {
    case 'date':
      return firstNamed(looking, (text) => datesOf(text, now));
    case 'time':
      return firstNamed(looking, (text) => timesOf(text));
    case 'dateTime': {
      const date = datesOf(message, now)[0] ?? firstNamed(looking, (text) => datesOf(text, now));
      const time = timesOf(message)[0] ?? firstNamed(looking, (text) => timesOf(text));
      return date === undefined || time === undefined ? undefined : instantOf(date, time, now);
    }
    default:
      return earlierOther(parameter, looking);
  }
}

const datesOf = (text: string, now: DateTime): string[] => findDates(text, now).map((found) => found.value);
const timesOf = (text: string): string[] => findTimes(text).map((found) => found.value);

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth'];

/**
 * The value of the first turn that names any. A turn that names several settles nothing, unless the message says
 * which ("the second one", "the last one").
 */
function firstNamed({ earlier, message }: Looking, valuesOf: (text: string) => string[]): string | undefined {
  const named =
    earlier.map((turn) => [...new Set(valuesOf(turn.text))]).find((values) => values.length > 0) ?? [];
  if (named.length === 1) return named[0];
  const words = wordsOf(message);
  const place = ORDINALS.findIndex((ordinal) => words.includes(ordinal));
  return place >= 0 ? named[place] : words.includes('last') ? named.at(-1) : undefined;
}

function earlierOther(parameter: Parameter, { parameters, earlier, now }: Looking): unknown {
  for (const turn of earlier) {
    const value =
      turn.speaker === 'data'
        ? fieldOf(parameter.name, turn.text)
        : spokenValue(parameter, parameters, turn, now);
    if (value !== undefined) return value;
  }
  return undefined;
}

function spokenValue(parameter: Parameter, parameters: Parameter[], turn: Turn, now: DateTime): unknown {
  // What the assistant says is prose about many things; only a value of a fixed form is safe to take from it.
  if (turn.speaker === 'assistant' && parameter.kind !== 'pattern') return undefined;
  if (takesTime(parameter)) return undefined;
  return readValues(parameters, { text: turn.text, now, asked: [] })[parameter.name];
}

/** A field of the same name in a tool's JSON result, if there is exactly one. */
function fieldOf(name: string, text: string): unknown {
  try {
    const values = new Set(fieldsNamed(wordsOf(name).join(' '), JSON.parse(text)));
    return values.size === 1 ? [...values][0] : undefined;
  } catch {
    return undefined;
  }
}

function fieldsNamed(label: string, value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, field]: [string, unknown]) =>
    typeof field === 'object' ? fieldsNamed(label, field) : wordsOf(key).join(' ') === label ? [field] : [],
  );
}
