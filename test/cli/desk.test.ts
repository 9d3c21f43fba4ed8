// The command line beside a desk that works: real Temporal, real worker; the first decision is made by another process, the
// others by the same command in this one, which saves the seconds that a process takes to start.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDesk, type Desk } from '../../bench/desk.js';
import { freshDatabase } from '../support/postgres.js';
import { freshNamespace } from '../support/temporal.js';
import { aroko, type Variables } from './cli.js';
import { arokoHere } from './here.js';

describe('the command line beside a desk at work', function () {
  this.timeout(240_000);
  let desk: Desk;
  let folder: string;
  let variables: Variables;
  let ownerId: string;

  before(async () => {
    const [urls, temporal] = await Promise.all([freshDatabase(), freshNamespace()]);
    const masterKey = new Uint8Array(randomBytes(32));
    desk = await openDesk({ applicationUrl: urls.applicationUrl, temporal }, { masterKey });
    folder = await mkdtemp(join(tmpdir(), 'aroko-cli-'));
    const masterKeyFile = join(folder, 'master-key');
    await writeFile(masterKeyFile, Buffer.from(masterKey).toString('base64'), { mode: 0o600 });
    ownerId = desk.configuration.owners[0]?.id ?? '';
    variables = {
      AROKO_DATABASE_URL: urls.applicationUrl,
      AROKO_MASTER_KEY_FILE: masterKeyFile,
      AROKO_TEMPORAL_ADDRESS: temporal.address,
      AROKO_TEMPORAL_NAMESPACE: temporal.namespace,
    };
  });
  after(async () => {
    await desk.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...args: string[]) => arokoHere(args, variables);
  const booked = (): Promise<string[]> =>
    desk.database.inTenant(desk.tenantId, async (tx) => {
      const rows = await tx.booking.findMany({ where: { state: 'reserved' }, orderBy: { startsAt: 'asc' } });
      return rows.map((row) => row.startsAt.toISOString());
    });
  const lastReply = async (chat: string) => (await desk.replies(chat)).at(-1)?.text ?? '';

  it('approves, and the run goes on at once', async () => {
    const before = await booked();
    const id = await desk.send('ada', 'Please book Friday at 14:00');
    const { ref } = await desk.openApproval();
    const list = await run('approvals', 'list', '--json');
    assert.deepEqual(
      list.json().approvals.map((one: { ref: string }) => one.ref),
      [ref],
    );
    const { code, stdout, stderr } = await aroko(['approvals', 'approve', ref, '--as', ownerId], variables);
    assert.deepEqual([code, stdout, stderr], [0, `${ref} is approved.\n`, '']);
    assert.equal((await desk.settled(id)).state, 'answered');
    assert.equal((await booked()).length, before.length + 1);
  });

  it('rejects, and the customer hears why and nothing is done', async () => {
    const before = await booked();
    const id = await desk.send('bo', 'Please book Friday at 15:00');
    const { ref } = await desk.openApproval();
    const { code, stderr } = await run(
      'approvals',
      'reject',
      ref,
      '--as',
      ownerId,
      '--reason',
      'we are at the fair',
    );
    assert.equal(code, 0, stderr);
    assert.equal((await desk.settled(id)).state, 'refused');
    assert.match(await lastReply('bo'), /fair/);
    assert.deepEqual(await booked(), before);
  });

  it('changes what is asked; only the changed request, approved in its turn, is carried out', async () => {
    const before = await booked();
    const id = await desk.send('cy', 'Please book Monday at 11:00');
    const asked = await desk.openApproval();
    const same = await run('approvals', 'edit', asked.ref, 'colour=red', '--as', ownerId);
    assert.equal(same.code, 1);
    assert.match(same.stderr, /stays as it is: it has no argument “colour”/);

    const edited = await run('approvals', 'edit', asked.ref, 'time=12:00', '--as', ownerId, '--json');
    assert.equal(edited.code, 0, edited.stderr);
    const { newRef } = edited.json();
    assert.notEqual(newRef, asked.ref);
    const old = await run('approvals', 'approve', asked.ref, '--as', ownerId);
    assert.equal(old.code, 1);
    assert.ok(old.stderr.includes(newRef), old.stderr);
    assert.deepEqual(await booked(), before, 'nothing is done before the changed request has its yes');

    const content = await run('approvals', 'show', newRef, '--show-content', '--json');
    assert.equal(content.json().content.arguments.time, '12:00');
    assert.equal((await run('approvals', 'approve', newRef, '--as', ownerId)).code, 0);
    assert.equal((await desk.settled(id)).state, 'answered');
    assert.equal((await booked()).length, before.length + 1);
    assert.match(await lastReply('cy'), /12:00/);
  });

  it('starts no effect while effects are off, although it was approved', async () => {
    const before = await booked();
    const id = await desk.send('di', 'Please book Monday at 15:00');
    const { ref } = await desk.openApproval();
    assert.equal((await run('switch', 'effects', 'off', '--as', ownerId)).code, 0);
    assert.equal((await run('approvals', 'approve', ref, '--as', ownerId)).code, 0);
    assert.notEqual((await desk.settled(id)).state, 'accepted');
    assert.deepEqual(await booked(), before);
    assert.equal((await run('switch', 'effects', 'on', '--as', ownerId)).code, 0);
  });

  it('silences the assistant in one chat, and lets it answer again', async () => {
    await desk.ask('ed', 'Hello!');
    const chatId = await desk.chatId('ed');
    const paused = await run('chats', 'pause', chatId, '--as', ownerId);
    assert.deepEqual([paused.code, paused.stderr], [0, '']);
    const said = (await desk.replies('ed')).length;
    const { state } = await desk.settled(await desk.send('ed', 'Are you there?'));
    assert.equal(state, 'handed_off');
    assert.equal((await desk.replies('ed')).length, said);
    assert.equal((await run('chats', 'release', chatId, '--as', ownerId)).code, 0);
    assert.equal((await desk.ask('ed', 'Hello again!')).length, 1);
  });

  it('leaves an audit that can be verified in the end', async () => {
    const { code, stdout } = await run('audit', 'verify', '--json');
    const report = JSON.parse(stdout);
    assert.deepEqual([code, report.ok, report.findings], [0, true, []]);
    assert.ok(report.rows > 30, `${report.rows} lines`);
  });
});
