// What customers ask at the sample desk, through the real lane, and what it takes to add a tool: an entry in a file, and
// for a system of its own one provider.
import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfiguration } from '../../../config/load.js';
import { tool } from '../../../config/schema/tools.js';
import { startDesk, type Desk } from '../../support/desk.js';
import { createLostProperty } from '../../support/lost-property.js';

/** An operation that exists, offered in another way. */
const BY_CONFIGURATION_ALONE = `
  withdraw_by_code:
    provider: bookings
    operation: cancelBooking
    description: Withdraws a booking by its code.
    whenToUse: The customer gives the code of a booking to withdraw.
    whenNotToUse: The customer names a day and a time instead.
    aliases: [withdraw]
    triggerPhrases: [withdraw booking, withdraw code]
    effect: reversible
    risk: medium
    actors: [customer]
    chatKinds: [direct]
    privateData: true
    inputSchema:
      type: object
      additionalProperties: false
      required: [reference]
      properties:
        reference: { type: string, title: the code, pattern: '^B[0-9A-F]{5}$', description: The code of the booking. }
    outputSchema:
      type: object
      additionalProperties: false
      required: [status, when, summary]
      properties:
        status: { type: string }
        when: { type: string }
        summary: { type: string }
    timeoutMs: 5000
    asyncEligible: true
`;

const WITH_A_PROVIDER = `
provider: lost_property
operation: lookUp
description: Looks up what was found and lies in the lost property box.
whenToUse: The customer has lost something and asks whether it was found.
whenNotToUse: The customer asks about anything else.
aliases: [lost property]
triggerPhrases: [lost property, did anybody find]
examples: [Did anybody find an umbrella?]
effect: read
risk: low
actors: [customer]
chatKinds: [direct]
privateData: false
inputSchema:
  type: object
  additionalProperties: false
  required: [thing]
  properties:
    thing: { type: string, enum: [glove, helmet, umbrella], description: What was lost. }
outputSchema:
  type: object
  additionalProperties: false
  required: [found, summary]
  properties: { found: { type: boolean }, summary: { type: string } }
timeoutMs: 1000
asyncEligible: true
`;

describe('conversations at the sample desk', function () {
  this.timeout(60_000);
  let desk: Desk;
  let directory: string;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'aroko-tools-'));
    cpSync('config', directory, { recursive: true });
    appendFileSync(join(directory, 'tenants/harbour-desk/tools.yaml'), BY_CONFIGURATION_ALONE);
    const configured = loadConfiguration({ directory }).tenants.get('harbour-desk');
    assert.ok(configured);
    const added = { name: 'find_lost_property', ...tool.parse(parse(WITH_A_PROVIDER)) };
    desk = await startDesk({
      configure: () => ({ ...configured, tools: [...configured.tools, added] }),
      wrapDeps: (deps) => ({
        ...deps,
        providers: {
          ...deps.providers,
          lost_property: createLostProperty({ helmet: 'on the shelf by the door' }),
        },
      }),
    });
  });
  after(async () => {
    await desk.stop();
    rmSync(directory, { recursive: true });
  });

  const ask = async (chat: string, text: string): Promise<string> =>
    (await desk.ask(chat, text)).at(-1) ?? 'nothing was said';
  /** Asks for something that needs the owner's yes, gives it, and answers what the customer was told in the end. */
  const askAndApprove = async (chat: string, text: string): Promise<string> => {
    const id = await desk.send(chat, text);
    const { ref } = await desk.openApproval();
    await desk.decide(ref, 'approve');
    await desk.settled(id);
    return (await desk.replies(chat)).at(-1)?.text ?? 'nothing was said';
  };

  it('tells the hours of a day and a price from the pages, with its source', async () => {
    assert.match(await ask('vi', 'When are you open on Saturday?'), /Saturday .*09:00–13:00/);
    assert.match(
      await ask('vi', 'How much is a puncture repair?'),
      /₺350.*\(Prices › How much does a repair cost\?\)/,
    );
  });

  it('lists, moves and cancels what somebody has booked', async () => {
    assert.equal(await ask('wes', 'What bookings do I have?'), 'You have no bookings ahead.');
    assert.match(await askAndApprove('wes', 'Book Monday at 9 please'), /booked for Monday .* at 09:00/);
    const moved = await askAndApprove('wes', 'Move my Monday 9 booking to Tuesday 10:30');
    assert.match(moved, /moved from Monday .* at 09:00 to Tuesday .* at 10:30/);
    assert.match(await ask('wes', 'When is my appointment?'), /a booking on Tuesday .* at 10:30/);
    assert.match(await ask('xia', 'What bookings do I have?'), /no bookings/);
    assert.match(
      await askAndApprove('xia', 'Cancel my booking on Tuesday at 10:30'),
      /can't find a booking of yours on Tuesday/,
    );
    assert.match(
      await askAndApprove('wes', 'Cancel my booking on Tuesday at 10:30'),
      /booking on Tuesday .* at 10:30 is cancelled/,
    );
    assert.match(await ask('wes', 'What bookings do I have?'), /no bookings/);
  });

  it('asks for what a move needs, and completes it by the answers', async () => {
    assert.match(await askAndApprove('yan', 'Book Monday at 11'), /booked/);
    assert.match(await ask('yan', 'Move my booking'), /\?$/);
    assert.match(await ask('yan', 'Monday at 11'), /\?$/);
    assert.match(
      await askAndApprove('yan', 'Wednesday 14:00'),
      /from Monday .* at 11:00 to Wednesday .* at 14:00/,
    );
  });

  it('takes a tool that is nothing but an entry in a file', async () => {
    assert.match(await askAndApprove('zoe', 'Book Thursday at 10'), /booked/);
    const { reference } = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.booking.findFirstOrThrow({ where: { state: 'reserved' }, orderBy: { createdAt: 'desc' } }),
    );
    const told = await askAndApprove('zoe', `Withdraw booking ${reference}`);
    assert.match(told, /Your booking on Thursday .* at 10:00 is cancelled/);
    const steps = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.step.findMany({ where: { tool: 'withdraw_by_code' } }),
    );
    assert.deepEqual(
      steps.map(({ state }) => state),
      ['succeeded'],
    );
  });

  it('takes a tool with one provider of its own', async () => {
    assert.equal(await ask('zak', 'Did anybody find a helmet?'), 'The helmet is on the shelf by the door.');
    assert.equal(await ask('zak', 'Did anybody find an umbrella?'), 'No umbrella was brought to us.');
  });
});
