// The calendar's rows. That a slot can't be taken twice is the database's business: an exclusion constraint, not a look
// before the write.
import { randomUUID } from 'node:crypto';
import type { Tx } from '../database.js';

export interface Span {
  startsAt: Date;
  endsAt: Date;
}

/** Reserved spans of a resource that touch a range. */
export async function reservedSpans(tx: Tx, range: Span & { resource: string }): Promise<Span[]> {
  return tx.booking.findMany({
    where: {
      resource: range.resource,
      state: 'reserved',
      startsAt: { lt: range.endsAt },
      endsAt: { gt: range.startsAt },
    },
    select: { startsAt: true, endsAt: true },
    orderBy: { startsAt: 'asc' },
  });
}

export interface Reservation extends Span {
  tenantId: string;
  contactId: string | null;
  resource: string;
  requestKey: string;
  /** Not reserved after this instant, whatever the caller has heard by then. */
  callBy: Date;
}

/** Takes a slot, or says that it is taken or that the time for the call is over. One statement: nobody comes between. */
export async function reserve(tx: Tx, slot: Reservation): Promise<'reserved' | 'taken' | 'too_late'> {
  const [row] = await tx.$queryRaw<{ inserted: number; late: boolean }[]>`
    with due as (select clock_timestamp() < ${slot.callBy.toISOString()}::timestamptz as in_time),
    inserted as (
      insert into bookings (id, tenant_id, contact_id, resource, starts_at, ends_at, request_key)
      select ${randomUUID()}::uuid, ${slot.tenantId}::uuid, ${slot.contactId}::uuid, ${slot.resource},
        ${slot.startsAt.toISOString()}::timestamptz, ${slot.endsAt.toISOString()}::timestamptz, ${slot.requestKey}
      from due where in_time
      on conflict do nothing returning 1)
    select (select count(*)::int from inserted) as inserted, not (select in_time from due) as late`;
  if (row?.inserted === 1) return 'reserved';
  if (row?.late) return 'too_late';
  // A conflict on our own key is our own reservation from an earlier call.
  return (await reservationOf(tx, slot)) ? 'reserved' : 'taken';
}

/** What was reserved under a key, if anything was. */
export async function reservationOf(
  tx: Tx,
  { requestKey }: { requestKey: string },
): Promise<Span | undefined> {
  const row = await tx.booking.findFirst({ where: { requestKey }, select: { startsAt: true, endsAt: true } });
  return row ?? undefined;
}
