// Opening hours and the date, in words, for moments of several places.
import assert from 'node:assert/strict';
import { createBusiness } from '../../../activities/tools/business.js';
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import { businessWith, operationOf, summaryOf, toolCall } from '../../support/tool-calls.js';

const MONDAY_NOON = '2026-11-30T12:00:00+03:00';

async function ask(
  operation: string,
  values: JsonObject,
  at: string,
  configuration: TenantConfiguration = businessWith(),
): Promise<JsonObject> {
  const provider = createBusiness({ now: () => new Date(at) });
  return operationOf(provider, operation).call(toolCall({ tenantId: 'none' }, values, { configuration }));
}

describe('the business provider', () => {
  const rows: { name: string; values: JsonObject; at: string; says: string }[] = [
    {
      name: 'a day',
      values: { date: '2026-12-05' },
      at: MONDAY_NOON,
      says: "On Saturday 5 December we're open 09:00–13:00.",
    },
    {
      name: 'a day with two windows',
      values: { date: '2026-12-01' },
      at: MONDAY_NOON,
      says: "On Tuesday 1 December we're open 09:00–12:30 and 13:30–18:00.",
    },
    {
      name: 'a weekday that is closed',
      values: { date: '2026-12-06' },
      at: MONDAY_NOON,
      says: "We're closed on Sunday 6 December. We open again on Monday 7 December at 09:00.",
    },
    {
      name: 'a closed date',
      values: { date: '2027-01-01' },
      at: MONDAY_NOON,
      says: "We're closed on Friday 1 January. We open again on Saturday 2 January at 09:00.",
    },
    {
      name: 'a time that is open',
      values: { date: '2026-12-05', time: '12:59' },
      at: MONDAY_NOON,
      says: "Yes, at 12:59 on Saturday 5 December we're open.",
    },
    {
      name: 'the minute of closing',
      values: { date: '2026-12-05', time: '13:00' },
      at: MONDAY_NOON,
      says: "At 13:00 on Saturday 5 December we're closed. Our hours that day are 09:00–13:00.",
    },
    {
      name: 'a time without a day, which is today’s',
      values: { time: '17:00' },
      at: MONDAY_NOON,
      says: "Yes, at 17:00 on Monday 30 November we're open.",
    },
  ];
  for (const { name, values, at, says } of rows) {
    it(`answers for ${name}`, async () => {
      assert.equal((await ask('openingHours', values, at))['summary'], says);
    });
  }

  it('answers for now and the usual week when nothing is named', async () => {
    const open = await ask('openingHours', {}, MONDAY_NOON);
    assert.equal(
      open['summary'],
      "We're open now, until 12:30. Our usual hours: Monday to Friday 09:00–12:30 and 13:30–18:00, Saturday 09:00–13:00, Sunday closed.",
    );
    assert.equal(open['open_now'], true);
    assert.equal((open['days'] as JsonObject[]).length, 7);
    const lunch = await ask('openingHours', {}, '2026-11-30T13:00:00+03:00');
    assert.match(summaryOf(lunch), /^We're closed now\. We open again at 13:30\./);
    const weekend = await ask('openingHours', {}, '2026-12-05T15:00:00+03:00');
    assert.match(summaryOf(weekend), /^We're closed now\. We open again on Monday 7 December at 09:00\./);
    const holiday = await ask('openingHours', {}, '2026-12-28T10:00:00+03:00');
    assert.match(summaryOf(holiday), /We're closed on Friday 1 January\.$/);
  });

  it('lives in the zone of the business, also when its clocks change', async () => {
    const windows = [{ from: '09:00', to: '24:00' }];
    const { openingHours } = businessWith().business;
    const berlin = businessWith({
      business: { timeZone: 'Europe/Berlin', openingHours: { ...openingHours, sunday: windows } },
    });
    // 07:30 UTC is 08:30 in winter and 09:30 in summer: the clocks went forward that night.
    const spring = await ask('openingHours', {}, '2027-03-28T07:30:00Z', berlin);
    assert.match(summaryOf(spring), /^We're open now, until 24:00\./);
    const week = await ask('openingHours', {}, '2027-03-21T07:30:00Z', berlin);
    assert.match(summaryOf(week), /^We're closed now\. We open again at 09:00\./);
    const last = await ask('openingHours', { date: '2027-03-28', time: '23:59' }, MONDAY_NOON, berlin);
    assert.match(summaryOf(last), /^Yes/);
  });

  it('tells the date and time of the place, not of the machine', async () => {
    const lagos = businessWith({ business: { timeZone: 'Africa/Lagos' } });
    const result = await ask('currentDate', {}, '2026-11-30T23:30:00Z', lagos);
    assert.deepEqual(result, {
      date: '2026-12-01',
      time: '00:30',
      time_zone: 'Africa/Lagos',
      summary: "It's Tuesday 1 December 2026, 00:30.",
    });
  });

  it('says so when it is closed until further notice', async () => {
    const none = {
      monday: [],
      tuesday: [],
      wednesday: [],
      thursday: [],
      friday: [],
      saturday: [],
      sunday: [],
    };
    const shut = businessWith({ business: { openingHours: none } });
    const { summary } = await ask('openingHours', { date: '2026-12-01' }, MONDAY_NOON, shut);
    assert.equal(summary, "We're closed on Tuesday 1 December. I can't say when we open again.");
  });
});
