import { z } from 'zod';
import { WEEKDAYS } from '../calendar.js';
import { date, key, language, line, text, timeZone, windowsOfDay } from './values.js';

export const business = z.strictObject({
  name: line,
  description: text,
  timeZone,
  language,
  openingHours: z.record(z.enum(WEEKDAYS), windowsOfDay),
  closedDates: z.array(date),
});

export const assistant = z.strictObject({
  roleId: key,
  brief: text,
  languages: z.array(language).min(1),
});

export const channels = z.strictObject({ web: z.strictObject({ accountKey: key }) });

export const owners = z.array(z.strictObject({ id: key, name: line })).min(1);
