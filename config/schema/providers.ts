// The providers that configuration may name: the schema of their settings, and their operations. A provider that is added
// in activities/tools is registered here too: what is not listed can't be configured.
import { z } from 'zod';
import { namedWindows } from './values.js';

/** Slots of one bookable thing, kept in our own Postgres. Opening hours come from `business`. */
const bookings = z.strictObject({
  /** What is booked; part of the uniqueness of a slot, so a change of it starts an empty calendar. */
  resource: z.string().trim().min(1).max(64),
  slotMinutes: z.int().min(5).max(480),
  /** How far ahead a slot may be taken. */
  horizonDays: z.int().min(1).max(366),
  /** A slot that begins sooner than this can't be taken any more. */
  noticeMinutes: z.int().min(0).max(10_080),
  /** Windows by the names that tools use for a part of the day; a name that is absent means the whole day. */
  partsOfDay: namedWindows,
});

/** Opening hours and the date, from `business`: nothing to set. */
const business = z.strictObject({});

/** The pages in the tenant's folder `knowledge`, in the language of `business`. */
const knowledge = z.strictObject({
  /** How many passages an answer is made of. */
  passages: z.int().min(1).max(8),
  /** How long a passage may be; longer sections are cut. */
  passageCharacters: z.int().min(200).max(2_000),
  /** How much of the best passage is quoted in the summary. */
  quoteCharacters: z.int().min(80).max(600),
});

/** Questions to the people whom `operators` names. */
const operators = z.strictObject({
  /** Who is asked where a call names nobody: the id of an operator. Absent: the first one. */
  usually: z.string().trim().min(1).max(64).optional(),
  /** How many pictures and files go along with a question. */
  media: z.int().min(0).max(10),
  /** How many messages of the conversation go along. */
  messages: z.int().min(1).max(40),
});

export type OperatorsSettings = z.infer<typeof operators>;
export type BookingsSettings = z.infer<typeof bookings>;
export type KnowledgeSettings = z.infer<typeof knowledge>;

export const providers = z.strictObject({
  bookings: bookings.optional(),
  business: business.optional(),
  knowledge: knowledge.optional(),
  operators: operators.optional(),
});

/** Absent: no tool needs the provider. */
export type ProviderSettings = z.infer<typeof providers>;
export type ProviderName = keyof ProviderSettings;

/** `writes` keeps an operation that changes something from being configured with the effect `read`. */
export const OPERATIONS = {
  bookings: {
    listFreeSlots: { writes: false },
    reserveSlot: { writes: true },
    listBookings: { writes: false },
    cancelBooking: { writes: true },
    rescheduleBooking: { writes: true },
  },
  business: { openingHours: { writes: false }, currentDate: { writes: false } },
  knowledge: { search: { writes: false } },
  operators: { forwardToOperator: { writes: true }, forwardConversation: { writes: true } },
} as const satisfies Record<ProviderName, Record<string, { writes: boolean }>>;
