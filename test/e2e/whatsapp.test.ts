// From a signed webhook to what the platform is asked to send, and back, through processes of their own: a patient's photo and
// the doctor's answer, a person who takes a chat over while an approval waits, reports of the platform, and nothing of what
// anybody wrote in a log, a metric or Temporal.
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { DateTime } from 'luxon';
import { eventually } from '../support/api-client.js';
import { filesOf, placesOf, rowsOf, workflowsOf } from '../support/dump.js';
import { givesWay } from '../support/yielding.js';
import { bookingOf, workdays } from './stands.js';
import { bodyOf, DOCTOR, OWNER, startWhatsappDesk, TOOL, type WhatsappDesk } from './whatsapp-desk.js';

const PICTURE = new Uint8Array(Buffer.from('not really a picture, but bytes of one'));

describe('WhatsApp, from webhook to send', function () {
  this.timeout(180_000);
  const canary = `canary${randomBytes(6).toString('hex')}`;
  /** Of a made-up country code: long enough to be found nowhere by chance. */
  const patient = `999${randomInt(10 ** 9, 10 ** 10)}`;
  const customer = `999${randomInt(10 ** 9, 10 ** 10)}`;
  let own: WhatsappDesk;
  before(async () => {
    own = await startWhatsappDesk();
  });
  after(() => own?.stop());

  const told = (to: string, text: string): number =>
    own.bodies(to).filter((body) => body.includes(text)).length;
  const sendsTo = (to: string) => own.graph.taken().filter(({ recipient }) => recipient === to);
  const script = async (...answers: object[]): Promise<void> => {
    const { model } = own.installation.facts().addresses;
    const response = await fetch(`${model}/control/scenario`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ answers }),
    });
    assert.equal(response.status, 200, await response.text());
  };
  const bookings = async (): Promise<number> =>
    (await own.installation.query("select 1 from bookings where state = 'reserved'")).length;
  const stateOf = (wamid: string): Promise<string> =>
    eventually(
      'the message to reach its end',
      async () => {
        const [row] = await own.installation.query<{ state: string; reason: string | null }>(
          "select state, reason from inbox where external_id = $1 and state not in ('accepted', 'processing')",
          [wamid],
        );
        return row && [row.state, row.reason].filter(Boolean).join(' ');
      },
      60_000,
    );

  it('lets Temporal and the worker give way to what takes messages in', () => {
    const { pids } = own.installation.facts();
    const gateway = givesWay(pids.gateway);
    for (const part of ['worker', 'temporal'] as const) {
      const { own: niceness, group } = givesWay(pids[part]);
      assert.ok(niceness > gateway.own, part);
      if (gateway.group !== undefined) assert.ok((group ?? 0) > gateway.group, `the session of ${part}`);
    }
  });

  it('gives a doctor the photo and the question under a code, and the patient the quoted answer, once', async () => {
    await own.write(DOCTOR, 'Good morning');
    await own.hears(DOCTOR, 'No question waits for you');
    const id = own.graph.addMedia({ content: PICTURE, mimeType: 'image/jpeg' });
    const sha256 = createHash('sha256').update(PICTURE).digest('base64');
    await own.write(patient, { type: 'image', image: { id, mime_type: 'image/jpeg', sha256 } });
    const question = `Please ask the doctor whether this ${canary} is dangerous`;
    await script({ match: question, withTools: true, toolUse: [{ name: TOOL, input: { question } }] });
    const asked = await own.write(patient, question);
    const sent = await own.hears(DOCTOR, canary);
    const [ref = ''] = /[A-Z]-[0-9A-Z]{4}/.exec(bodyOf(sent)) ?? [];
    await own.hears(DOCTOR, /"image":\{[^}]*"id"/);
    await own.hears(patient, ref);
    assert.equal(await stateOf(asked), 'answered detector');

    const answer = `${canary} is harmless, use the cream twice a day.`;
    await own.write(DOCTOR, answer, sent.wamid);
    await own.hears(patient, 'use the cream twice a day');
    await own.hears(DOCTOR, `passed your answer to ${ref}`);
    assert.equal(told(patient, 'use the cream twice a day'), 1);
    await own.write(DOCTOR, 'Z-9999 something else');
    await own.hears(DOCTOR, 'I know no question Z-9999');
    assert.equal(told(patient, 'something else'), 0);
  });

  it('is silent while a person has the chat, also after the owner’s yes, and does and tells it once when it is given back', async () => {
    const [day = DateTime.now()] = workdays(3).slice(2);
    const bookedBefore = await bookings();
    await own.write(OWNER, 'HELP');
    await own.hears(OWNER, 'STATUS');
    const asked = await own.write(customer, bookingOf(day, '11:00'));
    const request = await own.hears(OWNER, '"button"');
    const [ref = ''] = /[A-Z]-[0-9A-Z]{4}/.exec(bodyOf(request)) ?? [];
    const { interactive } = request.request as unknown as {
      interactive: { action: { buttons: { reply: { id: string; title: string } }[] } };
    };
    const [approve] = interactive.action.buttons;
    await own.hears(customer, ref);

    await own.echo(customer, `Hello, ${canary} here, I look after you myself`);
    assert.equal(await stateOf(await own.write(customer, 'Oh, thank you!')), 'handed_off takeover');
    const before = own.bodies(customer).length;
    await own.write(OWNER, {
      type: 'interactive',
      interactive: { type: 'button_reply', button_reply: approve?.reply },
      context: { id: request.wamid },
    });
    await own.hears(OWNER, 'your yes counts');
    await eventually(
      'the step to be parked',
      async () => (await own.installation.query("select 1 from audit where event = 'step_parked'"))[0],
      60_000,
    );
    assert.equal(await stateOf(await own.write(customer, 'Are you there?')), 'handed_off takeover');
    assert.equal(own.bodies(customer).length, before, 'one voice');
    assert.equal(await bookings(), bookedBefore);

    await own.write(OWNER, `RELEASE ${ref}`);
    await own.hears(OWNER, 'The chat is mine again');
    assert.equal(await stateOf(asked), 'answered detector');
    await eventually('the last word', () => own.bodies(customer)[before], 60_000);
    assert.equal(await bookings(), bookedBefore + 1);
    assert.equal(own.bodies(customer).length, before + 1);
  });

  it('keeps what the platform reports, and tells owners of words that never arrived', async () => {
    await own.graph.webhooks.settled();
    const reports = await own.installation.query<{ delivery_status: string | null; count: number }>(
      "select delivery_status, count(*)::int as count from outbox where state = 'sent' group by 1",
    );
    assert.deepEqual(
      reports.map(({ delivery_status: status }) => status),
      ['read'],
    );
    assert.equal(reports[0]?.count, own.graph.taken().length);

    own.graph.report(undefined);
    const before = own.bodies(customer).length;
    const wrote = await own.write(customer, 'Hello again');
    const answer = await eventually('an answer', () => sendsTo(customer)[before], 60_000);
    assert.equal(await own.graph.webhooks.reportNow(answer, 'failed', 131026), 200);
    await own.hears(OWNER, "didn't arrive (131026)");
    assert.equal(await stateOf(wrote), 'handed_off not delivered (131026)');
    const failed = await own.installation.query<{ state: string; code: string | null }>(
      "select state, code from outbox where delivery_status = 'failed'",
    );
    assert.equal(failed.length, 1);
  });

  it('has said everything once, and has nothing left to say', async () => {
    await eventually(
      'the last of our words to end',
      async () => {
        const open = await own.installation.query(
          "select 1 from outbox where state not in ('sent', 'failed', 'discarded')",
        );
        return open.length === 0 ? true : undefined;
      },
      60_000,
    );
    await own.graph.webhooks.settled();
    assert.equal(told(patient, 'use the cream twice a day'), 1);
    assert.equal(told(DOCTOR, 'is dangerous'), 1);
    assert.equal(told(DOCTOR, '"image":'), 1);
    assert.equal(told(OWNER, '"button"'), 1);
    assert.equal(told(patient, 'something else'), 0);
  });

  it('leaves nothing of what was written, and no number, in any log, metric, file of Temporal or row', async () => {
    const { installation } = own;
    const places = {
      rows: await rowsOf(installation),
      workflows: await workflowsOf(installation),
      logs: filesOf(installation.dataDir).filter(({ where }) => where.endsWith('.log')),
    };
    for (const [place, pieces] of Object.entries(places))
      assert.ok(placesOf(TOOL, pieces).length > 0, `the search finds in ${place} what is there`);
    const everything = [...filesOf(installation.dataDir), ...places.rows, ...places.workflows];
    for (const secret of [canary, patient, customer]) assert.deepEqual(placesOf(secret, everything), []);
    const { addresses } = installation.facts();
    const [token] = filesOf(installation.dataDir).filter(({ where }) => where === 'api-token');
    const metrics = await fetch(new URL('/metrics', addresses.chat), {
      headers: { authorization: `Bearer ${token?.bytes.toString().trim() ?? ''}` },
    });
    const text = await metrics.text();
    assert.match(text, /aroko_messages/);
    for (const secret of [canary, patient, customer]) assert.ok(!text.includes(secret));
  });
});
