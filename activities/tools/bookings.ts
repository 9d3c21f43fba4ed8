// A calendar of slots on our own Postgres: opening hours and slot length from configuration, local times in, instants in
// the database. Summaries are written here, from what the database says, never by a model.
import { DateTime } from 'luxon';
import { WEEKDAYS, type TenantConfiguration } from '../../config/configuration.js';
import type { BookingsSettings } from '../../config/schema/providers.js';
import type { Database } from '../../prisma/database.js';
import { reservationOf, reserve, reservedSpans, type Span } from '../../prisma/stores/bookings.js';
import type { JsonObject } from '../../workflows/domain/tool.js';
import { ToolCallError, type ToolCall, type ToolProvider } from './provider.js';

/** One slot in the business's own time. */
interface Slot {
  start: DateTime;
  end: DateTime;
}

export function createBookings(database: Database): ToolProvider {
  return {
    resultsAreUntrusted: false,
    operations: {
      listFreeSlots: { call: (call) => listFreeSlots(database, call) },
      reserveSlot: {
        call: (call) => reserveSlot(database, call),
        didItHappen: (call) => wasReserved(database, call),
      },
    },
  };
}

async function listFreeSlots(database: Database, call: ToolCall): Promise<JsonObject> {
  const settings = settingsOf(call.configuration);
  const day = dayOf(call);
  const partOfDay = textOf(call.arguments, 'part_of_day');
  const slots = slotsOf(call.configuration, day).filter((slot) => isWithin(slot, settings, partOfDay));
  const taken = await database.inTenant(call.tenantId, (tx) =>
    reservedSpans(tx, {
      resource: settings.resource,
      startsAt: day.startOf('day').toJSDate(),
      endsAt: day.endOf('day').toJSDate(),
    }),
  );
  const free = slots
    .filter((slot) => isBookable(slot, settings) && !taken.some((span) => overlaps(slot, span)))
    .map((slot) => slot.start.toFormat('HH:mm'));
  return {
    date: day.toISODate() ?? '',
    day: inWords(day),
    free,
    summary: free.length > 0 ? `Free on ${inWords(day)}: ${free.join(', ')}.` : whyNothing(call, day, slots),
  };
}

function whyNothing(call: ToolCall, day: DateTime, slots: Slot[]): string {
  const settings = settingsOf(call.configuration);
  if (isTooFar(day, settings))
    return `${inWords(day)} is too far ahead: bookings open ${settings.horizonDays} days before.`;
  if (slotsOf(call.configuration, day).length === 0) return `We are closed on ${inWords(day)}.`;
  return slots.length === 0
    ? `We are closed then on ${inWords(day)}.`
    : `Nothing is free on ${inWords(day)} then.`;
}

async function reserveSlot(database: Database, call: ToolCall): Promise<JsonObject> {
  const settings = settingsOf(call.configuration);
  const day = dayOf(call);
  const time = textOf(call.arguments, 'time') ?? '';
  const slot = slotsOf(call.configuration, day).find(({ start }) => start.toFormat('HH:mm') === time);
  const when = `${inWords(day)}, ${time}`;
  if (!slot) return refusal('closed', when, `${when} can't be booked: it is no time of ours.`);
  if (isTooFar(day, settings)) return refusal('too_far', when, `${when} is too far ahead to be booked.`);
  if (!isBookable(slot, settings)) return refusal('too_late', when, `${when} is too soon to be booked.`);
  const outcome = await database
    .inTenant(call.tenantId, (tx) =>
      reserve(tx, {
        tenantId: call.tenantId,
        contactId: call.contactId,
        resource: settings.resource,
        startsAt: slot.start.toJSDate(),
        endsAt: slot.end.toJSDate(),
        requestKey: call.idempotencyKey,
        callBy: call.callBy,
      }),
    )
    .catch((cause: unknown) => {
      // The connection broke around a commit: whether it went through, only a later look can tell.
      throw new ToolCallError('unclear', { cause });
    });
  switch (outcome) {
    case 'reserved':
      return reserved(when);
    case 'taken':
      return refusal('taken', when, `${when} is already taken.`);
    case 'too_late':
      throw new ToolCallError('clean', { isTimeout: true });
  }
}

async function wasReserved(database: Database, call: ToolCall): Promise<JsonObject | false> {
  const span = await database.inTenant(call.tenantId, (tx) =>
    reservationOf(tx, { requestKey: call.idempotencyKey }),
  );
  if (!span) return false;
  const start = DateTime.fromJSDate(span.startsAt, { zone: call.configuration.business.timeZone });
  return reserved(`${inWords(start)}, ${start.toFormat('HH:mm')}`);
}

function reserved(when: string): JsonObject {
  return { status: 'reserved', when, summary: `You are booked for ${when}.` };
}

function refusal(status: string, when: string, summary: string): JsonObject {
  return { status, when, summary };
}

function settingsOf(configuration: TenantConfiguration): BookingsSettings {
  const settings = configuration.providers.bookings;
  if (!settings) throw new Error('a tool names the provider bookings, which has no settings');
  return settings;
}

function dayOf(call: ToolCall): DateTime {
  const { timeZone, language } = call.configuration.business;
  return DateTime.fromISO(textOf(call.arguments, 'date') ?? '', { zone: timeZone }).setLocale(language);
}

function textOf(values: JsonObject, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** All slots of a day by opening hours, whether free or not. Wall-clock arithmetic: a day with 23 hours has its own slots. */
export function slotsOf(configuration: TenantConfiguration, day: DateTime): Slot[] {
  const { openingHours, closedDates } = configuration.business;
  const weekday = WEEKDAYS[day.weekday - 1];
  if (!weekday || closedDates.includes(day.toISODate() ?? '')) return [];
  const { slotMinutes } = settingsOf(configuration);
  return openingHours[weekday].flatMap(({ from, to }) => {
    const slots: Slot[] = [];
    const closes = at(day, to);
    for (let start = at(day, from); ; start = start.plus({ minutes: slotMinutes })) {
      const end = start.plus({ minutes: slotMinutes });
      if (end > closes) return slots;
      slots.push({ start, end });
    }
  });
}

/** `24:00` is the next midnight. */
function at(day: DateTime, clock: string): DateTime {
  const [hour = 0, minute = 0] = clock.split(':').map(Number);
  return hour === 24 ? day.startOf('day').plus({ days: 1 }) : day.startOf('day').set({ hour, minute });
}

function isWithin(slot: Slot, settings: BookingsSettings, partOfDay: string | undefined): boolean {
  const window = partOfDay === undefined ? undefined : settings.partsOfDay[partOfDay];
  if (!window) return true;
  return slot.start >= at(slot.start, window.from) && slot.start < at(slot.start, window.to);
}

function isBookable(slot: Slot, settings: BookingsSettings): boolean {
  const earliest = DateTime.now().plus({ minutes: settings.noticeMinutes });
  return slot.start >= earliest && !isTooFar(slot.start, settings);
}

function isTooFar(day: DateTime, { horizonDays }: BookingsSettings): boolean {
  return day.startOf('day') > DateTime.now().setZone(day.zone).startOf('day').plus({ days: horizonDays });
}

function overlaps(slot: Slot, span: Span): boolean {
  return slot.start.toMillis() < span.endsAt.getTime() && slot.end.toMillis() > span.startsAt.getTime();
}

function inWords(day: DateTime): string {
  return day.toFormat('cccc d LLLL');
}
