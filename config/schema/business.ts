import { z } from 'zod';
import { WEEKDAYS } from '../calendar.js';
import { date, key, language, line, secretName, text, textOfForm, timeZone, windowsOfDay } from './values.js';

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
  /** Said once when a session opens, by language. Absent: nothing is said. */
  firstMessage: z.record(language, text).optional(),
});

const digits = textOfForm(/^\d{5,20}$/, 'the digits of the id, 5 to 20 of them, in quotes');
const phoneNumber = textOfForm(
  /^\+[1-9]\d{6,14}$/,
  'an international number such as "+905550001122", in quotes',
);
const template = z.strictObject({
  name: textOfForm(/^[a-z0-9_]{1,512}$/, 'the name of an approved template'),
  language: line,
});

const whatsappAccount = z.strictObject({
  /** The platform's phone number id. */
  accountKey: digits,
  displayNumber: phoneNumber,
  profile: key.default('desk'),
  graphVersion: textOfForm(/^v\d{1,3}\.\d{1,2}$/, 'a version of the Graph API such as v25.0').default(
    'v25.0',
  ),
  accessToken: secretName,
  /** Two while the secret is being rotated. */
  appSecrets: z.array(secretName).min(1).max(2),
  verifyToken: secretName,
  /** What the platform allows the number; 20 where the number is also used with the app. */
  messagesPerSecond: z.int().min(1).max(1_000).default(80),
  /** Approved templates for what has to be said outside the 24-hour window. Absent: it can't be said. */
  templates: z
    .strictObject({
      approvalRequest: template.optional(),
      lateAnswer: template.optional(),
      operatorRequest: template.optional(),
      ownerNotice: template.optional(),
    })
    .default({}),
});

export const channels = z.strictObject({
  web: z.strictObject({ accountKey: key, profile: key.default('instant') }),
  whatsapp: z.array(whatsappAccount).max(200).default([]),
});

/** Verified addresses of a person, by channel. Who writes from one is that person. */
const addresses = z
  .strictObject({ whatsapp: z.array(phoneNumber).max(5).default([]) })
  .default({ whatsapp: [] });

export const owners = z
  .array(z.strictObject({ id: key, name: line, addresses, groups: z.array(key).max(20).default([]) }))
  .min(1);

/** People who answer questions that the assistant forwards. */
export const operators = z.array(z.strictObject({ id: key, name: line, addresses })).max(100);

export const forwarding = z.strictObject({
  expiresAfterMinutes: z.int().min(1).max(10_080),
  /** Absent: nobody is reminded. */
  remindAfterMinutes: z.int().min(1).max(10_080).optional(),
});

const shiftTime = textOfForm(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time as "22:00", in quotes');

/** When people are at the desk. The assistant is active outside these hours (spec B8). */
export const shift = z.strictObject({
  enabled: z.boolean(),
  /** A window whose end is not after its beginning ends on the next day. A day without an entry: the assistant is active. */
  staffed: z.partialRecord(
    z.enum(WEEKDAYS),
    z.array(z.strictObject({ from: shiftTime, to: shiftTime })).max(6),
  ),
});
