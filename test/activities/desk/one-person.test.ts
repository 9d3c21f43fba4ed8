// A person who turned out to be known under two addresses has two chats on one account. Whoever has taken one has both: nothing
// is done and nothing is said in either of them, and their conversations wait.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { leasesOver } from '../../../prisma/functions.js';
import { releaseChat, takeChat } from '../../../prisma/stores/takeover.js';
import type { Identity } from '../../../gateway/incoming-message.js';
import { conversationWorkflowId } from '../../../workflows/domain/ids.js';
import { until } from '../../support/desk.js';
import { ACCOUNT, startOwnerDesk, type OwnerDesk } from '../owner/kit.js';

const HOUR_MS = 3_600_000;
/** A conversation that waits writes nothing; one that goes round in circles writes hundreds. */
const QUIET_EVENTS = 10;

describe('a person with two chats', function () {
  this.timeout(240_000);
  let owners: OwnerDesk;
  let people = 0;
  before(async () => {
    owners = await startOwnerDesk();
    await owners.say('ada', 'help');
    await owners.say('bo', 'help');
  });
  after(() => owners?.stop());

  /** They ask for a booking under their number, write under an id, and then under both. */
  async function twoChats() {
    people += 1;
    const phone: Identity = { kind: 'phone', address: `99900011122${people}` };
    const id: Identity = { kind: 'bsuid', address: `TR.1234${people}` };
    const write = async (identities: readonly [Identity, ...Identity[]], text: string, more: object = {}) => {
      const taken = await owners.desk.inbox.acceptMessage({
        channel: 'whatsapp-cloud',
        accountKey: ACCOUNT,
        chatAddress: identities[0].address,
        identities,
        externalId: `wamid.${randomUUID()}`,
        kind: 'text',
        text,
        speaker: 'customer',
        arrival: 'turn',
        ...more,
      });
      return taken.chatId;
    };
    const slot = owners.slot();
    const text = `Book ${slot.date} at ${slot.time} please`;
    const toolUse = [{ name: 'reserve_slot', input: slot }];
    await owners.desk.model.script({ match: text, withTools: true, toolUse });
    const old = await write([phone], text);
    const asked = await until(
      async () =>
        (await owners.inDesk((tx) => tx.approval.findFirst({ where: { chatId: old, state: 'open' } }))) ??
        undefined,
      60_000,
      'an owner to be asked',
    );
    await write([id], 'Hello from a hidden number');
    const live = await write([phone, id], 'Hello, both now');
    assert.notEqual(live, old, 'they go on in the other chat');
    return { old, live, slot, asked, echo: (more: object) => write([phone, id], 'I see to it', more) };
  }
  const lengthOf = async (chatId: string): Promise<number> => {
    const { tenantId } = owners.desk;
    const handle = owners.desk.client.workflow.getHandle(conversationWorkflowId({ tenantId, chatId }));
    return (await handle.describe()).historyLength;
  };
  const spokenIn = (chatId: string): Promise<number> =>
    owners.inDesk((tx) => tx.outbox.count({ where: { chatId, state: 'sent' } }));

  it('is left alone in both while somebody has one, also after an owner’s yes, and then it is done once', async () => {
    const { old, live, slot, asked, echo } = await twoChats();
    const taken = await echo({ speaker: 'business', arrival: 'human', leaseMs: HOUR_MS });
    assert.equal(taken, live);
    await owners.say('ada', `yes ${asked.ref}`);
    await until(
      async () =>
        (await owners.inDesk((tx) =>
          tx.audit.findFirst({ where: { event: 'step_parked', subjectId: asked.stepId } }),
        )) ?? undefined,
      60_000,
      'the step to be parked',
    );
    const before = [await lengthOf(old), await lengthOf(live), await spokenIn(old), await spokenIn(live)];
    await sleep(3_000);
    assert.equal(await owners.isBooked(slot), false);
    assert.deepEqual([await spokenIn(old), await spokenIn(live)], before.slice(2));
    assert.ok((await lengthOf(old)) - (before[0] ?? 0) < QUIET_EVENTS, 'the old conversation waits');
    assert.ok((await lengthOf(live)) - (before[1] ?? 0) < QUIET_EVENTS, 'the live conversation waits');

    // By the code of the request, whose chat is the old one.
    assert.match(await owners.say('ada', `RELEASE ${asked.ref}`), /The chat is mine again/);
    await until(async () => ((await owners.isBooked(slot)) ? true : undefined), 60_000, 'the booking');
  });

  it('is free in both when one is given back: the sweep rings the other', async () => {
    const { old, live } = await twoChats();
    const { desk } = owners;
    const rows = (): Promise<(Date | null)[]> =>
      owners.inDesk(async (tx) => {
        const chats = await tx.chat.findMany({ where: { id: { in: [old, live] } }, orderBy: { id: 'asc' } });
        return chats.map(({ pausedUntil }) => pausedUntil);
      });
    const later = new Date(Date.now() + HOUR_MS);
    await desk.inScope(desk.tenantId, (scope) =>
      takeChat(scope, { chatId: old, by: 'owner:ada', until: later }),
    );
    assert.deepEqual(await rows(), [later, later]);
    await desk.inScope(desk.tenantId, (scope) => releaseChat(scope, { chatId: old, by: 'owner:ada' }));
    const over = await leasesOver(desk.database.prisma, { olderThanMs: 0, limit: 1_000 });
    const rung = over.map(({ chatId }) => chatId);
    assert.deepEqual([rung.includes(old), rung.includes(live)], [false, true]);
  });
});
