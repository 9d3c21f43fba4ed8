// What the tests that kill have in common: bookings that fit the sample calendar, and the table of what came of each point.
import { DateTime } from 'luxon';

const ZONE = 'Europe/Istanbul';

/** A customer who waits longer than this after everything is up again writes a second time. */
export const PATIENCE_MS = 40_000;

export interface Outcome {
  point: string;
  killed: string;
  messages: string;
  effects: number;
  /** Last words: "let me check" before them is not counted. */
  replies: number;
  /** Since all was up again (or the owner decided): until the last word, and until the next message was answered. */
  seconds: string;
  secondsToNext: string;
}

export function secondsSince(start: number): string {
  return ((Date.now() - start) / 1000).toFixed(1);
}

export function bookingOf(day: DateTime, time: string): string {
  return `Book ${day.toFormat('d LLLL')} at ${time} please`;
}

/** The next weekdays; the slots at 10:00, 11:00 and 14:00 are free in the sample calendar. */
export function workdays(count: number): DateTime[] {
  const today = DateTime.now().setZone(ZONE).startOf('day');
  return Array.from({ length: 14 }, (_, index) => today.plus({ days: index + 2 }))
    .filter((day) => day.weekday <= 5 && day.toISODate() !== '2027-01-01')
    .slice(0, count);
}

export function asTable(outcomes: Outcome[]): string {
  const head = [
    'point',
    'killed',
    'message',
    'effects',
    'last words',
    'seconds',
    'seconds to the next answer',
  ];
  const lines = [head, ...outcomes.map((one) => Object.values(one).map(String))];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => `      ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`)
    .join('\n');
}
