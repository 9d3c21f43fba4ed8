// When people are at the desk and when the assistant is active (spec B8): outside of staffed hours, which are wall-clock
// times of the business. Instants come out; nobody else counts hours.
import { DateTime } from 'luxon';
import { WEEKDAYS, type TimeWindow } from './calendar.js';
import type { Shift } from './configuration.js';

export interface DeskHours {
  shift: Shift;
  /** IANA name. */
  timeZone: string;
}

export interface ShiftChange {
  at: Date;
  /** From then on. */
  isActive: boolean;
}

/** Whether the assistant answers at this instant. */
export function isAssistantActive(hours: DeskHours, at: Date): boolean {
  // What is staffed now began today or yesterday.
  return !hours.shift.enabled || !isWithin(staffedTimes(hours, at, { before: 1, after: 0 }), at.getTime());
}

/** The next instant after `at` at which it changes hands. Undefined: it doesn't. */
export function nextChange(hours: DeskHours, at: Date): ShiftChange | undefined {
  return changesAround(hours, at).find((change) => change.at > at);
}

/** The next instant after `at` at which the people at the desk leave it. Undefined: they don't. */
export function nextClosing(hours: DeskHours, at: Date): Date | undefined {
  return changesAround(hours, at).find((change) => change.at > at && change.isActive)?.at;
}

/** Since when people have been at the desk. Undefined: nobody is there, or somebody has always been. */
export function staffedSince(hours: DeskHours, at: Date): Date | undefined {
  if (isAssistantActive(hours, at)) return undefined;
  return changesAround(hours, at).findLast((change) => change.at <= at && !change.isActive)?.at;
}

/** Every window of a schedule comes by in a week; a day more, whatever the clocks do meanwhile. */
const HORIZON_MS = 8 * 24 * 3_600_000;
/** Windows are known beyond the horizon, so that none seems to end there. */
const BEYOND = { before: 10, after: 10 };

function changesAround(hours: DeskHours, at: Date): ShiftChange[] {
  if (!hours.shift.enabled) return [];
  const staffed = staffedTimes(hours, at, BEYOND);
  const boundaries = [...new Set(staffed.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  // Windows may touch or overlap: where one ends and another goes on, nothing changes.
  return boundaries
    .map((instant) => ({ instant, isActive: !isWithin(staffed, instant) }))
    .filter(({ instant, isActive }) => isActive === isWithin(staffed, instant - 1))
    .filter(({ instant }) => Math.abs(instant - at.getTime()) <= HORIZON_MS)
    .map(({ instant, isActive }) => ({ at: new Date(instant), isActive }));
}

interface Interval {
  from: number;
  to: number;
}

function isWithin(intervals: Interval[], instant: number): boolean {
  return intervals.some(({ from, to }) => from <= instant && instant < to);
}

function staffedTimes(
  { shift, timeZone }: DeskHours,
  at: Date,
  { before, after }: { before: number; after: number },
): Interval[] {
  const today = DateTime.fromJSDate(at, { zone: timeZone });
  return Array.from({ length: before + 1 + after }, (_, index) =>
    today.plus({ days: index - before }),
  ).flatMap((day) => {
    const weekday = WEEKDAYS[day.weekday - 1];
    const windows = weekday && shift.staffed[weekday];
    return (windows ?? []).map((window) => intervalOn(day, window));
  });
}

/** A window belongs to the day it starts, also where it ends on the next. */
function intervalOn(day: DateTime, { from, to }: TimeWindow): Interval {
  const lastDay = to > from ? day : day.plus({ days: 1 });
  return { from: instantOf(day, from), to: instantOf(lastDay, to) };
}

/**
 * A wall-clock time as an instant. Of a time that the clocks show twice the first counts; a time that they skip is the moment
 * of the skip.
 */
function instantOf({ year, month, day, zone }: DateTime, time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const local = DateTime.fromObject({ year, month, day, hour, minute }, { zone });
  const first = local.getPossibleOffsets().reduce((one, other) => (other < one ? other : one));
  return first.hour === hour && first.minute === minute ? first.toMillis() : skipBefore(first).toMillis();
}

/** Luxon moves a skipped time on by the length of the gap: the clocks jumped less than that before. */
function skipBefore(moved: DateTime): DateTime {
  const earlier = moved.minus({ minutes: 1 });
  return earlier.offset === moved.offset ? skipBefore(earlier) : moved;
}
