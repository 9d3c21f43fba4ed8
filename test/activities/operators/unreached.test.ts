// What doesn't arrive: a question that no operator could be asked, and an answer that no customer got. Whoever waits hears so, and
// owners do. And the clock that sees to it goes on whatever is wrong with a single row.
import { strict as assert } from 'node:assert';
import { randomBytes, randomUUID } from 'node:crypto';
import { planMessage } from '../../../prisma/stores/outbox.js';
import { until } from '../../support/desk.js';
import { addTenant } from '../../support/tenants.js';
import { PATIENT, startPractice, type Practice } from './kit.js';
import { DOCTORS, practice } from './practice.js';

const OWNER = '15550107050';
const UNREACHABLE = 131026;
/** The business hasn't paid: a fault of the whole account. */
const UNPAID = 131042;
/** More than the clock looks at in one round. */
const MANY = 101;

describe('what doesn’t arrive', function () {
  this.timeout(180_000);
  let own: Practice;
  /** A tenant whose configuration can't be used. The clock knows no others than it and the practice. */
  let brokenId = '';

  before(async () => {
    own = await startPractice(
      (shipped) => {
        const { channels, ...more } = practice(shipped);
        const notice = { name: 'owner_notice', language: 'en' };
        return {
          ...more,
          owners: [{ id: 'ada', name: 'Ada', addresses: { whatsapp: [`+${OWNER}`] }, groups: [] }],
          channels: {
            ...channels,
            whatsapp: channels.whatsapp.map((account) => ({
              ...account,
              templates: { ...account.templates, ownerNotice: notice },
            })),
          },
        };
      },
      (tenantId, { tenantId: ownId, configuration }) => {
        if (tenantId === ownId) return configuration;
        return tenantId === brokenId ? { ...configuration, phrases: {} } : undefined;
      },
    );
  });
  after(() => own?.stop());

  const failed = (where: { originKind: string; originId: string } | { turnId: string }): Promise<string> =>
    until(
      () =>
        own.inDesk(async (tx) => {
          const row = await tx.outbox.findFirst({ where: { ...where, state: 'failed' } });
          return row?.id;
        }),
      60_000,
      'the platform to refuse it',
    );
  const noticesAbout = (originId: string): Promise<number> =>
    own.inDesk((tx) => tx.outbox.count({ where: { originKind: 'undelivered_notice', originId } }));

  /** What a patient asked, and the id of the answer that the platform refused. */
  async function refusedAnswer(words: string, code: number): Promise<string> {
    await own.desk.model.script({ match: words, text: `About that: ${words}` });
    own.graph.faults.next({ kind: 'refuse', code });
    const externalId = await own.write(PATIENT, words);
    await own.desk.settled(externalId, 60_000);
    const { id: turnId } = await own.inDesk((tx) =>
      tx.inbox.findFirstOrThrow({ where: { externalId }, select: { id: true } }),
    );
    return failed({ turnId });
  }

  it('closes a question that the doctor never got, and tells the patient and the owner, once', async () => {
    own.graph.faults.nextTo(DOCTORS.ben, { kind: 'refuse', code: UNREACHABLE });
    const { id, ref } = await own.ask('ben', 'Please ask the doctor whether I may dive');
    await failed({ originKind: 'operator_request', originId: id });
    const { desk } = own;
    const picture = await desk.inScope(desk.tenantId, async (scope) => {
      const chatId = await desk.chatId(DOCTORS.ben);
      const { contactId } = await scope.tx.chat.findUniqueOrThrow({ where: { id: chatId } });
      const origin = { kind: 'operator_request', id, ordinal: 1 };
      return planMessage(scope, {
        chatId,
        contactId,
        turnId: null,
        kind: 'acknowledgement',
        origin,
        text: ref,
      });
    });
    await own.tick();
    const { state: left } = await own.inDesk((tx) =>
      tx.outbox.findUniqueOrThrow({ where: { id: picture.outboxId }, select: { state: true } }),
    );
    assert.equal(left, 'discarded', 'a picture without its question');
    await own.hears(PATIENT, "my question didn't reach Ben");
    await own.hears(
      OWNER,
      new RegExp(`Question ${ref} of .*${PATIENT}.* didn't reach Ben \\(${UNREACHABLE}\\)`),
    );
    const { state, closedAt } = await own.inDesk((tx) =>
      tx.operatorRequest.findUniqueOrThrow({ where: { id } }),
    );
    assert.equal(state, 'undeliverable');
    assert.ok(closedAt);
    await own.tick();
    assert.equal(await noticesAbout(id), 1);
    assert.equal(own.bodies(PATIENT).filter((body) => body.includes("didn't reach Ben")).length, 1);
    assert.equal(await own.inDesk((tx) => tx.audit.count({ where: { event: 'operator_unreached' } })), 1);
    await own.write(DOCTORS.ben, `${ref} yes, do`, { speaker: 'operator:ben' });
    await own.hears(DOCTORS.ben, `Question ${ref} is closed`);
  });

  it('leaves a question open that only the platform’s window keeps: it goes once the doctor writes', async () => {
    const { id } = await own.ask('ben', 'Please ask the doctor whether I may climb');
    await own.inDesk((tx) =>
      tx.outbox.updateMany({
        where: { originKind: 'operator_request', originId: id },
        data: { state: 'failed', code: 'window_closed', settledAt: new Date() },
      }),
    );
    await own.tick();
    const { state } = await own.inDesk((tx) => tx.operatorRequest.findUniqueOrThrow({ where: { id } }));
    assert.equal(state, 'open');
  });

  it('tells the owner, once, of an answer that never reached the patient', async () => {
    const outboxId = await refusedAnswer('Do you sell bread?', UNREACHABLE);
    await own.tick();
    await own.hears(OWNER, /didn't arrive \(131026\).*About that: Do you sell bread/);
    await own.tick();
    assert.equal(await noticesAbout(outboxId), 1);
  });

  it('writes to nobody message by message about a fault of the whole account', async () => {
    const outboxId = await refusedAnswer('Do you sell milk?', UNPAID);
    await own.tick();
    assert.equal(await noticesAbout(outboxId), 0);
  });

  it('goes on beside a request that fails, and beside a crowd of tenants that nobody configures', async () => {
    brokenId = await tenantWithRequests(1);
    await tenantWithRequests(MANY);
    const { id, ref } = await own.ask('ayla', 'Please ask the doctor whether I may ski');
    await own.inDesk((tx) =>
      tx.operatorRequest.update({ where: { id }, data: { remindAt: new Date(Date.now() - 1_000) } }),
    );
    await own.tick();
    await own.hears(DOCTORS.ayla, `Question ${ref} still waits`);
    assert.ok(
      own.desk.logLines.some((line) => line.includes('operators.not_told') && line.includes(brokenId)),
    );
  });

  /** So many requests whose time is long over. */
  async function tenantWithRequests(count: number): Promise<string> {
    const { tenantId, accountId } = await addTenant(own.desk.database);
    await own.desk.database.inTenant(tenantId, async (tx) => {
      const contactId = randomUUID();
      const chatId = randomUUID();
      await tx.contact.create({ data: { id: contactId, tenantId, kind: 'person' } });
      await tx.chat.create({
        data: { id: chatId, tenantId, accountId, contactId, kind: 'direct', addressHmac: randomBytes(32) },
      });
      await tx.operatorRequest.createMany({
        data: Array.from({ length: count }, (_, index) => ({
          id: randomUUID(),
          tenantId,
          chatId,
          contactId,
          operatorId: 'nobody',
          kind: 'conversation',
          ref: `Z-${1000 + index}`,
          expiresAt: new Date(Date.now() - 3_600_000),
        })),
      });
    });
    return tenantId;
  }
});
