// A customer on WhatsApp, through everything that is real: the inbox, the conversation, the worker, and HTTP to the platform.
import assert from 'node:assert/strict';
import { settleReported } from '../../../prisma/stores/sends.js';
import { noteStatuses } from '../../../prisma/stores/statuses.js';
import { until } from '../../support/desk.js';
import { startWhatsAppDesk, type WhatsAppDesk } from '../../support/graph/desk.js';
import { ACCOUNT } from './account.js';

const CUSTOMER = '905550003344';

describe('a conversation on WhatsApp', function () {
  this.timeout(120_000);
  let whatsapp: WhatsAppDesk;
  before(async () => {
    whatsapp = await startWhatsAppDesk(ACCOUNT);
  });
  after(() => whatsapp.stop());
  beforeEach(() => whatsapp.fake.forget());

  const said = (count: number): Promise<string[]> =>
    until(
      async () => {
        const taken = whatsapp.fake.taken();
        if (taken.length < count) return undefined;
        return taken.map(({ request }) => (request.type === 'text' ? request.text.body : request.type));
      },
      60_000,
      `${count} messages on WhatsApp`,
    );

  it('is answered there, in its own marks', async () => {
    const { desk } = whatsapp;
    await desk.model.script({ text: 'We open at **nine**.' });
    const settled = await desk.settled(await whatsapp.write(CUSTOMER, 'good morning'), 60_000);
    assert.equal(settled.state, 'answered');
    assert.deepEqual(await said(1), ['We open at *nine*.']);
  });

  it('shows that the message was read, and that somebody types', async () => {
    const { desk, fake } = whatsapp;
    await desk.model.script({ text: 'Yes.' });
    const id = await whatsapp.write(CUSTOMER, 'good evening to you all');
    await desk.settled(id, 60_000);
    const shown = await until(async () => fake.reads()[0], 10_000, 'the message to be read');
    assert.deepEqual(shown, { messageId: id, isTyping: true });
  });

  it('goes on in order after the platform was busy, and after a send of which nobody knows', async () => {
    const { desk, fake } = whatsapp;
    fake.faults.next({ kind: 'refuse', code: 130429 }, { kind: 'slow', ms: 1 }, { kind: 'cutAfter' });
    const ids: string[] = [];
    for (const text of ['one', 'two', 'three']) {
      await desk.model.script({ text });
      ids.push(await whatsapp.write(CUSTOMER, `hello ${text}`));
      if (text !== 'two') await desk.settled(ids.at(-1) ?? '', 60_000);
      else await said(2);
    }
    assert.deepEqual(await said(3), ['one', 'two', 'three']);
    assert.equal(fake.attempts(), 4, 'one clean refusal');
    // The second is open until its status comes.
    const unknown = fake.taken()[1];
    assert.ok(unknown?.callbackData, 'our id went along');
    const outboxId = unknown.callbackData;
    const state = () =>
      desk.database.inTenant(desk.tenantId, async (tx) => {
        const row = await tx.outbox.findUniqueOrThrow({ where: { id: outboxId } });
        return row.state;
      });
    assert.equal(await state(), 'unknown');
    await noteStatuses(desk.database.prisma, {
      channel: 'whatsapp-cloud',
      accountKey: ACCOUNT.accountKey,
      statuses: [{ externalId: unknown.wamid, outboxId, status: 'delivered', digest: new Uint8Array([1]) }],
    });
    await desk.inScope(desk.tenantId, (scope) => settleReported(scope, outboxId));
    assert.equal(await state(), 'sent');
    assert.equal((await desk.settled(ids[1] ?? '')).state, 'answered');
    assert.equal(fake.taken().length, 3);
  });
});
