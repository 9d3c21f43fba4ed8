// What a business says of itself in its configuration: when it is open, and what day and time it is there.
//
// Operations and their arguments:
//   openingHours  date? (YYYY-MM-DD), time? (HH:MM, on that date or today); neither: now and the usual week
//   currentDate   –
import type { DateTime } from 'luxon';
import { WEEKDAYS, type Business } from '../../config/configuration.js';
import type { JsonObject } from '../../workflows/domain/tool.js';
import {
  at,
  clockOf,
  dayInWords,
  dayOf,
  inWords,
  isoDate,
  localTime,
  openOn,
  windowsInWords,
  windowsOn,
} from './calendar.js';
import type { ToolCall, ToolProvider } from './provider.js';

/** Closed dates beyond this are told when somebody asks about them. */
const CLOSED_DATES_AHEAD_DAYS = 21;
/** A business that opens less often than this is closed until further notice. */
const LOOK_AHEAD_DAYS = 60;

/** `now`: absent means the clock of this machine. */
export function createBusiness({ now = () => new Date() }: { now?: () => Date } = {}): ToolProvider {
  return {
    resultsAreUntrusted: false,
    operations: {
      openingHours: { call: async (call) => openingHours(call, now()) },
      currentDate: { call: async (call) => currentDate(call, now()) },
    },
  };
}

function openingHours({ configuration, arguments: values }: ToolCall, instant: Date): JsonObject {
  const { business } = configuration;
  const now = localTime(business, instant);
  const { date, time } = values;
  if (typeof date !== 'string' && typeof time !== 'string') return usualHours(business, now);
  const day = typeof date === 'string' ? dayOf(business, date) : now.startOf('day');
  const summary = typeof time === 'string' ? hoursAt(business, day, time) : hoursOn(business, day);
  return { days: [hoursOfDay(business, day)], summary };
}

function usualHours(business: Business, now: DateTime): JsonObject {
  const week = Array.from({ length: WEEKDAYS.length }, (_, ahead) =>
    now.startOf('day').plus({ days: ahead }),
  );
  const open = openOn(business, now).find(({ start, end }) => now >= start && now < end);
  const sentences = [
    open
      ? `We're open now, until ${endInWords(business, now)}.`
      : `We're closed now. ${nextOpening(business, now)}`,
    `Our usual hours: ${usualWeek(business)}.`,
    ...closedSoon(business, now),
  ];
  return {
    open_now: open !== undefined,
    days: week.map((day) => hoursOfDay(business, day)),
    summary: sentences.join(' '),
  };
}

function hoursOfDay(business: Business, day: DateTime): JsonObject {
  const hours = windowsOn(business, day).map(({ from, to }) => `${from}–${to}`);
  return { date: isoDate(day), day: dayInWords(day), hours };
}

function hoursOn(business: Business, day: DateTime): string {
  const windows = windowsOn(business, day);
  return windows.length > 0
    ? `On ${dayInWords(day)} we're open ${windowsInWords(windows)}.`
    : `We're closed on ${dayInWords(day)}. ${nextOpening(business, day.endOf('day'))}`;
}

function hoursAt(business: Business, day: DateTime, time: string): string {
  const moment = at(day, time);
  const isOpen = openOn(business, day).some(({ start, end }) => moment >= start && moment < end);
  if (isOpen) return `Yes, at ${time} on ${dayInWords(day)} we're open.`;
  const windows = windowsOn(business, day);
  return windows.length > 0
    ? `At ${time} on ${dayInWords(day)} we're closed. Our hours that day are ${windowsInWords(windows)}.`
    : hoursOn(business, day);
}

/** The end of the window that is open now, as configuration writes it: `24:00` rather than `00:00`. */
function endInWords(business: Business, now: DateTime): string {
  return windowsOn(business, now).find(({ to }) => now < at(now, to))?.to ?? '';
}

function nextOpening(business: Business, after: DateTime): string {
  for (let ahead = 0; ahead <= LOOK_AHEAD_DAYS; ahead += 1) {
    const day = after.startOf('day').plus({ days: ahead });
    const next = openOn(business, day).find(({ start }) => start > after);
    if (!next) continue;
    const when =
      ahead === 0 ? `at ${clockOf(next.start)}` : `on ${dayInWords(day)} at ${clockOf(next.start)}`;
    return `We open again ${when}.`;
  }
  return "I can't say when we open again.";
}

/** Neighbouring days with the same hours are said together: `Monday to Friday 09:00–18:00`. */
function usualWeek({ openingHours }: Business): string {
  const groups: { first: string; last: string; hours: string }[] = [];
  for (const weekday of WEEKDAYS) {
    const hours = windowsInWords(openingHours[weekday]) || 'closed';
    const name = weekday.charAt(0).toUpperCase() + weekday.slice(1);
    const current = groups.at(-1);
    if (current?.hours === hours) current.last = name;
    else groups.push({ first: name, last: name, hours });
  }
  return groups
    .map(({ first, last, hours }) => `${first === last ? first : `${first} to ${last}`} ${hours}`)
    .join(', ');
}

function closedSoon(business: Business, now: DateTime): string[] {
  const last = now.plus({ days: CLOSED_DATES_AHEAD_DAYS });
  const days = business.closedDates
    .toSorted()
    .map((date) => dayOf(business, date))
    .filter((day) => day >= now.startOf('day') && day <= last);
  return days.length === 0 ? [] : [`We're closed on ${inWords(days.map(dayInWords))}.`];
}

function currentDate({ configuration: { business } }: ToolCall, instant: Date): JsonObject {
  const now = localTime(business, instant);
  const date = `${dayInWords(now)} ${now.toFormat('yyyy')}`;
  return {
    date: isoDate(now),
    time: clockOf(now),
    time_zone: business.timeZone,
    summary: `It's ${date}, ${clockOf(now)}.`,
  };
}
