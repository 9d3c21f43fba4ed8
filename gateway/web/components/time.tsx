// Times: relative, with the absolute one at hand, in the business's time zone.
import { DateTime } from 'luxon';
import { lengthInWords, relativeTime } from '../assets/relative-time.js';

export interface Clock {
  now: Date;
  timeZone: string;
}

/** "Sat 5 Dec 2026, 14:05". */
export function absoluteTime(at: Date, { timeZone }: { timeZone: string }): string {
  return DateTime.fromJSDate(at, { zone: timeZone }).setLocale('en-GB').toFormat('ccc d LLL yyyy, HH:mm');
}

/** "14:05" today, otherwise with the day. */
export function shortTime(at: Date, { now, timeZone }: Clock): string {
  const local = DateTime.fromJSDate(at, { zone: timeZone }).setLocale('en-GB');
  const isToday = local.hasSame(DateTime.fromJSDate(now, { zone: timeZone }), 'day');
  return local.toFormat(isToday ? 'HH:mm' : 'ccc d LLL, HH:mm');
}

/** "Today", "Yesterday", "Saturday 5 December". */
export function dayInWords(at: Date, { now, timeZone }: Clock): string {
  const day = DateTime.fromJSDate(at, { zone: timeZone }).setLocale('en-GB').startOf('day');
  const today = DateTime.fromJSDate(now, { zone: timeZone }).startOf('day');
  const distance = Math.round(today.diff(day, 'days').days);
  if (distance === 0) return 'Today';
  if (distance === 1) return 'Yesterday';
  return day.toFormat('cccc d LLLL');
}

/** `with`: what stands beside the relative time; by default the absolute one is in the title only. */
export function Time({ at, clock, absolute }: { at: Date; clock: Clock; absolute?: boolean }): JSX.Element {
  const full = `${absoluteTime(at, clock)} (${clock.timeZone})`;
  return (
    <span class="when">
      <time datetime={at.toISOString()} title={full} data-relative safe>
        {relativeTime(at.getTime(), clock.now.getTime())}
      </time>
      {absolute ? (
        <span class="quiet" title={clock.timeZone} safe>
          {` · ${shortTime(at, clock)}`}
        </span>
      ) : null}
    </span>
  );
}

/** How long something took, or has been taking. */
export function Duration({ from, to }: { from: Date; to: Date }): JSX.Element {
  return <span safe>{lengthInWords((to.getTime() - from.getTime()) / 1000)}</span>;
}
