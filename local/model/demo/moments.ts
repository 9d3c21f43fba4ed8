// Dates and times of day in what people write.
import * as chrono from 'chrono-node';
import { DateTime } from 'luxon';

/** A value and where the text says it. */
export interface Found<T> {
  value: T;
  start: number;
  end: number;
}

/** "Friday week", "a week", "an hour": spans and vague times, which name no day. */
const NO_DAY = /\b(?:hours?|minutes?|now|weeks?|months?|years?)\b/i;
const ORDINAL_DAY = /\bthe (\d{1,2})(?:st|nd|rd|th)\b(?!\s+(?:one|option|of)\b)/gi;
const DAY_AFTER_TOMORROW = /\b(?:the )?day after tomorrow\b/gi;

/** Days that a text names, as `YYYY-MM-DD` in the order of the text; those without a year lie ahead of `now`. */
export function findDates(text: string, now: DateTime): Found<string>[] {
  const parser = now.zoneName?.startsWith('America/') ? chrono.en.casual : chrono.en.GB;
  const reference = { instant: now.toJSDate(), timezone: now.offset };
  // The parser reads only the last word of this phrase; the replacement has the same length to keep positions.
  const readable = text.replace(DAY_AFTER_TOMORROW, (phrase) => 'in two days'.padEnd(phrase.length));
  const parsed = parser.parse(readable, reference, { forwardDate: true });
  const named = parsed
    .filter((result) => namesDay(result.start) && isDay(result.text) && standsAlone(readable, result))
    .flatMap((result): Found<string>[] => {
      const span = { start: result.index, end: result.index + result.text.length };
      const ends = [result.start, ...(result.end && namesDay(result.end) ? [result.end] : [])];
      return ends.map((components) => ({ value: nearestYear(components, now), ...span }));
    });
  return [...named, ...ordinalDays(text, now)].sort((one, other) => one.start - other.start);
}

/** The parser also reads days into parts of codes ("7Q" in "K-7Q2F"). */
function standsAlone(text: string, { index, text: words }: { index: number; text: string }): boolean {
  return !/[\w-]$/.test(text.slice(0, index)) && !/^\w/.test(text.slice(index + words.length));
}

function isDay(words: string): boolean {
  return (
    !NO_DAY.test(words) || /\d{4}-\d{2}-\d{2}/.test(words) || /\b(?:in|next|this)\b.*\bdays?\b/i.test(words)
  );
}

function namesDay(components: chrono.ParsedComponents): boolean {
  return components.isCertain('day') || components.isCertain('weekday');
}

/** The parser sends a date that is today a year ahead; people who write today's date mean today. */
function nearestYear(components: chrono.ParsedComponents, now: DateTime): string {
  const day = now.set({
    year: components.get('year') ?? now.year,
    month: components.get('month') ?? now.month,
    day: components.get('day') ?? now.day,
  });
  const yearBefore = day.minus({ years: 1 });
  const isToday = !components.isCertain('year') && yearBefore.hasSame(now, 'day');
  return (isToday ? yearBefore : day).toFormat('yyyy-MM-dd');
}

function ordinalDays(text: string, now: DateTime): Found<string>[] {
  return Array.from(text.matchAll(ORDINAL_DAY)).flatMap((match) => {
    const wanted = Number(match[1]);
    const month = wanted >= now.day ? now : now.plus({ months: 1 });
    const day = month.set({ day: wanted });
    if (day.day !== wanted) return [];
    return [{ value: day.toFormat('yyyy-MM-dd'), start: match.index, end: match.index + match[0].length }];
  });
}

const NUMBER_WORDS = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');
const HOUR = `(?<hour>\\d{1,2}|${NUMBER_WORDS.join('|')})`;
const MINUTE = '(?<minute>[0-5]\\d)';
const HALF_OF_DAY = '\\s*(?<half>[ap])\\.?m\\b\\.?';
const NOT_INSIDE_NUMBER = '(?<![\\d:.-])';
// "Monday 9", but not "Monday 9 December".
const AFTER_WEEKDAY = '(?<=\\b(?:mon|tues|wednes|thurs|fri|satur|sun)day )';
const MONTH = '\\s+(?:of\\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)';

/** Ways to write a time, the surest first: a place that one has read is not read again. */
const TIMES = [
  `${NOT_INSIDE_NUMBER}(?<hour>[01]?\\d|2[0-3])[:h]${MINUTE}(?::[0-5]\\d)?(?!\\d)(?:${HALF_OF_DAY})?`,
  `\\bat (?<hour>\\d{1,2})\\.${MINUTE}(?:${HALF_OF_DAY})?`,
  `\\b(?<offset>half past|quarter past|quarter to) ${HOUR}\\b(?:${HALF_OF_DAY})?`,
  `${NOT_INSIDE_NUMBER}\\b${HOUR}${HALF_OF_DAY}`,
  `\\b${HOUR}\\s+o['’]?clock\\b`,
  `${AFTER_WEEKDAY}(?<hour>\\d{1,2})\\b(?!\\s*[:.]\\d|(?:st|nd|rd|th)\\b|${MONTH})`,
  `\\b(?:at|around|about|by) ${HOUR}\\b(?!\\s*[:.]\\d|\\s+(?:people|persons?|of)\\b)`,
  '\\b(?:at )?(?<named>noon|midday|midnight)\\b',
].map((pattern) => new RegExp(pattern, 'gi'));
const BARE_HOUR = new RegExp(`${NOT_INSIDE_NUMBER}\\b${HOUR}\\b(?![:.]?\\d)`, 'gi');

/** Minutes that the words before an hour add to it. */
const OFFSETS = new Map([
  ['half past', 30],
  ['quarter past', 15],
  ['quarter to', -15],
]);
const NAMED = new Map([
  ['noon', '12:00'],
  ['midday', '12:00'],
  ['midnight', '00:00'],
]);

/** From these hours on, without "am" or "pm", people mean the morning; before, hardly anybody means the night. */
const FIRST_MORNING_HOUR = 7;
const NOON = 12;
const LAST_HOUR = 23;

/**
 * Times of day as `HH:MM` in the order of the text. `bareHours` reads a lone number as an hour as well: only
 * right where a time was asked for.
 */
export function findTimes(text: string, options: { bareHours?: boolean } = {}): Found<string>[] {
  const isLate = /\b(?:afternoon|evening|night|tonight)\b/i.test(text);
  const isEarly = /\bmorning\b/i.test(text);
  const found: Found<string>[] = [];
  for (const pattern of options.bareHours ? [...TIMES, BARE_HOUR] : TIMES) {
    for (const match of text.matchAll(pattern)) {
      const span = { start: match.index, end: match.index + match[0].length };
      const value = timeOf(match.groups ?? {}, { isLate, isEarly });
      if (value !== undefined && !found.some((other) => overlaps(other, span)))
        found.push({ value, ...span });
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

function timeOf(
  groups: { [name: string]: string | undefined },
  day: { isLate: boolean; isEarly: boolean },
): string | undefined {
  const named = NAMED.get((groups['named'] ?? '').toLowerCase());
  if (named !== undefined) return named;
  const said = (groups['hour'] ?? '').toLowerCase();
  const hour = NUMBER_WORDS.includes(said) ? NUMBER_WORDS.indexOf(said) + 1 : Number(said);
  const offset = OFFSETS.get((groups['offset'] ?? '').toLowerCase()) ?? 0;
  const clock = DateTime.fromObject({ hour: 0 }, { zone: 'utc' }).set({
    minute: Number(groups['minute'] ?? 0),
  });
  if (hour > LAST_HOUR) return undefined;
  return clock
    .set({ hour: onTheClock(hour, said, groups['half'], day) })
    .plus({ minutes: offset })
    .toFormat('HH:mm');
}

function onTheClock(
  hour: number,
  said: string,
  half: string | undefined,
  day: { isLate: boolean; isEarly: boolean },
): number {
  if (half !== undefined) return (hour % NOON) + (half.toLowerCase() === 'p' ? NOON : 0);
  const isAmbiguous = hour > 0 && hour < NOON && !said.startsWith('0');
  if (!isAmbiguous || day.isEarly) return hour;
  return day.isLate || hour < FIRST_MORNING_HOUR ? hour + NOON : hour;
}

export function overlaps(
  one: { start: number; end: number },
  other: { start: number; end: number },
): boolean {
  return one.start < other.end && other.start < one.end;
}

/** The text with the given places blanked out, same length. */
export function blankOut(text: string, places: { start: number; end: number }[]): string {
  return places.reduce(
    (rest, { start, end }) => rest.slice(0, start) + ' '.repeat(end - start) + rest.slice(end),
    text,
  );
}
