// The calendar's rows. That a slot can't be taken twice is the database's business: an exclusion constraint, not a look
// before the write. What customers noted with a booking is content and lies under their own key.
import { randomUUID } from 'node:crypto';
import type { Tx } from '../database.js';
import { KeyDestroyedError, type Bytes } from '../keys.js';
import { openOptional, type Scope } from './scope.js';

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

/** A write that happens once per key, and not after its deadline whatever the caller has heard by then. */
interface Request {
  requestKey: string;
  callBy: Date;
}

export interface Reservation extends Span, Request {
  tenantId: string;
  contactId: string | null;
  resource: string;
}

/** Takes a slot, or says that it is taken or that the time for the call is over. One statement: nobody comes between. */
export async function reserve(tx: Tx, slot: Reservation): Promise<'reserved' | 'taken' | 'too_late'> {
  return insertReservation(tx, { ...slot, bookingId: randomUUID() });
}

/** The same, with what the customer wants to be done. */
export async function reserveWithNote(
  scope: Scope,
  slot: Reservation & { contactId: string; note: string },
): Promise<'reserved' | 'taken' | 'too_late'> {
  const bookingId = randomUUID();
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, slot.contactId);
  const cipher = scope.content.sealText(key, { ...detailsOf(bookingId), text: slot.note });
  return insertReservation(scope.tx, { ...slot, bookingId, details: { cipher, keyId: key.id } });
}

async function insertReservation(
  tx: Tx,
  slot: Reservation & { bookingId: string; details?: { cipher: Bytes; keyId: string } },
): Promise<'reserved' | 'taken' | 'too_late'> {
  const [row] = await tx.$queryRaw<{ inserted: number; late: boolean }[]>`
    with due as (select clock_timestamp() < ${slot.callBy.toISOString()}::timestamptz as in_time),
    inserted as (
      insert into bookings (id, tenant_id, contact_id, resource, starts_at, ends_at, request_key, details_cipher, key_id)
      select ${slot.bookingId}::uuid, ${slot.tenantId}::uuid, ${slot.contactId}::uuid, ${slot.resource},
        ${slot.startsAt.toISOString()}::timestamptz, ${slot.endsAt.toISOString()}::timestamptz, ${slot.requestKey},
        ${slot.details?.cipher ?? null}::bytea, ${slot.details?.keyId ?? null}::uuid
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

export interface Booking extends Span {
  bookingId: string;
  reference: string;
  state: 'reserved' | 'cancelled';
  /** Absent: none was given, or it is erased. */
  note?: string;
}

/** More than one person plausibly has ahead. */
const MOST_BOOKINGS = 50;

/** One person's bookings of a resource that end after an instant, earliest first; cancelled ones too. */
export async function bookingsOf(
  scope: Scope,
  whose: { contactId: string; resource: string; endingAfter: Date },
): Promise<Booking[]> {
  const rows = await scope.tx.booking.findMany({
    where: {
      contactId: whose.contactId,
      resource: whose.resource,
      endsAt: { gt: whose.endingAfter },
    },
    orderBy: [{ startsAt: 'asc' }, { createdAt: 'asc' }],
    take: MOST_BOOKINGS,
  });
  return Promise.all(
    rows.map(async (row) => {
      const note = await noteOf(scope, row);
      return {
        bookingId: row.id,
        reference: row.reference,
        state: row.state === 'cancelled' ? 'cancelled' : 'reserved',
        startsAt: row.startsAt,
        endsAt: row.endsAt,
        ...(note !== undefined && { note }),
      };
    }),
  );
}

async function noteOf(
  scope: Scope,
  row: { id: string; keyId: string | null; detailsCipher: Uint8Array | null },
): Promise<string | undefined> {
  try {
    return await openOptional(scope, { ...detailsOf(row.id), keyId: row.keyId, cipher: row.detailsCipher });
  } catch (error) {
    // Erased: the booking stands, the words are gone.
    if (error instanceof KeyDestroyedError) return undefined;
    throw error;
  }
}

function detailsOf(bookingId: string): { table: string; column: string; rowId: string } {
  return { table: 'bookings', column: 'details_cipher', rowId: bookingId };
}

interface Change extends Request {
  bookingId: string;
  contactId: string;
}

/** Frees the slot. `gone`: there is nothing of theirs left to cancel. */
export async function cancel({ tx }: Scope, change: Change): Promise<'cancelled' | 'gone' | 'too_late'> {
  const [row] = await tx.$queryRaw<{ done: number; late: boolean }[]>`
    with due as (select clock_timestamp() < ${change.callBy.toISOString()}::timestamptz as in_time),
    freed as (
      update bookings set state = 'cancelled', cancelled_at = clock_timestamp()
      where id = ${change.bookingId}::uuid and contact_id = ${change.contactId}::uuid and state = 'reserved'
        and (select in_time from due)
      returning id, tenant_id, starts_at),
    noted as (
      insert into booking_changes (id, tenant_id, booking_id, kind, request_key, starts_at_before)
      select ${randomUUID()}::uuid, tenant_id, id, 'cancelled', ${change.requestKey}, starts_at from freed
      returning 1)
    select (select count(*)::int from noted) as done, not (select in_time from due) as late`;
  if (row?.done === 1) return 'cancelled';
  return row?.late ? 'too_late' : 'gone';
}

/** Takes the new slot and gives up the old one, or keeps the old one and says why. */
export async function move(
  { tx }: Scope,
  change: Change & Span,
): Promise<'moved' | 'taken' | 'gone' | 'too_late'> {
  const [row] = await tx.$queryRaw<{ outcome: string }[]>`
    select aroko_move_booking(${randomUUID()}::uuid, ${change.bookingId}::uuid, ${change.contactId}::uuid,
      ${change.startsAt.toISOString()}::timestamptz, ${change.endsAt.toISOString()}::timestamptz, ${change.requestKey},
      ${change.callBy.toISOString()}::timestamptz) as outcome`;
  switch (row?.outcome) {
    case 'moved':
    case 'taken':
    case 'gone':
    case 'too_late':
      return row.outcome;
    default:
      throw new Error('aroko_move_booking answered with an outcome that nobody knows');
  }
}

/** What was changed under a key, if anything was. */
export async function changeOf(
  tx: Tx,
  { requestKey }: { requestKey: string },
): Promise<{ kind: 'cancelled'; from: Date } | { kind: 'moved'; from: Date; to: Date } | undefined> {
  const row = await tx.bookingChange.findFirst({ where: { requestKey } });
  if (!row) return undefined;
  const { startsAtBefore: from, startsAt: to } = row;
  return to === null ? { kind: 'cancelled', from } : { kind: 'moved', from, to };
}
