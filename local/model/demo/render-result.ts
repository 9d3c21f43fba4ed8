// A tool's JSON result as a short message that a person could have sent. The shape of the data decides, not its
// subject.
import { DateTime } from 'luxon';
import type { ToolResult } from '../conversation.js';
import { capitalized, humanLabel, joinList, wordsOf } from './words.js';

/** Fields in which a tool says itself what there is to say, best first. */
const SENTENCE_FIELDS = ['summary', 'message', 'answer', 'text'];
const ERROR_FIELDS = ['message', 'error', 'reason'];
/** Longer lists don't read on a phone. */
const LONGEST_LIST = 12;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/;
const ISO_INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;
/** A state as programs write it: `not_available`. */
const CODE_WORD = /^[a-z]+(?:_[a-z]+)+$/;
const CLOCK = /^\d{2}:\d{2}(?::\d{2})?$/;

/** Long hexadecimal or numeric strings under an `…id` name mean nothing to a reader. */
const isHiddenKey = (key: string): boolean => wordsOf(key).at(-1) === 'id' || /^(?:id|uuid|_.*)$/.test(key);

/** One message for all results of a turn. */
export function renderResults(results: ToolResult[], now: DateTime): string {
  return results.map((result) => renderOne(result, now)).join('\n');
}

function renderOne({ text, isError }: ToolResult, now: DateTime): string {
  const value = parsed(text);
  if (isError) return apology(value);
  if (typeof value === 'string') return value === '' ? 'That is done.' : withStop(value);
  if (Array.isArray(value)) return withStop(capitalized(listText(value, now) || 'I found nothing'));
  return isRecord(value)
    ? renderRecord(value, now)
    : withStop(capitalized(valueText(value, now) ?? 'That is done'));
}

function apology(value: unknown): string {
  const said = isRecord(value) ? ERROR_FIELDS.map((field) => value[field]).find(isText) : value;
  const reason = isText(said) && said.includes(' ') ? ` ${withStop(capitalized(said))}` : '';
  return `I'm sorry, that didn't work.${reason}`;
}

function renderRecord(record: Record<string, unknown>, now: DateTime): string {
  const sentence = SENTENCE_FIELDS.map((field) => record[field]).find(isText);
  if (sentence !== undefined) return withStop(sentence);
  const { moment, rest } = takeMoment(record, now);
  const parts = Object.entries(rest).flatMap(([key, value]) => fieldTexts(key, value, now));
  if (moment === undefined) return withStop(capitalized(parts.join('; ') || 'That is done'));
  return withStop(capitalized(parts.length > 0 ? `${moment}: ${parts.join('; ')}` : moment));
}

/** A day and a time that stand side by side are told together, first. */
function takeMoment(
  record: Record<string, unknown>,
  now: DateTime,
): { moment: string | undefined; rest: Record<string, unknown> } {
  const entries = Object.entries(record);
  const dates = entries.filter(([, value]) => isText(value) && ISO_DATE.test(value));
  const times = entries.filter(([, value]) => isText(value) && CLOCK.test(value));
  const date = dates[0];
  if (dates.length !== 1 || date === undefined) return { moment: undefined, rest: record };
  const time = times.length === 1 ? times[0] : undefined;
  const told = [date, ...(time ? [time] : [])];
  return {
    moment: told.map(([, value]) => valueText(value, now) ?? '').join(', '),
    rest: Object.fromEntries(entries.filter(([key]) => !told.some(([name]) => name === key))),
  };
}

function fieldTexts(key: string, value: unknown, now: DateTime): string[] {
  if (isHiddenKey(key)) return [];
  const label = humanLabel(key);
  if (Array.isArray(value)) {
    const items = listText(value, now);
    return [items === '' ? `${label}: nothing` : `${label} ${label.endsWith('s') ? 'are ' : ''}${items}`];
  }
  if (isRecord(value)) {
    const inner = Object.entries(value)
      .map(([name, field]) => ({ name, text: isHiddenKey(name) ? undefined : valueText(field, now) }))
      .filter((field) => field.text !== undefined);
    return inner.length > 0
      ? [`${label}: ${inner.map(({ name, text }) => `${humanLabel(name)} ${text ?? ''}`).join(', ')}`]
      : [];
  }
  const text = valueText(value, now);
  if (text === undefined) return [];
  if (typeof value === 'boolean') return [`${label}: ${text}`];
  if (/ (?:at|on|from|until|by)$/.test(label)) return [`${label} ${text}`];
  const unit = typeof value === 'number' ? UNIT.exec(label) : null;
  return [unit ? `${unit[1] ?? ''} is ${text} ${unit[2] ?? ''}` : `${label} is ${text}`];
}

/** A counted thing whose name ends in its unit: "duration minutes". */
const UNIT = /^(.+) (minutes|hours|days|weeks|seconds)$/;

function listText(list: unknown[], now: DateTime): string {
  const items = list.map((item) => itemText(item, now)).filter((text) => text !== '');
  const told = items.slice(0, LONGEST_LIST);
  const more = items.length - told.length;
  return joinList(more > 0 ? [...told, `${more} more`] : told);
}

function itemText(item: unknown, now: DateTime): string {
  if (!isRecord(item)) return valueText(item, now) ?? '';
  const { moment, rest } = takeMoment(item, now);
  const texts = Object.entries(rest)
    .filter(([key]) => !isHiddenKey(key))
    .map(([, value]) => (Array.isArray(value) ? listText(value, now) : valueText(value, now)))
    .filter((text) => text !== undefined && text !== '');
  return [...(moment === undefined ? [] : [moment]), ...texts].join(' ');
}

/** Undefined for what has nothing to say: ids, null, deeper objects. */
function valueText(value: unknown, now: DateTime): string | undefined {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return String(value);
  if (!isText(value) || UUID.test(value)) return undefined;
  if (ISO_DATE.test(value)) return dayText(DateTime.fromISO(value, { zone: now.zone }), now) ?? value;
  if (ISO_INSTANT.test(value)) {
    const instant = DateTime.fromISO(value, { zone: now.zone });
    return instant.isValid ? `${dayText(instant, now) ?? ''}, ${instant.toFormat('HH:mm')}` : value;
  }
  if (CLOCK.test(value)) return value.slice(0, 'HH:MM'.length);
  return CODE_WORD.test(value) ? humanLabel(value) : value;
}

/** "Saturday 5 December", with the year when it isn't this one's or the next months'. */
function dayText(day: DateTime, now: DateTime): string | undefined {
  if (!day.isValid) return undefined;
  const isNear = day.year === now.year || Math.abs(day.diff(now, 'months').months) < MONTHS_WITHOUT_YEAR;
  return day.setLocale('en-GB').toFormat(isNear ? 'cccc d LLLL' : 'cccc d LLLL yyyy');
}

/** Within this distance a day and a month are not mistaken for another year's. */
const MONTHS_WITHOUT_YEAR = 6;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.trim();
  }
}

function withStop(text: string): string {
  return /[.!?…:)]$/.test(text) ? text : `${text}.`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
