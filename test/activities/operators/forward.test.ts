// A picture goes to somebody behind the desk under a code, and the answer comes back to whoever sent it (spec B5): a real desk,
// real sends to a Graph server that speaks the platform's wire format.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { until } from '../../support/desk.js';
import { PATIENT, PICTURE, startPractice, type Practice } from './kit.js';
import { DOCTORS, type DoctorId } from './practice.js';

describe('questions to operators', function () {
  this.timeout(120_000);
  let own: Practice;
  before(async () => {
    own = await startPractice();
  });
  after(() => own?.stop());

  const write: Practice['write'] = (...args) => own.write(...args);
  const hears: Practice['hears'] = (...args) => own.hears(...args);
  const bodies: Practice['bodies'] = (to) => own.bodies(to);
  const ask: Practice['ask'] = (...args) => own.ask(...args);
  const inDesk: Practice['inDesk'] = (work) => own.inDesk(work);
  const stateOf = async (id: string): Promise<string> =>
    (await inDesk((tx) => tx.operatorRequest.findUniqueOrThrow({ where: { id } }))).state;

  it('gives a doctor the picture and the question, and the patient the doctor’s quoted reply', async () => {
    // Whoever has written within a day may be sent pictures; outside of that the platform takes a template only.
    await write(DOCTORS.ayla, 'Good morning', { speaker: 'operator:ayla' });
    await hears(DOCTORS.ayla, 'No question waits for you');
    const mediaId = own.graph.addMedia({ content: PICTURE, mimeType: 'image/jpeg' });
    const sha256 = createHash('sha256').update(PICTURE).digest('base64');
    await write(PATIENT, '[photo]', {
      kind: 'image',
      details: { media: { id: mediaId, mimeType: 'image/jpeg', sha256 } },
    });
    const { ref } = await ask('ayla', 'Please ask the doctor whether this rash is dangerous');
    const question = await own.wamidOf(DOCTORS.ayla, ref);
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
    const chatId = await own.desk.chatId(DOCTORS.ayla);
    const dayAgo = new Date(Date.now() - 25 * 3_600_000);
    await own.desk.settled(await write(DOCTORS.ayla, 'Still here', { speaker: 'operator:ayla' }));
    await inDesk((tx) => tx.chat.update({ where: { id: chatId }, data: { customerWroteAt: dayAgo } }));
    const mediaId = own.graph.addMedia({ content: PICTURE, mimeType: 'image/jpeg' });
    const patient = '15550107004';
    await write(patient, '[photo]', {
      kind: 'image',
      details: { media: { id: mediaId, mimeType: 'image/jpeg' } },
    });
    const { id, ref } = await ask('ayla', 'Please ask the doctor whether this mole is fine', patient);
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
      await own.desk.settled(await write(DOCTORS.ayla, words, { speaker: 'operator:ayla' }));
      await own.deliverPlanned();
      await until(async () => (pictures() > 0 ? true : undefined), 60_000, 'the picture to arrive');
    }
    assert.deepEqual(await places(), [{ state: 'sent', code: null }, kept, { state: 'sent', code: null }]);
    assert.equal(pictures(), 1);
    await write(DOCTORS.ayla, `${ref} it is fine`, { speaker: 'operator:ayla' });
    await hears(patient, 'it is fine');
  });

  it('takes an answer by its code, once, and says of a second one that nothing more was passed on', async () => {
    const { ref } = await ask('ben', 'Please ask the doctor whether I may swim again');
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
    for (const { id } of [one, two]) assert.equal(await stateOf(id), 'open');
  });

  it('reminds a doctor once, and tells both sides honestly when the time is over', async () => {
    const { id, ref } = await ask('ben', 'Please ask the doctor whether I may fly');
    await inDesk((tx) =>
      tx.operatorRequest.update({ where: { id }, data: { remindAt: new Date(Date.now() - 1_000) } }),
    );
    await own.tick();
    await hears(DOCTORS.ben, `Question ${ref} still waits`);
    await own.tick();
    await inDesk((tx) =>
      tx.operatorRequest.update({ where: { id }, data: { expiresAt: new Date(Date.now() - 1_000) } }),
    );
    await own.tick();
    await hears(PATIENT, 'an answer from Ben in time');
    await hears(DOCTORS.ben, `Question ${ref} is closed`);
    await write(DOCTORS.ben, `${ref} yes you may`, { speaker: 'operator:ben' });
    await until(
      async () =>
        bodies(DOCTORS.ben).filter((body) => body.includes(`Question ${ref} is closed`)).length === 2 ||
        undefined,
      60_000,
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
    await own.desk.model.script({ text: 'I have noted that.' });
    const externalId = await write('15550107009', `${ref} yes you may`);
    await own.desk.settled(externalId);
    assert.equal(await stateOf(id), 'open');
  });

  it('tells a doctor who answers with a voice note, a picture or somebody else’s words to write, and goes on waiting', async () => {
    const { id, ref } = await ask('ayla', 'Please ask the doctor whether I may eat nuts');
    const quoted = await own.wamidOf(DOCTORS.ayla, ref);
    const as = { speaker: 'operator:ayla', quoted } as const;
    const before = bodies(PATIENT).length;
    const media = { id: 'm1', mimeType: 'audio/ogg' };
    const told = (words: string): number =>
      bodies(DOCTORS.ayla).filter((body) => body.includes(words) && body.includes(ref)).length;

    await write(DOCTORS.ayla, '[voice message]', { ...as, kind: 'voice', details: { media } });
    await hears(DOCTORS.ayla, new RegExp(`Please write your answer to ${ref}`));
    await own.desk.settled(
      await write(DOCTORS.ayla, 'As on this one', { ...as, kind: 'image', details: { media } }),
    );
    assert.equal(told('only pass on what is written'), 2);
    await own.desk.settled(
      await write(DOCTORS.ayla, 'Nuts are good for everybody', { ...as, details: { isForwarded: true } }),
    );
    assert.equal(told('A forwarded message answers nothing'), 1);
    assert.equal(bodies(PATIENT).length, before);
    assert.equal(await stateOf(id), 'open');

    await write(DOCTORS.ayla, 'No nuts for you, please.', as);
    await hears(PATIENT, 'No nuts for you');
    assert.equal(await stateOf(id), 'answered');
  });

  it('shows the same picture to a second doctor, and to the first one again who never answered', async () => {
    const patient = '15550107005';
    const mediaId = own.graph.addMedia({ content: PICTURE, mimeType: 'image/jpeg' });
    const details = { media: { id: mediaId, mimeType: 'image/jpeg' } };
    await write(patient, '[photo]', { kind: 'image', details });
    const picturesOf = (id: string): Promise<number> =>
      inDesk((tx) =>
        tx.outbox.count({ where: { originKind: 'operator_request', originId: id, ordinal: { gt: 0 } } }),
      );
    const first = await ask('ayla', 'Please ask the doctor whether spot A is fine', patient);
    const second = await ask('ben', 'Please ask the doctor whether spot B is fine', patient);
    const again = await ask('ayla', 'Please ask the doctor whether spot C is fine', patient);
    assert.deepEqual(await Promise.all([first, second, again].map(({ id }) => picturesOf(id))), [1, 1, 1]);

    await write(DOCTORS.ayla, `${again.ref} it is fine`, { speaker: 'operator:ayla' });
    await hears(patient, 'it is fine');
    // What a person of the shop has sent is no picture of the patient's.
    await own.desk.settled(
      await write(patient, '[photo]', { kind: 'image', details, speaker: 'business' }),
      60_000,
    );
    const later = await ask('ayla', 'Please ask the doctor whether spot D is fine', patient);
    assert.equal(await picturesOf(later.id), 0, 'it was answered about');
  });

  it('has each step of it in the audit', async () => {
    const rows = await inDesk((tx) =>
      tx.audit.groupBy({ by: ['event'], where: { event: { startsWith: 'operator_' } }, _count: true }),
    );
    const events = rows.map(({ event }) => event).sort();
    assert.deepEqual(events, ['operator_answered', 'operator_asked', 'operator_expired']);
  });
});
