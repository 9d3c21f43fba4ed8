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
import type { InScope } from '../../../prisma/stores/scope.js';
import type { ToolProvider } from '../provider.js';
import { cancelBooking, rescheduleBooking, wasChanged } from './change.js';
import { listBookings, listFreeSlots } from './look.js';
import { reserveSlot, wasReserved } from './reserve.js';

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
