// A calendar of slots on our own Postgres: opening hours and slot length from configuration, local times in, instants in
// the database. Summaries are written here, from what the database says, never by a model. Everybody sees and changes
// their own bookings only: whose they are comes from the call, never from an argument.
//
// Operations and their arguments (`date`: YYYY-MM-DD, `time`: HH:MM, both as the business's clocks show them):
//   listFreeSlots      date, part_of_day?
//   reserveSlot        date, time, note?
//   listBookings       –
//   cancelBooking      date, time? | reference
//   rescheduleBooking  from_date, from_time? | reference; to_date, to_time
import type { DateTime } from 'luxon';
import {
  bookingsOf,
  cancel,
  changeOf,
  move,
  reservationOf,
  reserve,
  reservedSpans,
  reserveWithNote,
  type Booking,
  type Span,
} from '../../prisma/stores/bookings.js';
import type { InScope, Scope } from '../../prisma/stores/scope.js';
import type { JsonObject } from '../../workflows/domain/tool.js';
import { clockOf, dayInWords, dayOf, inWords, isoDate, localTime, momentInWords, windowsInWords, windowsOn } from './calendar.js';
import { ToolCallError, type ToolCall, type ToolProvider } from './provider.js';
import {
  bookableSlot,
  bookingsSettings,
  isBookable,
  isTooFar,
  isWithin,
  slotsOf,
  tooFar,
  type Slot,
  type Unbookable,
} from './slots.js';

interface Bookings {
  inScope: InScope;
  /** The calendar's clock. The database's own decides about deadlines. */
  now: () => Date;
}

/** `now`: absent means the clock of this machine. */
export function createBookings({
  inScope,
  now = () => new Date(),
}: {
  inScope: InScope;
  now?: () => Date;
}): ToolProvider {
  const bookings = { inScope, now };
  return {
    resultsAreUntrusted: false,
    operations: {
      listFreeSlots: { call: (call) => listFreeSlots(bookings, call) },
      reserveSlot: {
        call: (call) => reserveSlot(bookings, call),
        didItHappen: (call) => wasReserved(bookings, call),
      },
      listBookings: { call: (call) => listBookings(bookings, call) },
      cancelBooking: {
        call: (call) => cancelBooking(bookings, call),
        didItHappen: (call) => wasChanged(bookings, call),
      },
      rescheduleBooking: {
        call: (call) => rescheduleBooking(bookings, call),
        didItHappen: (call) => wasChanged(bookings, call),
      },
    },
  };
}

// Looking -----------------------------------------------------------------------------------------------------------

async function listFreeSlots(bookings: Bookings, call: ToolCall): Promise<JsonObject> {
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

async function freeSlots(scope: Scope, { now }: Bookings, call: ToolCall, day: DateTime): Promise<Slot[]> {
  const settings = bookingsSettings(call.configuration);
  const clock = localTime(call.configuration.business, now());
  const taken = await reservedSpans(scope.tx, {
    resource: settings.resource,
    startsAt: day.toJSDate(),
    endsAt: day.endOf('day').toJSDate(),
  });
  return slotsOf(call.configuration, day).filter(
    (slot) => isBookable(slot, settings, clock) && !taken.some((span) => overlaps(slot, span)),
  );
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

async function listBookings(bookings: Bookings, call: ToolCall): Promise<JsonObject> {
  const ahead = (await ownBookings(bookings, call)).filter((booking) => booking.startsAt > bookings.now());
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

/** `a booking on Monday 7 December at 09:00`, `2 bookings: …`. */
function counted({ configuration }: ToolCall, booked: readonly Booking[]): string {
  const list = booked.map(({ startsAt, note }) => {
    const when = momentInWords(localTime(configuration.business, startsAt));
    return note === undefined ? when : `${when} (“${note}”)`;
  });
  return booked.length === 1 ? `a booking on ${list.join('')}` : `${booked.length} bookings: ${inWords(list)}`;
}

/** Theirs of today and later that hold. */
async function ownBookings(bookings: Bookings, call: ToolCall): Promise<Booking[]> {
  const all = await bookings.inScope(call.tenantId, (scope) => bookingsFromToday(scope, bookings, call));
  return all.filter(({ state }) => state === 'reserved');
}

function bookingsFromToday(scope: Scope, { now }: Bookings, call: ToolCall): Promise<Booking[]> {
  const { business } = call.configuration;
  return bookingsOf(scope, {
    contactId: call.contactId,
    resource: bookingsSettings(call.configuration).resource,
    endingAfter: localTime(business, now()).startOf('day').toJSDate(),
  });
}

// Reserving ---------------------------------------------------------------------------------------------------------

async function reserveSlot(bookings: Bookings, call: ToolCall): Promise<JsonObject> {
  const wanted = wantedSlot(bookings, call, { date: 'date', time: 'time' });
  if (!('slot' in wanted)) return { status: wanted.status, when: wanted.when, summary: wanted.why };
  const { slot } = wanted;
  const note = textOf(call, 'note')?.trim();
  const reservation = {
    tenantId: call.tenantId,
    contactId: call.contactId,
    resource: bookingsSettings(call.configuration).resource,
    startsAt: slot.start.toJSDate(),
    endsAt: slot.end.toJSDate(),
    requestKey: call.idempotencyKey,
    callBy: call.callBy,
  };
  return committed(bookings, call, async (scope) => {
    const outcome = note
      ? await reserveWithNote(scope, { ...reservation, note })
      : await reserve(scope.tx, reservation);
    switch (outcome) {
      case 'reserved':
        return reserved(slot.start);
      case 'taken': {
        const instead = await stillFree(scope, bookings, call, slot);
        const when = momentInWords(slot.start);
        return { status: 'taken', when, summary: `${when} is already taken.${instead}` };
      }
      case 'too_late':
        return 'too_late';
    }
  });
}

async function wasReserved(bookings: Bookings, call: ToolCall): Promise<JsonObject | false> {
  const span = await bookings.inScope(call.tenantId, (scope) =>
    reservationOf(scope.tx, { requestKey: call.idempotencyKey }),
  );
  return span ? reserved(localTime(call.configuration.business, span.startsAt)) : false;
}

function reserved(start: DateTime): JsonObject {
  const when = momentInWords(start);
  return { status: 'reserved', when, summary: `You are booked for ${when}.` };
}

/** Enough to choose from, on a phone. */
const ALTERNATIVES = 4;

/** The free times of that day nearest to the one that can't be had. */
async function stillFree(scope: Scope, bookings: Bookings, call: ToolCall, wanted: Slot): Promise<string> {
  const distance = ({ start }: Slot): number => Math.abs(start.toMillis() - wanted.start.toMillis());
  const free = (await freeSlots(scope, bookings, call, wanted.start.startOf('day')))
    .toSorted((one, other) => distance(one) - distance(other))
    .slice(0, ALTERNATIVES)
    .toSorted((one, other) => one.start.toMillis() - other.start.toMillis());
  return free.length === 0
    ? ' Nothing else is free that day.'
    : ` Still free that day: ${inWords(free.map(({ start }) => clockOf(start)))}.`;
}

// Changing ----------------------------------------------------------------------------------------------------------

async function cancelBooking(bookings: Bookings, call: ToolCall): Promise<JsonObject> {
  return committed(bookings, call, async (scope) => {
    const before = await changeOf(scope.tx, { requestKey: call.idempotencyKey });
    if (before) return changed(call, before);
    const chosen = await chooseBooking(scope, bookings, call, { date: 'date', time: 'time' });
    if (!('booking' in chosen)) return chosen;
    const { booking } = chosen;
    const outcome = await cancel(scope, { ...booking, ...byThis(call) });
    if (outcome === 'gone') return alreadyCancelled(call, booking.startsAt);
    return outcome === 'too_late' ? outcome : changed(call, { kind: 'cancelled', from: booking.startsAt });
  });
}

async function rescheduleBooking(bookings: Bookings, call: ToolCall): Promise<JsonObject> {
  return committed(bookings, call, async (scope) => {
    const before = await changeOf(scope.tx, { requestKey: call.idempotencyKey });
    if (before) return changed(call, before);
    const chosen = await chooseBooking(scope, bookings, call, { date: 'from_date', time: 'from_time' });
    if (!('booking' in chosen)) return chosen;
    const { booking } = chosen;
    const from = momentInWords(localTime(call.configuration.business, booking.startsAt));
    const stays = `Your booking stays on ${from}.`;
    const wanted = wantedSlot(bookings, call, { date: 'to_date', time: 'to_time' });
    if (!('slot' in wanted)) return { status: wanted.status, when: from, summary: `${wanted.why} ${stays}` };
    const { slot } = wanted;
    if (slot.start.toMillis() === booking.startsAt.getTime()) {
      return { status: 'unchanged', when: from, summary: `Your booking is on ${from} already.` };
    }
    const span = { startsAt: slot.start.toJSDate(), endsAt: slot.end.toJSDate() };
    const outcome = await move(scope, { ...booking, ...span, ...byThis(call) });
    switch (outcome) {
      case 'moved':
        return changed(call, { kind: 'moved', from: booking.startsAt, to: span.startsAt });
      case 'taken': {
        const instead = await stillFree(scope, bookings, call, slot);
        const summary = `${momentInWords(slot.start)} is already taken. ${stays}${instead}`;
        return { status: 'taken', when: from, summary };
      }
      case 'gone':
        return alreadyCancelled(call, booking.startsAt);
      case 'too_late':
        return outcome;
    }
  });
}

async function wasChanged(bookings: Bookings, call: ToolCall): Promise<JsonObject | false> {
  const change = await bookings.inScope(call.tenantId, (scope) =>
    changeOf(scope.tx, { requestKey: call.idempotencyKey }),
  );
  return change ? changed(call, change) : false;
}

function changed(
  { configuration: { business } }: ToolCall,
  change: { kind: 'cancelled'; from: Date } | { kind: 'moved'; from: Date; to: Date },
): JsonObject {
  const from = momentInWords(localTime(business, change.from));
  if (change.kind === 'cancelled') {
    return { status: 'cancelled', when: from, summary: `Your booking on ${from} is cancelled.` };
  }
  const to = momentInWords(localTime(business, change.to));
  return { status: 'moved', when: to, summary: `Your booking is moved from ${from} to ${to}.` };
}

function alreadyCancelled({ configuration: { business } }: ToolCall, startsAt: Date): JsonObject {
  const when = momentInWords(localTime(business, startsAt));
  return { status: 'already_cancelled', when, summary: `Your booking on ${when} was cancelled already.` };
}

/** Which of their own bookings is meant; other people's are as good as not there. */
async function chooseBooking(
  scope: Scope,
  bookings: Bookings,
  call: ToolCall,
  names: { date: string; time: string },
): Promise<{ booking: Booking } | JsonObject> {
  const { business } = call.configuration;
  const [reference, date, time] = [
    textOf(call, 'reference')?.trim().toUpperCase(),
    textOf(call, names.date),
    textOf(call, names.time),
  ];
  const isMeant = ({ startsAt, ...booking }: Booking): boolean => {
    const start = localTime(business, startsAt);
    if (reference !== undefined) return booking.reference === reference;
    return isoDate(start) === date && (time === undefined || clockOf(start) === time);
  };
  const all = await bookingsFromToday(scope, bookings, call);
  const meant = all.filter(isMeant);
  const [booking, ...more] = meant.filter(({ state }) => state === 'reserved');
  const asked =
    reference ?? (date === undefined ? '' : dayInWords(dayOf(business, date)) + (time === undefined ? '' : ` at ${time}`));
  if (booking === undefined) {
    const cancelled = meant[0];
    if (cancelled) return alreadyCancelled(call, cancelled.startsAt);
    const others = all.filter(({ state, startsAt }) => state === 'reserved' && startsAt > bookings.now());
    const known = others.length === 0 ? 'You have no bookings ahead.' : `You have ${counted(call, others)}.`;
    const where = reference === undefined ? `on ${asked}` : `with the reference ${asked}`;
    return { status: 'not_found', when: asked, summary: `I can't find a booking of yours ${where}. ${known}` };
  }
  if (more.length > 0) {
    const summary = `You have ${counted(call, [booking, ...more])}. Which one do you mean?`;
    return { status: 'which_one', when: asked, summary };
  }
  if (booking.startsAt <= bookings.now()) {
    const when = momentInWords(localTime(business, booking.startsAt));
    const summary = `Your booking on ${when} has begun already and can't be changed any more.`;
    return { status: 'too_late', when, summary };
  }
  return { booking };
}

// Calls -------------------------------------------------------------------------------------------------------------

/** Runs a write. A broken connection around a commit leaves open whether it went through: only a later look can tell. */
async function committed(
  { inScope }: Bookings,
  call: ToolCall,
  work: (scope: Scope) => Promise<JsonObject | 'too_late'>,
): Promise<JsonObject> {
  const result = await inScope(call.tenantId, work).catch((cause: unknown) => {
    throw new ToolCallError('unclear', { cause });
  });
  if (result === 'too_late') throw new ToolCallError('clean', { isTimeout: true });
  return result;
}

function byThis({ contactId, idempotencyKey, callBy }: ToolCall): {
  contactId: string;
  requestKey: string;
  callBy: Date;
} {
  return { contactId, requestKey: idempotencyKey, callBy };
}

function wantedSlot(
  { now }: Bookings,
  call: ToolCall,
  names: { date: string; time: string },
): { slot: Slot } | { status: Unbookable; why: string; when: string } {
  const { business } = call.configuration;
  const day = dayOf(business, textOf(call, names.date) ?? '');
  const time = textOf(call, names.time) ?? '';
  const found = bookableSlot(call.configuration, { day, time, now: localTime(business, now()) });
  return 'slot' in found ? found : { ...found, when: `${dayInWords(day)} at ${time}` };
}

function textOf({ arguments: values }: ToolCall, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

function overlaps(slot: Slot, span: Span): boolean {
  return slot.start.toMillis() < span.endsAt.getTime() && slot.end.toMillis() > span.startsAt.getTime();
}
