// The calendar at the provider: real Postgres, no lane around it.
import assert from 'node:assert/strict';
import { createBookings } from '../../../activities/tools/bookings/provider.js';
import { ToolCallError } from '../../../activities/tools/provider.js';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import { connected } from '../../support/postgres.js';
import {
  businessWith,
  operationOf,
  startToolBench,
  summaryOf,
  toolCall,
  type CallOptions,
  type ToolBench,
} from '../../support/tool-calls.js';

/** A Monday morning in Istanbul; the shop opens at nine. */
const NOW = new Date('2026-11-30T08:00:00+03:00');
const MONDAY = '2026-12-07';
const TUESDAY = '2026-12-08';

describe('the bookings provider', function () {
  this.timeout(30_000);
  let bench: ToolBench;
  let now = NOW;
  /** A calendar of its own for each test. */
  let resource = 0;

  before(async () => {
    bench = await startToolBench();
  });
  after(() => bench.close());
  beforeEach(() => {
    now = NOW;
    resource += 1;
  });

  type Changes = Parameters<typeof businessWith>[0];
  const business = (changes: Changes = {}) =>
    businessWith({ ...changes, bookings: { resource: `bench-${resource}`, ...changes?.bookings } });
  const provider = () => createBookings({ inScope: bench.inScope, now: () => now });
  const call = (operation: string, values: JsonObject, options: CallOptions = {}): Promise<JsonObject> =>
    operationOf(provider(), operation).call(
      toolCall(bench, values, { configuration: business(), ...options }),
    );
  const happened = async (operation: string, options: CallOptions) =>
    operationOf(provider(), operation).didItHappen?.(
      toolCall(bench, {}, { configuration: business(), ...options }),
    );
  const reserve = async (contactId: string, date = MONDAY, time = '09:00'): Promise<void> => {
    const { status } = await call('reserveSlot', { date, time }, { contactId });
    assert.equal(status, 'reserved');
  };
  const booked = async (contactId: string): Promise<string[]> => {
    const { bookings } = await call('listBookings', {}, { contactId });
    return (bookings as { date: string; time: string }[]).map(({ date, time }) => `${date} ${time}`);
  };
  const free = async (date: string, options: CallOptions = {}): Promise<string[]> =>
    (await call('listFreeSlots', { date }, options))['free'] as string[];
  const count = (state: string): Promise<number> =>
    bench.database.inTenant(bench.tenantId, (tx) =>
      tx.booking.count({ where: { resource: `bench-${resource}`, state } }),
    );

  describe('reserving', () => {
    it('gives one slot to one of forty who ask at once, and tells the others what is left', async () => {
      const people = await Promise.all(Array.from({ length: 40 }, () => bench.addPerson()));
      const results = await Promise.all(
        people.map((contactId) => call('reserveSlot', { date: MONDAY, time: '09:00' }, { contactId })),
      );
      const summaries = (status: string): unknown[] =>
        results.filter((result) => result['status'] === status).map(({ summary }) => summary);
      assert.deepEqual(summaries('reserved'), ['You are booked for Monday 7 December at 09:00.']);
      assert.equal(summaries('taken').length, 39);
      assert.deepEqual(
        [...new Set(summaries('taken'))],
        ['Monday 7 December at 09:00 is already taken. Still free that day: 09:30, 10:00, 10:30 and 11:00.'],
      );
      assert.equal(await count('reserved'), 1);
    });

    it('happens once per key, however often it is called', async () => {
      const options = { contactId: await bench.addPerson(), key: 'the-same' };
      const values = { date: MONDAY, time: '10:00' };
      const results = [];
      for (let time = 0; time < 3; time += 1) results.push(await call('reserveSlot', values, options));
      assert.deepEqual(new Set(results.map(({ status }) => status)), new Set(['reserved']));
      assert.equal(await count('reserved'), 1);
      assert.deepEqual(await happened('reserveSlot', options), results[0]);
      assert.equal(await happened('reserveSlot', { ...options, key: 'another' }), false);
    });

    it('does nothing after its deadline', async () => {
      const late = { contactId: await bench.addPerson(), callBy: new Date(Date.now() - 1) };
      await assert.rejects(
        call('reserveSlot', { date: MONDAY, time: '10:00' }, late),
        (error) => error instanceof ToolCallError && error.outcome === 'clean' && error.isTimeout,
      );
      assert.equal(await count('reserved'), 0);
    });

    it('says that nobody knows when the database is gone', async () => {
      const broken = createBookings({ inScope: () => Promise.reject(new Error('gone')), now: () => now });
      await assert.rejects(
        operationOf(broken, 'reserveSlot').call(toolCall(bench, { date: MONDAY, time: '10:00' })),
        (error) => error instanceof ToolCallError && error.outcome === 'unclear',
      );
    });

    it("keeps what is to be done under the customer's own key", async () => {
      const contactId = await bench.addPerson();
      const note = 'squeaking rear brake';
      await call('reserveSlot', { date: MONDAY, time: '11:00', note }, { contactId });
      const listed = await call('listBookings', {}, { contactId });
      assert.match(summaryOf(listed), /Monday 7 December at 11:00 \(“squeaking rear brake”\)/);
      assert.equal((listed['bookings'] as { note: string }[])[0]?.note, note);
      await connected(bench.urls.superuserUrl, async (client) => {
        const { rows } = await client.query(
          `select b.*, k.contact_id as owner from bookings b join data_keys k on k.id = b.key_id where resource = $1`,
          [`bench-${resource}`],
        );
        assert.equal(rows.length, 1);
        assert.equal(rows[0].owner, contactId);
        assert.ok(!rows[0].details_cipher.includes('brake'));
      });
    });

    it('still lists a booking whose words were erased', async () => {
      const contactId = await bench.addPerson();
      await call('reserveSlot', { date: MONDAY, time: '11:00', note: 'a secret' }, { contactId });
      const erased = await bench.database.inTenant(bench.tenantId, async (tx) => {
        await tx.dataKey.updateMany({
          where: { contactId },
          data: { wrapped: null, destroyedAt: new Date() },
        });
        return tx.dataKey.count({ where: { contactId, wrapped: null } });
      });
      assert.equal(erased, 1);
      assert.deepEqual(await booked(contactId), [`${MONDAY} 11:00`]);
    });

    const refusals: {
      name: string;
      date: string;
      time: string;
      status: string;
      says: RegExp;
      changes?: Changes;
    }[] = [
      {
        name: 'a day on which we are closed',
        date: '2026-12-06',
        time: '10:00',
        status: 'closed',
        says: /^We're closed on Sunday 6 December\.$/,
      },
      {
        name: 'a closed date',
        date: '2027-01-01',
        time: '10:00',
        status: 'closed',
        says: /^We're closed on Friday 1 January\.$/,
      },
      {
        name: 'a time outside the hours',
        date: MONDAY,
        time: '13:00',
        status: 'closed',
        says: /^We're not open at 13:00 on Monday 7 December\. Our hours that day are 09:00–12:30 and 13:30–18:00\.$/,
      },
      {
        name: 'a time between two slots',
        date: MONDAY,
        time: '10:10',
        status: 'no_such_time',
        says: /^10:10 isn't one of our booking times\. The nearest are 10:00 and 10:30\.$/,
      },
      {
        name: 'a slot that would end after closing',
        date: MONDAY,
        time: '17:45',
        status: 'no_such_time',
        says: /The nearest is 17:30\.$/,
      },
      {
        name: 'a day beyond the horizon',
        date: '2027-02-01',
        time: '10:00',
        status: 'too_far',
        says: /^Monday 1 February is too far ahead: bookings open 60 days before\.$/,
      },
      {
        name: 'a moment that is over',
        date: '2026-11-27',
        time: '10:00',
        status: 'too_late',
        says: /^Friday 27 November at 10:00 is over already\.$/,
      },
      {
        name: 'a moment that is too soon',
        date: '2026-11-30',
        time: '09:00',
        status: 'too_late',
        says: /^Monday 30 November at 09:00 is too soon: we need 90 minutes' notice\.$/,
        changes: { bookings: { noticeMinutes: 90 } },
      },
    ];
    for (const { name, date, time, status, says, changes } of refusals) {
      it(`refuses ${name}, and says why`, async () => {
        const options = { contactId: await bench.addPerson(), configuration: business(changes) };
        const result = await call('reserveSlot', { date, time }, options);
        assert.equal(result['status'], status);
        assert.match(summaryOf(result), says);
        assert.equal(await count('reserved'), 0);
      });
    }

    it('takes the last day of the horizon and the first minute after the notice', async () => {
      const contactId = await bench.addPerson();
      await reserve(contactId, '2027-01-29', '10:00');
      now = new Date('2026-11-30T09:30:00+03:00');
      await reserve(contactId, '2026-11-30', '10:00');
    });
  });

  describe('looking', () => {
    it('lists what is free, and leaves out what is taken', async () => {
      await reserve(await bench.addPerson(), '2026-12-05', '10:00');
      const result = await call('listFreeSlots', { date: '2026-12-05', part_of_day: 'morning' });
      assert.equal(
        result['summary'],
        'Free on Saturday 5 December: 09:00, 09:30, 10:30, 11:00, 11:30, 12:00 and 12:30.',
      );
      const afternoon = await call('listFreeSlots', { date: MONDAY, part_of_day: 'afternoon' });
      assert.equal((afternoon['free'] as string[])[0], '12:00');
    });

    it('says why nothing is free', async () => {
      const says = async (values: JsonObject): Promise<string> =>
        summaryOf(await call('listFreeSlots', values));
      assert.equal(await says({ date: '2026-12-06' }), "We're closed on Sunday 6 December.");
      assert.equal(await says({ date: '2026-11-29' }), 'Sunday 29 November is over already.');
      assert.match(await says({ date: '2027-03-01' }), /too far ahead/);
      now = new Date('2026-12-05T12:45:00+03:00');
      assert.equal(await says({ date: '2026-12-05' }), 'Nothing is free any more on Saturday 5 December.');
    });

    it('shows everybody their own bookings ahead and nobody else’s', async () => {
      const [ada, bo] = [await bench.addPerson(), await bench.addPerson()];
      await reserve(ada, MONDAY, '09:00');
      await reserve(ada, '2026-11-30', '10:00');
      await reserve(bo, TUESDAY, '09:00');
      assert.deepEqual(await booked(ada), ['2026-11-30 10:00', `${MONDAY} 09:00`]);
      assert.deepEqual(await booked(bo), [`${TUESDAY} 09:00`]);
      const { summary } = await call('listBookings', {}, { contactId: bo });
      assert.equal(summary, 'You have a booking on Tuesday 8 December at 09:00.');
      now = new Date('2026-11-30T10:10:00+03:00');
      assert.deepEqual(await booked(ada), [`${MONDAY} 09:00`]);
      const none = await call('listBookings', {}, { contactId: await bench.addPerson() });
      assert.equal(none['summary'], 'You have no bookings ahead.');
    });
  });

  describe('cancelling', () => {
    it('frees the slot, says what was cancelled, and knows afterwards that it happened', async () => {
      const ada = await bench.addPerson();
      await reserve(ada);
      const options = { contactId: ada, key: 'cancel-1' };
      const result = await call('cancelBooking', { date: MONDAY, time: '09:00' }, options);
      assert.deepEqual(result, {
        status: 'cancelled',
        when: 'Monday 7 December at 09:00',
        summary: 'Your booking on Monday 7 December at 09:00 is cancelled.',
      });
      assert.ok((await free(MONDAY)).includes('09:00'));
      assert.deepEqual(await happened('cancelBooking', options), result);
      assert.equal(await happened('cancelBooking', { ...options, key: 'cancel-2' }), false);
      assert.deepEqual(await call('cancelBooking', { date: MONDAY, time: '09:00' }, options), result);
    });

    it('does it once: the second time it was cancelled already', async () => {
      const contactId = await bench.addPerson();
      await reserve(contactId);
      const values = { date: MONDAY, time: '09:00' };
      const results = await Promise.all([
        call('cancelBooking', values, { contactId }),
        call('cancelBooking', values, { contactId }),
      ]);
      assert.deepEqual(results.map(({ status }) => status).sort(), ['already_cancelled', 'cancelled']);
      const third = await call('cancelBooking', values, { contactId });
      assert.equal(third['summary'], 'Your booking on Monday 7 December at 09:00 was cancelled already.');
    });

    it("doesn't find somebody else's, by time or by reference", async () => {
      const [ada, bo] = [await bench.addPerson(), await bench.addPerson()];
      await reserve(ada);
      const { bookings } = await call('listBookings', {}, { contactId: ada });
      const reference = (bookings as { reference: string }[])[0]?.reference ?? '';
      const byTime = await call('cancelBooking', { date: MONDAY, time: '09:00' }, { contactId: bo });
      assert.equal(byTime['status'], 'not_found');
      assert.equal(
        byTime['summary'],
        "I can't find a booking of yours on Monday 7 December at 09:00. You have no bookings ahead.",
      );
      assert.equal((await call('cancelBooking', { reference }, { contactId: bo }))['status'], 'not_found');
      const moved = { from_date: MONDAY, from_time: '09:00', to_date: TUESDAY, to_time: '09:00' };
      assert.equal((await call('rescheduleBooking', moved, { contactId: bo }))['status'], 'not_found');
      assert.equal(await count('reserved'), 1);
      const own = await call('cancelBooking', { reference: reference.toLowerCase() }, { contactId: ada });
      assert.equal(own['status'], 'cancelled');
    });

    it('asks which one when a day holds two, and takes the day alone when it holds one', async () => {
      const contactId = await bench.addPerson();
      await reserve(contactId, MONDAY, '09:00');
      await reserve(contactId, MONDAY, '11:00');
      const asked = await call('cancelBooking', { date: MONDAY }, { contactId });
      assert.equal(asked['status'], 'which_one');
      assert.match(
        summaryOf(asked),
        /2 bookings: Monday .* 09:00 and Monday .* 11:00\. Please say at what time\./,
      );
      await call('cancelBooking', { date: MONDAY, time: '11:00' }, { contactId });
      assert.equal((await call('cancelBooking', { date: MONDAY }, { contactId }))['status'], 'cancelled');
      assert.equal(await count('reserved'), 0);
    });

    it('leaves a booking alone that has begun, and one whose deadline has passed', async () => {
      const contactId = await bench.addPerson();
      await reserve(contactId, '2026-11-30', '10:00');
      const values = { date: '2026-11-30', time: '10:00' };
      await assert.rejects(
        call('cancelBooking', values, { contactId, callBy: new Date(Date.now() - 1) }),
        (error) => error instanceof ToolCallError && error.outcome === 'clean',
      );
      now = new Date('2026-11-30T10:10:00+03:00');
      assert.equal((await call('cancelBooking', values, { contactId }))['status'], 'too_late');
      assert.equal(await count('reserved'), 1);
    });
  });

  describe('moving', () => {
    const monday = { from_date: MONDAY, from_time: '09:00' };

    it('takes the new slot, frees the old one, and keeps the note', async () => {
      const contactId = await bench.addPerson();
      await call('reserveSlot', { date: MONDAY, time: '09:00', note: 'new tyre' }, { contactId });
      const options = { contactId, key: 'move-1' };
      const result = await call(
        'rescheduleBooking',
        { ...monday, to_date: TUESDAY, to_time: '10:30' },
        options,
      );
      assert.equal(
        result['summary'],
        'Your booking is moved from Monday 7 December at 09:00 to Tuesday 8 December at 10:30.',
      );
      assert.deepEqual(await happened('rescheduleBooking', options), result);
      assert.deepEqual(await booked(contactId), [`${TUESDAY} 10:30`]);
      assert.match(summaryOf(await call('listBookings', {}, { contactId })), /new tyre/);
      assert.ok((await free(MONDAY)).includes('09:00'));
      const again = await call(
        'rescheduleBooking',
        { ...monday, to_date: TUESDAY, to_time: '10:30' },
        options,
      );
      assert.deepEqual(again, result);
    });

    it('keeps the old slot when the new one is taken, closed or the same', async () => {
      const [ada, bo] = [await bench.addPerson(), await bench.addPerson()];
      await reserve(ada);
      await reserve(bo, TUESDAY, '10:30');
      const to = async (to_date: string, to_time: string): Promise<JsonObject> =>
        call('rescheduleBooking', { ...monday, to_date, to_time }, { contactId: ada });
      const taken = await to(TUESDAY, '10:30');
      assert.equal(taken['status'], 'taken');
      assert.match(
        summaryOf(taken),
        /^Tuesday 8 December at 10:30 is already taken\. Your booking stays on Monday 7 December at 09:00\. Still free that day: /,
      );
      assert.equal((await to('2026-12-06', '10:00'))['status'], 'closed');
      assert.equal((await to(MONDAY, '09:00'))['status'], 'unchanged');
      assert.deepEqual(await booked(ada), [`${MONDAY} 09:00`]);
    });

    it('can move by half a slot over itself', async () => {
      const contactId = await bench.addPerson();
      await reserve(contactId);
      const configuration = business({ bookings: { slotMinutes: 60 } });
      const values = { ...monday, to_date: MONDAY, to_time: '10:00' };
      assert.equal(
        (await call('rescheduleBooking', values, { contactId, configuration }))['status'],
        'moved',
      );
    });

    it('gives one slot to one of twenty who move into it at once; the others stay where they are', async () => {
      const people = await Promise.all(Array.from({ length: 20 }, () => bench.addPerson()));
      const times = [...(await free(MONDAY)), ...(await free('2026-12-09'))].slice(0, 20);
      const dates = times.map((_, index) => (index < 16 ? MONDAY : '2026-12-09'));
      await Promise.all(people.map((person, index) => reserve(person, dates[index], times[index])));
      const results = await Promise.all(
        people.map((contactId, index) =>
          call(
            'rescheduleBooking',
            {
              from_date: dates[index] ?? '',
              from_time: times[index] ?? '',
              to_date: TUESDAY,
              to_time: '10:30',
            },
            { contactId },
          ),
        ),
      );
      assert.equal(results.filter(({ status }) => status === 'moved').length, 1);
      assert.equal(results.filter(({ status }) => status === 'taken').length, 19);
      assert.equal(await count('reserved'), 20);
      assert.ok(!(await free(TUESDAY)).includes('10:30'));
    });

    it('lets two who want each other’s slots neither deadlock nor lose theirs', async () => {
      const [ada, bo] = [await bench.addPerson(), await bench.addPerson()];
      await reserve(ada, MONDAY, '09:00');
      await reserve(bo, TUESDAY, '09:00');
      const results = await Promise.all([
        call('rescheduleBooking', { ...monday, to_date: TUESDAY, to_time: '09:00' }, { contactId: ada }),
        call(
          'rescheduleBooking',
          { from_date: TUESDAY, from_time: '09:00', to_date: MONDAY, to_time: '09:00' },
          { contactId: bo },
        ),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['taken', 'taken'],
      );
      assert.equal(await count('reserved'), 2);
    });

    it('does nothing after its deadline', async () => {
      const contactId = await bench.addPerson();
      await reserve(contactId);
      const late = { contactId, callBy: new Date(Date.now() - 1) };
      await assert.rejects(
        call('rescheduleBooking', { ...monday, to_date: TUESDAY, to_time: '10:30' }, late),
        (error) => error instanceof ToolCallError && error.isTimeout,
      );
      assert.deepEqual(await booked(contactId), [`${MONDAY} 09:00`]);
    });
  });

  describe('where clocks change or days are long', () => {
    const week = (windows: { from: string; to: string }[]) => ({
      monday: windows,
      tuesday: windows,
      wednesday: windows,
      thursday: windows,
      friday: windows,
      saturday: windows,
      sunday: windows,
    });
    const placed = (timeZone: string, windows: { from: string; to: string }[]) =>
      business({
        business: { timeZone, openingHours: week(windows), closedDates: [] },
        bookings: { horizonDays: 366 },
      });

    it('has no slots in the hour that is left out, and each instant once', async () => {
      const configuration = placed('Europe/Berlin', [{ from: '01:00', to: '05:00' }]);
      assert.deepEqual(await free('2027-03-28', { configuration }), [
        '01:00',
        '01:30',
        '03:00',
        '03:30',
        '04:00',
        '04:30',
      ]);
      const { status } = await call(
        'reserveSlot',
        { date: '2027-03-28', time: '02:30' },
        { configuration, contactId: await bench.addPerson() },
      );
      assert.notEqual(status, 'reserved');
    });

    it('offers a clock time that comes twice once', async () => {
      const configuration = placed('Europe/Berlin', [{ from: '01:00', to: '04:00' }]);
      const times = await free('2027-10-31', { configuration });
      assert.deepEqual(times, ['01:00', '01:30', '02:00', '02:30', '03:00', '03:30']);
    });

    it('keeps wall-clock times on both sides of a change', async () => {
      const contactId = await bench.addPerson();
      const configuration = placed('Europe/Berlin', [{ from: '09:00', to: '17:00' }]);
      for (const date of ['2027-03-27', '2027-03-28']) {
        const result = await call('reserveSlot', { date, time: '09:00' }, { configuration, contactId });
        assert.match(summaryOf(result), /at 09:00\.$/);
      }
      const rows = await bench.database.inTenant(bench.tenantId, (tx) =>
        tx.booking.findMany({ where: { contactId }, orderBy: { startsAt: 'asc' } }),
      );
      assert.deepEqual(
        rows.map(({ startsAt }) => startsAt.toISOString()),
        ['2027-03-27T08:00:00.000Z', '2027-03-28T07:00:00.000Z'],
      );
    });

    it('opens around the clock in Lagos: 48 slots, the last until midnight, and the next day begins afresh', async () => {
      const configuration = placed('Africa/Lagos', [{ from: '00:00', to: '24:00' }]);
      const times = await free('2026-12-07', { configuration });
      assert.equal(times.length, 48);
      assert.equal(times.at(-1), '23:30');
      const contactId = await bench.addPerson();
      await call('reserveSlot', { date: '2026-12-07', time: '23:30' }, { configuration, contactId });
      await call('reserveSlot', { date: '2026-12-08', time: '00:00' }, { configuration, contactId });
      assert.equal((await free('2026-12-07', { configuration })).length, 47);
      assert.equal((await free('2026-12-08', { configuration })).length, 47);
      const [row] = await bench.database.inTenant(bench.tenantId, (tx) =>
        tx.booking.findMany({ where: { contactId }, orderBy: { startsAt: 'asc' }, take: 1 }),
      );
      assert.equal(row?.endsAt.toISOString(), '2026-12-07T23:00:00.000Z');
    });
  });
});
