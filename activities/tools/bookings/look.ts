// What is free, and what somebody has booked.
import type { DateTime } from 'luxon';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import {
  clockOf,
  dayInWords,
  dayOf,
  inWords,
  isoDate,
  localTime,
  momentInWords,
  windowsInWords,
  windowsOn,
} from '../calendar.js';
import type { ToolCall } from '../provider.js';
import { bookingsFromToday, counted, freeSlots, textOf, type Bookings } from './call.js';
import { bookingsSettings, isTooFar, isWithin, slotsOf, tooFar } from './slots.js';

export async function listFreeSlots(bookings: Bookings, call: ToolCall): Promise<JsonObject> {
  const day = dayOf(call.configuration.business, textOf(call, 'date') ?? '');
  const partOfDay = textOf(call, 'part_of_day');
  const slots = await bookings.inScope(call.tenantId, (scope) => freeSlots(scope, bookings, call, day));
  const settings = bookingsSettings(call.configuration);
  const free = slots.filter((slot) => isWithin(slot, settings, partOfDay)).map(({ start }) => clockOf(start));
  return {
    date: isoDate(day),
    day: dayInWords(day),
    free,
    summary:
      free.length > 0
        ? `Free on ${dayInWords(day)}: ${inWords(free)}.`
        : whyNothing(bookings, call, { day, partOfDay }),
  };
}

function whyNothing(
  { now }: Bookings,
  { configuration }: ToolCall,
  { day, partOfDay }: { day: DateTime; partOfDay: string | undefined },
): string {
  const settings = bookingsSettings(configuration);
  const clock = localTime(configuration.business, now());
  if (isTooFar(day, settings, clock)) return tooFar(day, settings);
  if (day.endOf('day') < clock) return `${dayInWords(day)} is over already.`;
  const slots = slotsOf(configuration, day);
  if (slots.length === 0) return `We're closed on ${dayInWords(day)}.`;
  if (!slots.some((slot) => isWithin(slot, settings, partOfDay))) {
    const hours = windowsInWords(windowsOn(configuration.business, day));
    return `We're not open at that time on ${dayInWords(day)}. Our hours that day are ${hours}.`;
  }
  return `Nothing is free any more on ${dayInWords(day)}${partOfDay && settings.partsOfDay[partOfDay] ? ` (${partOfDay})` : ''}.`;
}

export async function listBookings(bookings: Bookings, call: ToolCall): Promise<JsonObject> {
  const theirs = await bookings.inScope(call.tenantId, (scope) => bookingsFromToday(scope, bookings, call));
  const ahead = theirs.filter(({ state, startsAt }) => state === 'reserved' && startsAt > bookings.now());
  const { business } = call.configuration;
  return {
    bookings: ahead.map(({ startsAt, reference, note }) => {
      const start = localTime(business, startsAt);
      return {
        date: isoDate(start),
        time: clockOf(start),
        when: momentInWords(start),
        reference,
        ...(note !== undefined && { note }),
      };
    }),
    summary: ahead.length === 0 ? 'You have no bookings ahead.' : `You have ${counted(call, ahead)}.`,
  };
}
