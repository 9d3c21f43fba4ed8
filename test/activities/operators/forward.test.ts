// A picture goes to somebody behind the desk under a code, and the answer comes back to whoever sent it (spec B5): a real desk,
// real sends to a Graph server that speaks the platform's wire format.
import { strict as assert } from 'node:assert';
import { createHash, randomUUID } from 'node:crypto';
import { createGraphClient } from '../../../activities/whatsapp-cloud/graph.js';
import { createOperatorClock } from '../../../gateway/operator-clock.js';
import type { Tx } from '../../../prisma/database.js';
import type { MessageDetails, Speaker } from '../../../workflows/domain/incoming.js';
import { startDesk, until, type Desk } from '../../support/desk.js';
import { startFakeGraph, type FakeGraph } from '../../support/graph/server.js';
import { ACCOUNT, DOCTORS, practice, TOKEN, TOOL, type DoctorId } from './practice.js';

const PATIENT = '15550107001';
const PICTURE = new Uint8Array(Buffer.from('not really a picture, but bytes of one'));

describe('questions to operators', function () {
  this.timeout(120_000);
  let desk: Desk;
  let graph: FakeGraph;
  let tick: () => Promise<number>;

  before(async () => {
    graph = await startFakeGraph({
      numbers: [{ accountKey: ACCOUNT, displayNumber: '+15550107000' }],
      token: TOKEN,
    });
    desk = await startDesk({
      graph: createGraphClient({ secrets: { get: () => TOKEN }, baseUrl: graph.url }),
      configure: practice,
    });
    const clock = createOperatorClock({
      database: desk.database,
      inScope: desk.inScope,
      conversations: desk.conversations,
      configurationOf: () => desk.configuration,
      logger: desk.log,
    });
    tick = () => clock.tick();
  });
  after(async () => {
    await desk.stop();
    await graph.close();
  });

  async function write(
    from: string,
    text: string,
    how: { speaker?: Speaker; quoted?: string; details?: MessageDetails; kind?: 'text' | 'image' } = {},
  ): Promise<string> {
    const { speaker = 'customer', quoted, details, kind = 'text' } = how;
    const externalId = `wamid.${randomUUID()}`;
    await desk.inbox.acceptMessage({
      channel: 'whatsapp-cloud',
      accountKey: ACCOUNT,
      chatAddress: from,
      externalId,
      kind,
      text,
      details,
      speaker,
      arrival: speaker === 'customer' ? 'turn' : 'operator_reply',
      quotedExternalId: quoted,
    });
    return externalId;
  }

  const bodies = (to: string): string[] =>
    graph.taken().flatMap(({ recipient, request }) => (recipient === to ? [JSON.stringify(request)] : []));
  const hears = (to: string, text: string | RegExp): Promise<string> =>
    until(
      async () =>
        bodies(to).find((body) => (typeof text === 'string' ? body.includes(text) : text.test(body))),
      60_000,
      `${to} to hear ${String(text)}`,
    );
  const inDesk = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => desk.database.inTenant(desk.tenantId, work);

  /** A patient asks something that goes to a doctor; answers the request as it was opened. */
  async function ask(doctor: DoctorId, question: string, patient = PATIENT) {
    await desk.model.script({
      match: question,
      withTools: true,
      toolUse: [{ name: TOOL, input: { question, operator: doctor } }],
    });
    const externalId = await write(patient, question);
    const row = await until(
      () =>
        inDesk(async (tx) => {
          const message = await tx.inbox.findFirstOrThrow({ where: { externalId }, select: { id: true } });
          return (await tx.operatorRequest.findFirst({ where: { turnId: message.id } })) ?? undefined;
        }),
      20_000,
      'a request to be opened',
    );
    await desk.settled(externalId);
    return row;
  }

  /** What the gateway's sweep does after a while: hands planned words over. */
  async function deliverPlanned(): Promise<void> {
    const rows = await inDesk((tx) =>
      tx.outbox.findMany({
        where: { state: 'planned', turnId: null },
        orderBy: [{ plannedAt: 'asc' }, { ordinal: 'asc' }],
        select: { id: true, chatId: true },
      }),
    );
    for (const { id, chatId } of rows) {
      await desk.conversations.say({
        tenantId: desk.tenantId,
        chatId,
        turnId: id,
        outboxId: id,
        kind: 'answer',
        final: true,
      });
    }
  }

  async function wamidOf(to: string, text: string): Promise<string> {
    await hears(to, text);
    const sent = graph
      .taken()
      .find((each) => each.recipient === to && JSON.stringify(each.request).includes(text));
    return sent?.wamid ?? '';
  }

  it('gives a doctor the picture and the question, and the patient the doctor’s quoted reply', async () => {
    // Whoever has written within a day may be sent pictures; outside of that the platform takes a template only.
    await write(DOCTORS.ayla, 'Good morning', { speaker: 'operator:ayla' });
    await hears(DOCTORS.ayla, 'No question waits for you');
    const mediaId = graph.addMedia({ content: PICTURE, mimeType: 'image/jpeg' });
    const sha256 = createHash('sha256').update(PICTURE).digest('base64');
    await write(PATIENT, '[photo]', {
      kind: 'image',
      details: { media: { id: mediaId, mimeType: 'image/jpeg', sha256 } },
    });
    const { ref } = await ask('ayla', 'Please ask the doctor whether this rash is dangerous');
    await deliverPlanned();
    const question = await wamidOf(DOCTORS.ayla, ref);
    await hears(DOCTORS.ayla, /"image":/);
    assert.ok(bodies(DOCTORS.ayla).some((body) => body.includes('whether this rash is dangerous')));
    await hears(PATIENT, ref);

    await write(DOCTORS.ayla, 'It is harmless, use the cream twice a day.', {
      speaker: 'operator:ayla',
      quoted: question,
    });
    await hears(PATIENT, 'use the cream twice a day');
    await hears(DOCTORS.ayla, `passed your answer to ${ref}`);
    const told = bodies(PATIENT).filter((body) => body.includes('use the cream twice a day'));
    assert.equal(told.length, 1);
  });

  it('sends a doctor who hadn’t written for a day the picture once they write, and once only', async () => {
    await write(DOCTORS.ayla, 'I am here', { speaker: 'operator:ayla' });
    const chatId = await desk.chatId(DOCTORS.ayla);
    const dayAgo = new Date(Date.now() - 25 * 3_600_000);
    await desk.settled(await write(DOCTORS.ayla, 'Still here', { speaker: 'operator:ayla' }));
    await inDesk((tx) => tx.chat.update({ where: { id: chatId }, data: { customerWroteAt: dayAgo } }));
    const mediaId = graph.addMedia({ content: PICTURE, mimeType: 'image/jpeg' });
    const patient = '15550107004';
    await write(patient, '[photo]', {
      kind: 'image',
      details: { media: { id: mediaId, mimeType: 'image/jpeg' } },
    });
    const { id, ref } = await ask('ayla', 'Please ask the doctor whether this mole is fine', patient);
    await deliverPlanned();
    const pictures = (): number =>
      bodies(DOCTORS.ayla).filter((body) => body.includes('"image":') && body.includes(ref)).length;
    await hears(DOCTORS.ayla, new RegExp(`"template".*${ref}`));
    const places = () =>
      inDesk((tx) =>
        tx.outbox.findMany({
          where: { originId: id, originKind: 'operator_request' },
          orderBy: { ordinal: 'asc' },
          select: { state: true, code: true },
        }),
      );
    const kept = { state: 'failed', code: 'window_closed' };
    await until(
      async () => ((await places())[1]?.state === 'failed' ? true : undefined),
      60_000,
      'the picture to be refused',
    );
    assert.deepEqual(await places(), [{ state: 'sent', code: null }, kept]);
    assert.equal(pictures(), 0);

    for (const words of ['What is it about?', 'Hello?']) {
      await desk.settled(await write(DOCTORS.ayla, words, { speaker: 'operator:ayla' }));
      await deliverPlanned();
      await until(async () => (pictures() > 0 ? true : undefined), 60_000, 'the picture to arrive');
    }
    assert.deepEqual(await places(), [{ state: 'sent', code: null }, kept, { state: 'sent', code: null }]);
    assert.equal(pictures(), 1);
    await write(DOCTORS.ayla, `${ref} it is fine`, { speaker: 'operator:ayla' });
    await hears(patient, 'it is fine');
  });

  it('takes an answer by its code, once, and says of a second one that nothing more was passed on', async () => {
    const { ref } = await ask('ben', 'Please ask the doctor whether I may swim again');
    await deliverPlanned();
    await write(DOCTORS.ben, `${ref.replace('-', '').toLowerCase()}: yes, from Friday on`, {
      speaker: 'operator:ben',
    });
    await hears(PATIENT, 'yes, from Friday on');
    await write(DOCTORS.ben, `${ref} no, rather not`, { speaker: 'operator:ben' });
    await hears(DOCTORS.ben, `Question ${ref} has been answered already`);
    assert.ok(!bodies(PATIENT).some((body) => body.includes('rather not')));
  });

  it('passes nothing on for a wrong code, a colleague’s code, a code without words, or without any code', async () => {
    const one = await ask('ayla', 'Please ask the doctor whether coffee is fine');
    const two = await ask('ayla', 'Please ask the doctor whether tea is fine');
    const before = bodies(PATIENT).length;
    const table: [DoctorId, string, string][] = [
      ['ayla', 'Z-9999 everything is fine', 'I know no question Z-9999'],
      ['ben', `${one.ref} everything is fine`, `Question ${one.ref} was put to somebody else`],
      ['ayla', one.ref, `no answer beside ${one.ref}`],
      ['ayla', 'everything is fine', 'Which question do you answer?'],
    ];
    for (const [doctor, text, told] of table) {
      await write(DOCTORS[doctor], text, { speaker: `operator:${doctor}` });
      await hears(DOCTORS[doctor], told);
    }
    assert.equal(bodies(PATIENT).length, before);
    for (const { id } of [one, two])
      assert.equal(
        (await inDesk((tx) => tx.operatorRequest.findUniqueOrThrow({ where: { id } }))).state,
        'open',
      );
  });

  it('reminds a doctor once, and tells both sides honestly when the time is over', async () => {
    const { id, ref } = await ask('ben', 'Please ask the doctor whether I may fly');
    await deliverPlanned();
    await inDesk((tx) =>
      tx.operatorRequest.update({ where: { id }, data: { remindAt: new Date(Date.now() - 1_000) } }),
    );
    await tick();
    await hears(DOCTORS.ben, `Question ${ref} still waits`);
    await tick();
    await inDesk((tx) =>
      tx.operatorRequest.update({ where: { id }, data: { expiresAt: new Date(Date.now() - 1_000) } }),
    );
    await tick();
    await hears(PATIENT, 'an answer from Ben in time');
    await hears(DOCTORS.ben, `Question ${ref} is closed`);
    await write(DOCTORS.ben, `${ref} yes you may`, { speaker: 'operator:ben' });
    await until(
      async () =>
        bodies(DOCTORS.ben).filter((body) => body.includes(`Question ${ref} is closed`)).length === 2 ||
        undefined,
      20_000,
      'the late answer to be refused',
    );
    assert.equal(
      bodies(DOCTORS.ben).filter((body) => body.includes(`Question ${ref} still waits`)).length,
      1,
    );
    assert.ok(!bodies(PATIENT).some((body) => body.includes('yes you may')));
  });

  it('never takes a patient for a doctor, whatever code they type', async () => {
    const { id, ref } = await ask('ayla', 'Please ask the doctor whether I may run');
    await desk.model.script({ text: 'I have noted that.' });
    const externalId = await write('15550107009', `${ref} yes you may`);
    await desk.settled(externalId);
    assert.equal(
      (await inDesk((tx) => tx.operatorRequest.findUniqueOrThrow({ where: { id } }))).state,
      'open',
    );
  });

  it('has each step of it in the audit', async () => {
    const rows = await inDesk((tx) =>
      tx.audit.groupBy({ by: ['event'], where: { event: { startsWith: 'operator_' } }, _count: true }),
    );
    const events = rows.map(({ event }) => event).sort();
    assert.deepEqual(events, ['operator_answered', 'operator_asked', 'operator_expired']);
  });
});
