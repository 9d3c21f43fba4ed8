// Cancelling and moving. Everybody reaches their own bookings only; each change happens once per key.
import { cancel, changeOf, move, type Booking } from '../../../prisma/stores/bookings.js';
import type { Scope } from '../../../prisma/stores/scope.js';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import { clockOf, dayInWords, dayOf, isoDate, localTime, momentInWords } from '../calendar.js';
import type { ToolCall } from '../provider.js';
import {
  bookingsFromToday,
  byThis,
  committed,
  counted,
  stillFree,
  textOf,
  wantedSlot,
  type Bookings,
} from './call.js';

export async function cancelBooking(bookings: Bookings, call: ToolCall): Promise<JsonObject> {
  return committed(bookings, call, async (scope) => {
    const before = await changeOf(scope.tx, { requestKey: call.idempotencyKey });
    if (before) return changed(call, before);
    const chosen = await chooseBooking(scope, bookings, call, { date: 'date', time: 'time' });
    if ('answer' in chosen) return chosen.answer;
    const { booking } = chosen;
    const outcome = await cancel(scope, { ...booking, ...byThis(call) });
    if (outcome === 'gone') return alreadyCancelled(call, booking.startsAt);
    return outcome === 'too_late' ? outcome : changed(call, { kind: 'cancelled', from: booking.startsAt });
  });
}

export async function rescheduleBooking(bookings: Bookings, call: ToolCall): Promise<JsonObject> {
  return committed(bookings, call, async (scope) => {
    const before = await changeOf(scope.tx, { requestKey: call.idempotencyKey });
    if (before) return changed(call, before);
    const chosen = await chooseBooking(scope, bookings, call, { date: 'from_date', time: 'from_time' });
    if ('answer' in chosen) return chosen.answer;
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

export async function wasChanged(bookings: Bookings, call: ToolCall): Promise<JsonObject | false> {
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
): Promise<{ booking: Booking } | { answer: JsonObject }> {
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
    reference ??
    (date === undefined ? '' : dayInWords(dayOf(business, date)) + (time === undefined ? '' : ` at ${time}`));
  if (booking === undefined) {
    const cancelled = meant[0];
    if (cancelled) return { answer: alreadyCancelled(call, cancelled.startsAt) };
    const others = all.filter(({ state, startsAt }) => state === 'reserved' && startsAt > bookings.now());
    const known = others.length === 0 ? 'You have no bookings ahead.' : `You have ${counted(call, others)}.`;
    const where = reference === undefined ? `on ${asked}` : `with the reference ${asked}`;
    const summary = `I can't find a booking of yours ${where}. ${known}`;
    return { answer: { status: 'not_found', when: asked, summary } };
  }
  if (more.length > 0) {
    const summary = `You have ${counted(call, [booking, ...more])}. Please say at what time.`;
    return { answer: { status: 'which_one', when: asked, summary } };
  }
  if (booking.startsAt <= bookings.now()) {
    const when = momentInWords(localTime(business, booking.startsAt));
    const summary = `Your booking on ${when} has begun already and can't be changed any more.`;
    return { answer: { status: 'too_late', when, summary } };
  }
  return { booking };
}
