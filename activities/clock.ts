// Dates and times as a business sees them: in its own time zone, in words of its language.
import { DateTime } from 'luxon';
import type { Business } from '../config/configuration.js';

type Place = Pick<Business, 'timeZone' | 'language'>;

/** For prompts: `2026-11-30T18:48 (Monday) Europe/Istanbul`. Unambiguous, and the weekday spares the model arithmetic. */
export function nowForModels({ timeZone }: Place, now = new Date()): string {
  const local = DateTime.fromJSDate(now, { zone: timeZone });
  return `${local.toFormat("yyyy-MM-dd'T'HH:mm (cccc)", { locale: 'en' })} ${timeZone}`;
}

/** For people: `Monday 30 November 2026` and `18:48`. */
export function nowForPeople(
  { timeZone, language }: Place,
  now = new Date(),
): { date: string; time: string } {
  const local = DateTime.fromJSDate(now, { zone: timeZone }).setLocale(language);
  return { date: local.toFormat('cccc d LLLL yyyy'), time: local.toFormat('HH:mm') };
}

/** The instant at which today began for this business. */
export function startOfDay({ timeZone }: Place, now = new Date()): Date {
  return DateTime.fromJSDate(now, { zone: timeZone }).startOf('day').toJSDate();
}
