// Taking a slot, once per key.
import type { DateTime } from 'luxon';
import { reservationOf, reserve, reserveWithNote } from '../../../prisma/stores/bookings.js';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import { localTime, momentInWords } from '../calendar.js';
import type { ToolCall } from '../provider.js';
import { byThis, committed, stillFree, textOf, wantedSlot, type Bookings } from './call.js';
import { bookingsSettings } from './slots.js';

export async function reserveSlot(bookings: Bookings, call: ToolCall): Promise<JsonObject> {
  const wanted = wantedSlot(bookings, call, { date: 'date', time: 'time' });
  if (!('slot' in wanted)) return { status: wanted.status, when: wanted.when, summary: wanted.why };
  const { slot } = wanted;
  const note = textOf(call, 'note')?.trim();
  const reservation = {
    tenantId: call.tenantId,
    resource: bookingsSettings(call.configuration).resource,
    startsAt: slot.start.toJSDate(),
    endsAt: slot.end.toJSDate(),
    ...byThis(call),
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

export async function wasReserved(bookings: Bookings, call: ToolCall): Promise<JsonObject | false> {
  const span = await bookings.inScope(call.tenantId, (scope) =>
    reservationOf(scope.tx, { requestKey: call.idempotencyKey }),
  );
  return span ? reserved(localTime(call.configuration.business, span.startsAt)) : false;
}

function reserved(start: DateTime): JsonObject {
  const when = momentInWords(start);
  return { status: 'reserved', when, summary: `You are booked for ${when}.` };
}
