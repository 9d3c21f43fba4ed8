// What people write stays in encrypted columns. A canary goes in by every way there is, also inside errors, and must not
// be found anywhere; a tool's name, which is plain by design, must be.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { DateTime } from 'luxon';
import type { Api } from '../support/api-client.js';
import { CRASH_WORKER, setTrap } from '../support/crash-worker/traps.js';
import { filesOf, type Piece, placesOf, rowsOf, workflowsOf } from '../support/dump.js';
import { type Installation, startInstallation } from '../support/installation.js';

const CONTROL = 'reserve_slot';

describe('a canary text', function () {
  this.timeout(120_000);
  // One word, so that no rule about sentences can be what hides it.
  const canary = `canary${randomBytes(6).toString('hex')}`;
  let installation: Installation;
  let api: Api;
  let dumps: Record<'files' | 'rows' | 'workflows', Piece[]>;

  before(async () => {
    installation = await startInstallation({ modelMode: 'scenario', workerProgram: CRASH_WORKER });
    ({ api } = installation);
    await Promise.all([talk(), bookAndReject(), failTheProvider(), breakTheModel()]);
    await proposeNonsense();
    dumps = {
      files: filesOf(installation.dataDir),
      rows: await rowsOf(installation),
      workflows: await workflowsOf(installation),
    };
  });

  it('has been heard by the product, and is told back to whom it belongs', async () => {
    const heard = await api.messages(`${canary}-talk`);
    assert.ok(heard.some(({ text }) => text?.includes(canary)));
    const rejected = await api.messages(`${canary}-reject`);
    assert.ok(rejected.some(({ from, text }) => from === 'assistant' && text?.includes(canary)));
    const failures = await installation.query<{ activity: string }>('select activity from failures');
    assert.ok(
      failures.some(({ activity }) => activity === 'deliver'),
      'an error was provoked, and kept for engineers',
    );
  });

  it('is looked for by a search that finds what is there', () => {
    assert.ok(placesOf(CONTROL, dumps.rows).some((where) => where.startsWith('public.steps')));
    assert.ok(placesOf(CONTROL, dumps.workflows).length > 0);
    const files = placesOf(CONTROL, dumps.files);
    assert.ok(
      files.some((where) => where.startsWith('temporal/')),
      'found in the database of Temporal',
    );
    assert.ok(
      files.some((where) => where.startsWith('postgres/')),
      'found in the files of Postgres',
    );
    assert.ok(files.includes('logs/worker.log'), 'found in a log');
    const text = Buffer.from(`some text with ${canary} inside`);
    const hidden = {
      plain: text,
      base64: Buffer.from(text.toString('base64')),
      hex: Buffer.from(text.toString('hex')),
      utf16: Buffer.from(text.toString(), 'utf16le'),
    };
    for (const [form, bytes] of Object.entries(hidden)) {
      assert.deepEqual(placesOf(canary, [{ where: form, bytes }]), [form]);
    }
  });

  it('is in no file: no log, not in the database of Temporal, not in the files of Postgres', () => {
    assert.deepEqual(placesOf(canary, dumps.files), []);
    assert.ok(!installation.output().includes(canary), 'nor on the screen of the launcher');
  });

  it('is in no history, id, memo or summary of a workflow', () => {
    assert.deepEqual(placesOf(canary, dumps.workflows), []);
  });

  it('is in no row of our database', () => {
    assert.deepEqual(placesOf(canary, dumps.rows), []);
  });

  async function talk(): Promise<void> {
    const chat = `${canary}-talk`;
    const trap = setTrap(installation, 'activity-fails', `duplicate key: (name)=(${canary})`);
    await api.ask(chat, `Hello, my name is ${canary} and my number is +90 555 ${canary}`);
    await trap.caught();
    await api.ask(chat, 'what did I say before?');
  }

  /** A note with the canary, shown to the owner, rejected with the canary as the reason. */
  async function bookAndReject(): Promise<void> {
    const chat = `${canary}-reject`;
    const date = workday().toISODate();
    const text = `Book me a slot, ${canary} reject`;
    await script({
      match: text,
      withTools: true,
      toolUse: [{ name: CONTROL, input: { date, time: '11:00', note: `for ${canary}` } }],
    });
    const id = await api.send(chat, text);
    const { ref, arguments: shown } = await api.approvalOf(chat);
    assert.equal(shown?.['note'], `for ${canary}`);
    await api.decide(ref, 'reject', `no time for ${canary}`);
    await api.settled(chat, id);
  }

  /** The provider fails with the canary in its error; the same booking goes through when it is well again. */
  async function failTheProvider(): Promise<void> {
    const chat = `${canary}-provider`;
    const date = workday().toISODate();
    const text = `Book me a slot, ${canary} provider`;
    await script({
      match: text,
      withTools: true,
      toolUse: [{ name: CONTROL, input: { date, time: '10:00', note: canary } }],
    });
    const id = await api.send(chat, text);
    const { ref } = await api.approvalOf(chat);
    const trap = setTrap(installation, 'provider-fails', `invalid value "${canary}" for column "note"`);
    await api.decide(ref, 'approve');
    await trap.caught();
    await api.settled(chat, id, 40_000);
  }

  /** The model's provider quotes our request in its refusals. */
  async function breakTheModel(): Promise<void> {
    const chat = `${canary}-model`;
    const text = `Tell me a story about ${canary}`;
    await script(
      { match: text, status: 500, message: `overloaded by ${canary}` },
      { match: text, status: 400, errorType: canary, message: `messages.0: ${canary} is not allowed` },
    );
    await api.settled(chat, await api.send(chat, text));
  }

  /** Plans that no check can let through: an invented tool, invented arguments, a question that isn't one. */
  async function proposeNonsense(): Promise<void> {
    const plans = [
      [{ name: canary, input: { [canary]: canary } }],
      [{ name: CONTROL, input: { date: canary, time: canary, [canary]: canary } }],
      [{ name: CONTROL, input: [canary] }],
    ];
    for (const [index, toolUse] of plans.entries()) {
      const chat = `${canary}-nonsense-${index}`;
      const text = `Book me a slot, ${canary} nonsense ${index}`;
      await script({ match: text, withTools: true, times: 8, toolUse, text: `because of ${canary}` });
      await api.settled(chat, await api.send(chat, text));
    }
  }

  async function script(...answers: object[]): Promise<void> {
    const { model } = installation.facts().addresses;
    const response = await fetch(`${model}/control/scenario`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ answers }),
    });
    assert.equal(response.status, 200, await response.text());
  }
});

function workday(): DateTime {
  let day = DateTime.now().setZone('Europe/Istanbul').plus({ days: 2 }).startOf('day');
  while (day.weekday > 5 || day.toISODate() === '2027-01-01') day = day.plus({ days: 1 });
  return day;
}
