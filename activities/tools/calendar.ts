// Opening hours as instants, and moments in words. Wall-clock times of the business come in; a day that has 23 or 25
// hours has its own windows and slots.
import { DateTime } from 'luxon';
import { WEEKDAYS, type Business, type TimeWindow } from '../../config/configuration.js';

/** A stretch of time in the business's own zone; `end` is not part of it. */
export interface Stretch {
  start: DateTime;
  end: DateTime;
}

/** Midnight of a local date `YYYY-MM-DD`. */
export function dayOf({ timeZone }: Business, date: string): DateTime {
  return DateTime.fromISO(date, { zone: timeZone }).startOf('day');
}

export function localTime({ timeZone }: Business, instant: Date): DateTime {
  return DateTime.fromJSDate(instant, { zone: timeZone });
}

/** The windows of a day as configuration writes them; none when it is closed. */
export function windowsOn({ openingHours, closedDates }: Business, day: DateTime): TimeWindow[] {
  const weekday = WEEKDAYS[day.weekday - 1];
  return weekday === undefined || closedDates.includes(isoDate(day)) ? [] : openingHours[weekday];
}

export function openOn(business: Business, day: DateTime): Stretch[] {
  return windowsOn(business, day).map(({ from, to }) => ({ start: at(day, from), end: at(day, to) }));
}

/** A clock time of a day. `24:00` is the next midnight. */
export function at(day: DateTime, clock: string): DateTime {
  const [hour = 0, minute = 0] = clock.split(':').map(Number);
  const midnight = day.startOf('day');
  return hour === 24 ? midnight.plus({ days: 1 }) : midnight.set({ hour, minute });
}

export function isoDate(day: DateTime): string {
  return day.toFormat('yyyy-MM-dd');
}

export function clockOf(moment: DateTime): string {
  return moment.toFormat('HH:mm');
}

// Summaries are in one language throughout; whoever answers the customer puts them into theirs.

/** `Monday 7 December` */
export function dayInWords(day: DateTime): string {
  return day.setLocale('en').toFormat('cccc d LLLL');
}

/** `Monday 7 December at 09:00` */
export function momentInWords(moment: DateTime): string {
  return `${dayInWords(moment)} at ${clockOf(moment)}`;
}

/** `09:00–12:30 and 13:30–18:00` */
export function windowsInWords(windows: readonly TimeWindow[]): string {
  return inWords(windows.map(({ from, to }) => `${from}–${to}`));
}

/** `a`, `a and b`, `a, b and c`. */
export function inWords(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`;
}
