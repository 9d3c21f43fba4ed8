// Staffed hours in the zones where they are hard: days of 23 and 25 hours, clocks that jump at midnight, nights that end on
// another day.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import type { Shift } from '../../config/configuration.js';
import { isAssistantActive, nextChange, nextClosing, staffedSince } from '../../config/shift.js';
import { WEEKDAYS, type TimeWindow, type Weekday } from '../../config/calendar.js';

type Staffed = Partial<Record<Weekday, TimeWindow[]>>;

const hours = (timeZone: string, staffed: Staffed, enabled = true): { shift: Shift; timeZone: string } => ({
  timeZone,
  shift: { enabled, staffed },
});
const daily = (from: string, to: string): Staffed =>
  Object.fromEntries(WEEKDAYS.map((day) => [day, [{ from, to }]]));
/** An instant by its wall clock, with the offset where the clock alone wouldn't say. */
const at = (iso: string, zone: string): Date => DateTime.fromISO(iso, { zone }).toJSDate();
const local = (instant: Date | undefined, zone: string): string | null =>
  instant === undefined ? null : DateTime.fromJSDate(instant, { zone }).toISO({ suppressMilliseconds: true });

const ISTANBUL = 'Europe/Istanbul';
const BERLIN = 'Europe/Berlin';
const SAO_PAULO = 'America/Sao_Paulo';

describe('the assistant’s hours', () => {
  const weekdays = hours(ISTANBUL, { monday: [{ from: '09:00', to: '18:00' }] });
  for (const [when, isActive] of [
    ['2026-11-30T08:59:59', true],
    ['2026-11-30T09:00:00', false],
    ['2026-11-30T17:59:59', false],
    ['2026-11-30T18:00:00', true],
    ['2026-12-01T12:00:00', true],
  ] as const) {
    it(`are ${isActive ? 'on' : 'off'} at ${when}, with a Monday staffed from 9 to 18`, () => {
      assert.equal(isAssistantActive(weekdays, at(when, ISTANBUL)), isActive);
    });
  }

  it('are always where the schedule is switched off, and where it is empty', () => {
    const noon = at('2026-11-30T12:00', ISTANBUL);
    assert.equal(isAssistantActive(hours(ISTANBUL, daily('09:00', '18:00'), false), noon), true);
    assert.equal(isAssistantActive(hours(ISTANBUL, {}), noon), true);
    assert.equal(nextChange(hours(ISTANBUL, {}), noon), undefined);
  });

  const night = hours(ISTANBUL, { friday: [{ from: '22:00', to: '06:00' }] });
  for (const [when, isActive] of [
    // Friday 4 December 2026.
    ['2026-12-04T05:00', true],
    ['2026-12-04T21:59', true],
    ['2026-12-04T22:00', false],
    ['2026-12-05T05:59', false],
    ['2026-12-05T06:00', true],
    ['2026-12-05T22:30', true],
  ] as const) {
    it(`are ${isActive ? 'on' : 'off'} at ${when}: a night belongs to the Friday on which it starts`, () => {
      assert.equal(isAssistantActive(night, at(when, ISTANBUL)), isActive);
    });
  }

  it('never come where a window goes once around the clock every day', () => {
    const always = hours(ISTANBUL, daily('00:00', '00:00'));
    const noon = at('2026-11-30T12:00', ISTANBUL);
    assert.equal(isAssistantActive(always, noon), false);
    assert.equal(nextChange(always, noon), undefined);
    assert.equal(staffedSince(always, noon), undefined);
  });

  it('do not change where two windows touch', () => {
    const split = hours(ISTANBUL, {
      monday: [
        { from: '09:00', to: '13:00' },
        { from: '13:00', to: '18:00' },
      ],
    });
    const change = nextChange(split, at('2026-11-30T10:00', ISTANBUL));
    assert.deepEqual([local(change?.at, ISTANBUL), change?.isActive], ['2026-11-30T18:00:00+03:00', true]);
  });

  it('tell when people came, and when they leave next', () => {
    const noon = at('2026-11-30T12:00', ISTANBUL);
    assert.equal(local(staffedSince(weekdays, noon), ISTANBUL), '2026-11-30T09:00:00+03:00');
    assert.equal(local(nextClosing(weekdays, noon), ISTANBUL), '2026-11-30T18:00:00+03:00');
    const evening = at('2026-11-30T20:00', ISTANBUL);
    assert.equal(staffedSince(weekdays, evening), undefined);
    assert.equal(local(nextClosing(weekdays, evening), ISTANBUL), '2026-12-07T18:00:00+03:00');
  });
});

describe('days on which the clocks change', () => {
  const office = daily('09:00', '18:00');
  const shiftDay = (
    zone: string,
    day: string,
  ): { opens: string | null; closes: string | null; staffed: number } => {
    const place = hours(zone, office);
    const opens = nextChange(place, at(`${day}T00:00`, zone));
    const closes = opens && nextChange(place, opens.at);
    return {
      opens: local(opens?.at, zone),
      closes: local(closes?.at, zone),
      staffed: ((closes?.at.getTime() ?? 0) - (opens?.at.getTime() ?? 0)) / 3_600_000,
    };
  };

  it('are days like any other in Istanbul, which has kept one time since 2016', () => {
    for (const day of ['2026-03-29', '2026-10-25']) {
      assert.deepEqual(shiftDay(ISTANBUL, day), {
        opens: `${day}T09:00:00+03:00`,
        closes: `${day}T18:00:00+03:00`,
        staffed: 9,
      });
    }
  });

  it('are days like any other in Lagos, which never changes', () => {
    for (const day of ['2026-03-29', '2026-10-25']) {
      assert.deepEqual(shiftDay('Africa/Lagos', day), {
        opens: `${day}T09:00:00+01:00`,
        closes: `${day}T18:00:00+01:00`,
        staffed: 9,
      });
    }
  });

  it('are none any more in São Paulo, and were until 2019', () => {
    assert.equal(shiftDay(SAO_PAULO, '2026-11-01').opens, '2026-11-01T09:00:00-03:00');
    assert.equal(shiftDay(SAO_PAULO, '2018-11-03').opens, '2018-11-03T09:00:00-03:00');
    assert.equal(shiftDay(SAO_PAULO, '2018-11-05').opens, '2018-11-05T09:00:00-02:00');
  });

  it('open at the wall-clock time before and after the change in Berlin', () => {
    assert.equal(shiftDay(BERLIN, '2026-03-28').opens, '2026-03-28T09:00:00+01:00');
    assert.equal(shiftDay(BERLIN, '2026-03-29').opens, '2026-03-29T09:00:00+02:00');
    assert.equal(shiftDay(BERLIN, '2026-10-25').opens, '2026-10-25T09:00:00+01:00');
  });

  for (const [zone, night, length] of [
    [BERLIN, '2026-03-28', 7],
    [BERLIN, '2026-10-24', 9],
    // The clocks of São Paulo jumped at midnight: on 4 November 2018 it was one o'clock at once.
    [SAO_PAULO, '2018-11-03', 7],
    [SAO_PAULO, '2018-02-17', 9],
    [SAO_PAULO, '2026-11-01', 8],
    [ISTANBUL, '2026-03-28', 8],
    ['Africa/Lagos', '2026-03-28', 8],
  ] as const) {
    it(`make the night of ${night} in ${zone} ${length} hours long, from 22 to 6`, () => {
      const place = hours(zone, daily('22:00', '06:00'));
      const opens = nextChange(place, at(`${night}T12:00`, zone));
      const closes = opens && nextChange(place, opens.at);
      assert.equal(((closes?.at.getTime() ?? 0) - (opens?.at.getTime() ?? 0)) / 3_600_000, length);
      assert.equal(DateTime.fromJSDate(closes?.at ?? new Date(0), { zone }).hour, 6);
    });
  }

  it('begin what would have begun in the hour that is skipped at the moment of the skip', () => {
    const place = hours(BERLIN, { sunday: [{ from: '02:30', to: '08:00' }] });
    const opens = nextChange(place, at('2026-03-28T12:00', BERLIN));
    assert.equal(local(opens?.at, BERLIN), '2026-03-29T03:00:00+02:00');
    const midnight = hours(SAO_PAULO, { sunday: [{ from: '00:00', to: '08:00' }] });
    assert.equal(
      local(nextChange(midnight, at('2018-11-03T12:00', SAO_PAULO))?.at, SAO_PAULO),
      '2018-11-04T01:00:00-02:00',
    );
  });

  it('count the first of two equal times', () => {
    const place = hours(BERLIN, { sunday: [{ from: '02:30', to: '08:00' }] });
    const opens = nextChange(place, at('2026-10-24T12:00', BERLIN));
    assert.equal(local(opens?.at, BERLIN), '2026-10-25T02:30:00+02:00');
    assert.equal(isAssistantActive(place, at('2026-10-25T02:15:00+01:00', BERLIN)), false);
  });
});

describe('any schedule', () => {
  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 15, 30, 45))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
  const staffed = fc.dictionary(
    fc.constantFrom(...WEEKDAYS),
    fc.array(fc.record({ from: time, to: time }), { maxLength: 3 }),
    { noNullPrototype: true },
  );
  const zone = fc.constantFrom(ISTANBUL, BERLIN, SAO_PAULO, 'Africa/Lagos', 'Asia/Kathmandu');
  const QUARTER_MS = 15 * 60_000;
  /** A week without a change of clocks in any of the zones. */
  const instant = fc
    .integer({ min: 0, max: 7 * 96 - 1 })
    .map((quarter) => Date.UTC(2026, 5, 1) + quarter * QUARTER_MS);

  it('is what the wall clock says, window by window', () => {
    fc.assert(
      fc.property(staffed, zone, instant, (windows, timeZone, now) => {
        const clock = DateTime.fromMillis(now, { zone: timeZone });
        const onDay = (day: DateTime): TimeWindow[] => windows[WEEKDAYS[day.weekday - 1] ?? 'monday'] ?? [];
        const time = clock.toFormat('HH:mm');
        const isStaffed =
          onDay(clock).some(({ from, to }) => from <= time && (time < to || to <= from)) ||
          onDay(clock.minus({ days: 1 })).some(({ from, to }) => to <= from && time < to);
        assert.equal(isAssistantActive(hours(timeZone, windows), new Date(now)), !isStaffed);
      }),
      { seed: 5, numRuns: 300 },
    );
  });

  it('changes at the next change and not before', () => {
    fc.assert(
      fc.property(staffed, zone, instant, (windows, timeZone, now) => {
        const place = hours(timeZone, windows);
        const isActive = isAssistantActive(place, new Date(now));
        const change = nextChange(place, new Date(now));
        const end = change?.at.getTime() ?? now + 7 * 96 * QUARTER_MS;
        for (let between = now; between < end; between += QUARTER_MS)
          assert.equal(isAssistantActive(place, new Date(between)), isActive);
        if (change) assert.equal(isAssistantActive(place, change.at), !isActive);
      }),
      { seed: 8, numRuns: 20 },
    );
  });
});
