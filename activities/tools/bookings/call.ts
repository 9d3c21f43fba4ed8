// What the operations of the calendar share: whose call it is, which slot is meant, what is free, and how a write ends.
import type { DateTime } from 'luxon';
import { bookingsOf, reservedSpans, type Booking, type Span } from '../../../prisma/stores/bookings.js';
import type { InScope, Scope } from '../../../prisma/stores/scope.js';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import { clockOf, dayInWords, dayOf, inWords, localTime, momentInWords } from '../calendar.js';
import { ToolCallError, type ToolCall } from '../provider.js';
import { bookableSlot, bookingsSettings, isBookable, slotsOf, type Slot, type Unbookable } from './slots.js';

export interface Bookings {
  inScope: InScope;
  /** The calendar's clock. The database's own decides about deadlines. */
  now: () => Date;
}

/** Runs a write. A broken connection around a commit leaves open whether it went through: only a later look can tell. */
export async function committed(
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

export function byThis({ contactId, idempotencyKey, callBy }: ToolCall): {
  contactId: string;
  requestKey: string;
  callBy: Date;
} {
  return { contactId, requestKey: idempotencyKey, callBy };
}

export function wantedSlot(
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

export function textOf({ arguments: values }: ToolCall, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export async function freeSlots(
  scope: Scope,
  { now }: Bookings,
  call: ToolCall,
  day: DateTime,
): Promise<Slot[]> {
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

/** Enough to choose from, on a phone. */
const ALTERNATIVES = 4;

/** The free times of that day nearest to the one that can't be had. */
export async function stillFree(
  scope: Scope,
  bookings: Bookings,
  call: ToolCall,
  wanted: Slot,
): Promise<string> {
  const distance = ({ start }: Slot): number => Math.abs(start.toMillis() - wanted.start.toMillis());
  const free = (await freeSlots(scope, bookings, call, wanted.start.startOf('day')))
    .toSorted((one, other) => distance(one) - distance(other))
    .slice(0, ALTERNATIVES)
    .toSorted((one, other) => one.start.toMillis() - other.start.toMillis());
  return free.length === 0
    ? ' Nothing else is free that day.'
    : ` Still free that day: ${inWords(free.map(({ start }) => clockOf(start)))}.`;
}

/** `a booking on Monday 7 December at 09:00`, `2 bookings: …`. */
export function counted({ configuration }: ToolCall, booked: readonly Booking[]): string {
  const list = booked.map(({ startsAt, note }) => {
    const when = momentInWords(localTime(configuration.business, startsAt));
    return note === undefined ? when : `${when} (“${note}”)`;
  });
  return booked.length === 1
    ? `a booking on ${list.join('')}`
    : `${booked.length} bookings: ${inWords(list)}`;
}

/** Theirs of today and later, cancelled ones too. */
export function bookingsFromToday(scope: Scope, { now }: Bookings, call: ToolCall): Promise<Booking[]> {
  const { business } = call.configuration;
  return bookingsOf(scope, {
    contactId: call.contactId,
    resource: bookingsSettings(call.configuration).resource,
    endingAfter: localTime(business, now()).startOf('day').toJSDate(),
  });
}

function overlaps(slot: Slot, span: Span): boolean {
  return slot.start.toMillis() < span.endsAt.getTime() && slot.end.toMillis() > span.startsAt.getTime();
}
