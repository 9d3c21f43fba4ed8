// A worker that is killed with -9 around an operator's answer (spec B5): between the question and the answer, and between the
// reply that was taken and its delivery. Whoever comes next goes on, and everybody hears everything once.
import { strict as assert } from 'node:assert';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGraphClient } from '../../../activities/whatsapp-cloud/graph.js';
import { openDesk, until, type Desk } from '../../../bench/desk.js';
import type { MessageDetails, Speaker } from '../../../workflows/domain/incoming.js';
import { startFakeGraph, type FakeGraph } from '../../support/graph/server.js';
import { freshDatabase } from '../../support/postgres.js';
import { freshNamespace } from '../../support/temporal.js';
import { createSweep } from '../../../gateway/sweep.js';
import { WORKFLOWS } from '../../../worker/workflow-source.js';
import { bundleOf } from '../../ground/workflow-bundle.js';
import { ACCOUNT, DOCTORS, practice, TOKEN, TOOL, type DoctorId } from './practice.js';

const PICTURE = new Uint8Array(Buffer.from('bytes in a picture’s place'));
const WITHIN_MS = 120_000;

describe('a worker that is killed around an operator’s answer', function () {
  this.timeout(400_000);
  let desk: Desk;
  let graph: FakeGraph;
  let startWorker: () => ChildProcess;
  let sweep: () => Promise<unknown>;
  const workers = new Set<ChildProcess>();
  const folder = mkdtempSync(join(tmpdir(), 'aroko-operators-'));

  before(async () => {
    const [urls, temporal, { code }] = await Promise.all([
      freshDatabase(),
      freshNamespace(),
      bundleOf(WORKFLOWS),
    ]);
    // Bundled once for all of them.
    const bundle = join(folder, 'workflows.cjs');
    writeFileSync(bundle, code);
    graph = await startFakeGraph({
      numbers: [{ accountKey: ACCOUNT, displayNumber: '15550107000' }],
      token: TOKEN,
    });
    const masterKey = new Uint8Array(randomBytes(32));
    desk = await openDesk(
      { applicationUrl: urls.applicationUrl, temporal },
      {
        configure: practice,
        masterKey,
        withoutWorker: true,
        graph: createGraphClient({ secrets: { get: () => TOKEN }, baseUrl: graph.url }),
      },
    );
    const where = JSON.stringify({
      databaseUrl: urls.applicationUrl,
      masterKey: Buffer.from(masterKey).toString('hex'),
      graphUrl: graph.url,
      modelUrl: desk.model.url,
      temporal,
      bundle,
    });
    startWorker = () => {
      const worker = fork('test/activities/operators/worker-main.ts', [where], {
        execArgv: ['--import', 'tsx'],
      });
      workers.add(worker);
      return worker;
    };
    const { database, conversations, log: logger } = desk;
    const { sweepOnce } = createSweep({ database, conversations, logger });
    sweep = sweepOnce;
  });
  after(async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    await desk.stop();
    await graph.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Ready, and waiting for its time. */
  async function spareWorker(): Promise<ChildProcess> {
    const worker = startWorker();
    await once(worker, 'message');
    return worker;
  }

  async function kill9(worker: ChildProcess): Promise<void> {
    worker.kill('SIGKILL');
    const [, signal] = await once(worker, 'exit');
    assert.equal(signal, 'SIGKILL');
  }

  async function write(
    from: string,
    text: string,
    how: { speaker?: Speaker; quoted?: string; details?: MessageDetails } = {},
  ): Promise<string> {
    const { speaker = 'customer', quoted, details } = how;
    const externalId = `wamid.${randomUUID()}`;
    await desk.inbox.acceptMessage({
      channel: 'whatsapp-cloud',
      accountKey: ACCOUNT,
      chatAddress: from,
      externalId,
      kind: details ? 'image' : 'text',
      text,
      details,
      speaker,
      arrival: speaker === 'customer' ? 'turn' : 'operator_reply',
      quotedExternalId: quoted,
    });
    return externalId;
  }

  const sendsTo = (to: string, text: string | RegExp) =>
    graph.taken().filter(({ recipient, request }) => {
      const body = JSON.stringify(request);
      return recipient === to && (typeof text === 'string' ? body.includes(text) : text.test(body));
    });
  const hears = (to: string, text: string | RegExp) =>
    until(async () => sendsTo(to, text)[0], WITHIN_MS, `${to} to hear ${String(text)}`);

  /** A patient's photo and question go to a doctor; answers the code, and the id under which the doctor has it. */
  async function forward(patient: string, doctor: DoctorId, question: string) {
    const mediaId = graph.addMedia({ content: PICTURE, mimeType: 'image/jpeg' });
    await write(patient, '[photo]', { details: { media: { id: mediaId, mimeType: 'image/jpeg' } } });
    const text = `Please ask the doctor ${question}`;
    await desk.model.script({
      match: text,
      withTools: true,
      toolUse: [{ name: TOOL, input: { question: text, operator: doctor } }],
    });
    await write(patient, text);
    const { wamid, request } = await hears(DOCTORS[doctor], question);
    const ref = /\b[A-Z]-[A-Z0-9]{4}\b/.exec(JSON.stringify(request))?.[0] ?? '';
    await hears(DOCTORS[doctor], new RegExp(`"image":.*${ref}`));
    await hears(patient, ref);
    return { ref, wamid };
  }

  /** What the gateway does every 5 s, with no time to wait for: planned words are handed over. */
  async function sweeping<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const swept = (async () => {
      while (!isOver) {
        await desk.database.inTenant(desk.tenantId, (tx) =>
          tx.outbox.updateMany({
            where: { state: 'planned', turnId: null },
            data: { plannedAt: new Date(Date.now() - 60_000) },
          }),
        );
        await sweep();
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    })();
    return work.finally(async () => {
      isOver = true;
      await swept;
    });
  }

  it('passes the answer on once: killed after the question, before and after the reply was taken', async () => {
    const first = await spareWorker();
    first.send({ what: 'begin' });
    const nextOne = spareWorker();
    for (const [id, number] of Object.entries(DOCTORS)) {
      await write(number, 'Good morning', { speaker: `operator:${id}` });
      await hears(number, 'No question waits for you');
    }
    const patients = ['15550107101', '15550107102'] as const;
    const [rash, tea] = await sweeping(
      Promise.all([
        forward(patients[0], 'ayla', 'whether this rash is dangerous'),
        forward(patients[1], 'ben', 'whether tea is fine'),
      ]),
    );
    // Between the question and the answer: nobody is there when the doctors reply.
    await kill9(first);
    await write(DOCTORS.ayla, 'Use the cream twice a day.', { speaker: 'operator:ayla', quoted: rash.wamid });
    await write(DOCTORS.ben, `${tea.ref} green tea only`, { speaker: 'operator:ben' });
    assert.equal(sendsTo(patients[0], 'cream').length + sendsTo(patients[1], 'green tea').length, 0);
    const second = await nextOne;
    const lastOne = spareWorker();

    // Between the reply and its delivery, at two points at once.
    const stopped = new Set<string>();
    second.on('message', ({ stopped: chatId }: { stopped?: string }) => chatId && stopped.add(chatId));
    second.send({ what: 'stop', when: 'planned', chatId: await desk.chatId(patients[0]) });
    second.send({ what: 'stop', when: 'decided', chatId: await desk.chatId(DOCTORS.ben) });
    second.send({ what: 'begin' });
    await until(async () => (stopped.size === 2 ? true : undefined), WITHIN_MS, 'both points');
    await kill9(second);
    assert.equal(sendsTo(patients[0], 'cream').length + sendsTo(patients[1], 'green tea').length, 0);
    (await lastOne).send({ what: 'begin' });
    await hears(patients[0], 'Use the cream twice a day');
    await hears(patients[1], 'green tea only');
    for (const { number, ref } of [
      { number: DOCTORS.ayla, ref: rash.ref },
      { number: DOCTORS.ben, ref: tea.ref },
    ])
      await hears(number, `passed your answer to ${ref}`);

    // The rows are swept once more, as after any restart: nobody hears anything twice.
    await sweeping(new Promise((resolve) => setTimeout(resolve, 1_500)));
    assert.equal(sendsTo(patients[0], 'cream').length, 1);
    assert.equal(sendsTo(patients[1], 'green tea').length, 1);
    for (const [number, { ref }] of [
      [DOCTORS.ayla, rash],
      [DOCTORS.ben, tea],
    ] as const) {
      assert.equal(sendsTo(number, `passed your answer to ${ref}`).length, 1);
      assert.equal(sendsTo(number, /"image":/).length, 1);
    }
    const open = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.operatorRequest.count({ where: { state: { not: 'answered' } } }),
    );
    assert.equal(open, 0);
  });
});
