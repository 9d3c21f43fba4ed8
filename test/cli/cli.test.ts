// The frame: what every command has in common. Where the end of a process matters, it is one.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../local/child.js';
import { openDataDirectory, openSecrets } from '../../local/data-directory.js';
import { writeRunFile } from '../../local/run-file.js';
import { aroko, openCliDesk, type CliDesk } from './cli.js';
import { arokoHere } from './here.js';

const FRAME_OF_STACK = /^\s*at /m;

describe('the command line', function () {
  this.timeout(120_000);
  let desk: CliDesk;
  let folder: string;
  before(async () => {
    desk = await openCliDesk();
    folder = mkdtempSync(join(tmpdir(), 'aroko-cli-'));
  });
  after(async () => {
    await desk.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('tells what it can do, and ends well', async () => {
    const { code, stdout, stderr } = await aroko(['--help'], {});
    assert.deepEqual([code, stderr], [0, '']);
    for (const command of ['approvals', 'messages', 'switch', 'chats', 'audit']) {
      assert.match(stdout, new RegExp(`^  ${command} `, 'm'));
    }
    for (const option of ['--tenant', '--json', '--data-dir']) assert.ok(stdout.includes(option), option);
    assert.ok(
      stdout.split('\n').every((line) => line.length <= 80),
      'fits a terminal',
    );
    const help = await arokoHere(['approvals', 'reject', '--help'], {});
    assert.equal(help.code, 0);
    assert.match(help.stdout, /--reason <text>/);
    assert.match(help.stdout, /--tenant <slug>/);
  });

  it('says what is wrong with a command, and ends with 1', async () => {
    const commands = [
      ['approvals', 'lsit'],
      ['approvals', 'approve', 'K-7Q4F'],
      ['approvals', 'show', 'K7'],
      ['approvals', 'list', '--state', 'lost'],
      ['approvals', 'edit', 'K-7Q4F', 'time', '--as', 'somebody'],
      ['messages', '--limit', 'many'],
      ['chats', 'pause', 'my-chat', '--as', 'somebody'],
      ['switch', 'effects', 'maybe', '--as', 'somebody'],
      ['audit', 'verify', '--root', 'abc'],
    ];
    const runs = await Promise.all(commands.map((args) => desk.runHere(...args)));
    runs.push(await desk.run('approvals', 'show', 'K7'));
    for (const [place, { code, stdout, stderr }] of runs.entries()) {
      assert.deepEqual([code, stdout], [1, ''], String(commands[place]));
      assert.match(stderr, /^error: .+/, String(commands[place]));
      assert.doesNotMatch(stderr, FRAME_OF_STACK);
    }
  });

  it('says that nothing runs where nothing runs, and how to change that', async () => {
    const { code, stderr } = await aroko(['messages', '--data-dir', join(folder, 'nothing')], {});
    assert.equal(code, 78);
    assert.match(stderr, /No Aroko is running in .*nothing\. Start it with npm start/);
    assert.doesNotMatch(stderr, FRAME_OF_STACK);
  });

  it('works on the local start of a data directory, which counts more than the environment', async () => {
    const directory = openDataDirectory(join(folder, 'data'));
    const passwords = openSecrets(directory);
    const run = (postgres: string) =>
      writeRunFile(directory, {
        pid: 1,
        startedAt: '2026-12-01T10:00:00.000Z',
        dataDir: directory.root,
        addresses: {
          chat: 'http://127.0.0.1:3000/',
          console: 'http://127.0.0.1:3000/console',
          api: 'http://127.0.0.1:3000/api',
          temporalUi: 'http://127.0.0.1:8233',
          temporal: '127.0.0.1:7233',
          postgres,
        },
        pids: { launcher: 1, postgres: 1, temporal: 1, worker: 1, gateway: 1 },
        apiTokenFile: directory.apiTokenFile,
      });
    const args = ['switch', 'show', '--data-dir', directory.root];

    run('127.0.0.1:1');
    const away = await aroko(args, desk.variables);
    assert.equal(away.code, 1);
    assert.match(
      away.stderr,
      /Postgres at 127\.0\.0\.1:1 can’t be reached\. Is the Aroko that was started at 2026-12-01T10/,
    );

    writeFileSync(directory.runFile, '{"addresses": 3}');
    const broken = await arokoHere(args, {});
    assert.equal(broken.code, 78);
    assert.match(broken.stderr, /run\.json is not what npm start writes there/);
    assert.ok(!`${away.stderr}${broken.stderr}`.includes(passwords.app), 'no password is shown');
  });

  it('tells a database that is away from one that refuses us', async () => {
    const url = new URL(desk.urls.applicationUrl);
    url.password = 'wrong';
    const [away, refused] = await Promise.all([
      arokoHere(['messages'], {
        ...desk.variables,
        AROKO_DATABASE_URL: 'postgres://aroko_app:secret@127.0.0.1:1/aroko',
      }),
      arokoHere(['messages'], { ...desk.variables, AROKO_DATABASE_URL: url.href }),
    ]);
    assert.equal(away.code, 1);
    assert.match(away.stderr, /^Postgres at 127\.0\.0\.1:1 can’t be reached\./);
    assert.doesNotMatch(away.stderr, /secret/);
    assert.equal(refused.code, 78);
    assert.match(refused.stderr, /refuses the password/);
  });

  it('names a variable of a wrong form, and ends with 78', async () => {
    const { code, stderr } = await aroko(['messages'], { AROKO_DATABASE_URL: 'mysql://somewhere' });
    assert.equal(code, 78);
    assert.match(stderr, /AROKO_DATABASE_URL has the wrong form/);
  });

  it('asks which business is meant where there are several, and knows which there are', async () => {
    const config = join(folder, 'config');
    cpSync(join(projectRoot, 'config'), config, { recursive: true });
    const { slug } = desk.configuration;
    const second = join(config, 'tenants', 'second-desk');
    cpSync(join(config, 'tenants', slug), second, { recursive: true });
    for (const file of ['business.yaml', 'assistant.yaml']) {
      const path = join(second, file);
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, text.replaceAll(/(accountKey:\s*).+/g, '$1second-desk'));
    }
    const variables = { ...desk.variables, AROKO_CONFIG_DIR: config };
    const [unnamed, named, elsewhere] = await Promise.all([
      arokoHere(['messages'], variables),
      arokoHere(['messages', '--tenant', slug, '--json'], variables),
      arokoHere(['messages', '--tenant', 'second-desk'], variables),
    ]);
    assert.equal(unnamed.code, 78);
    assert.match(unnamed.stderr, /There are several businesses; name one with --tenant\./);
    assert.ok(unnamed.stderr.includes(slug) && unnamed.stderr.includes('second-desk'), unnamed.stderr);
    assert.deepEqual([named.code, named.json().messages], [0, []]);
    assert.equal(elsewhere.code, 78);
    assert.match(elsewhere.stderr, /There is no business “second-desk” in this database/);
  });

  it('shows every mistake of a broken configuration', async () => {
    const config = join(folder, 'broken');
    mkdirSync(config);
    cpSync(join(projectRoot, 'config'), config, { recursive: true });
    renameSync(join(config, 'defaults', 'limits.yaml'), join(config, 'defaults', 'limits.txt'));
    const { code, stderr } = await arokoHere(['messages'], { ...desk.variables, AROKO_CONFIG_DIR: config });
    assert.equal(code, 78);
    assert.match(stderr, /configuration has/);
    assert.doesNotMatch(stderr, FRAME_OF_STACK);
  });

  it('answers programs in JSON, also when it fails', async () => {
    const [listed, failed] = await Promise.all([
      desk.runHere('--json', 'approvals', 'list'),
      desk.run('approvals', 'show', 'K-7Q4F', '--json'),
    ]);
    assert.deepEqual([listed.code, listed.json(), listed.stderr], [0, { approvals: [] }, '']);
    assert.deepEqual([failed.code, failed.stdout], [1, '']);
    assert.deepEqual(JSON.parse(failed.stderr), {
      error: { message: 'There is no request K-7Q4F.', exitCode: 1 },
    });
  });

  it('lists messages with their age and never what is in them', async () => {
    await desk.write('ada-lovelace', 'Is the red bicycle ready?', randomUUID());
    const { chatId } = await desk.write('grace-hopper', 'My number is 555 0100', randomUUID());
    await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.inbox.updateMany({ where: { chatId }, data: { receivedAt: new Date(Date.now() - 7_500_000) } }),
    );
    const [open, all, json] = await Promise.all([
      desk.run('messages', '--open'),
      desk.runHere('messages'),
      desk.runHere('messages', '--open', '--json'),
    ]);
    assert.deepEqual([open.code, all.code], [0, 0]);
    const [head, first] = open.stdout.split('\n');
    assert.match(head ?? '', /^AGE +CHAT/);
    assert.match(first ?? '', new RegExp(`^2 h 5 min +${chatId}`));
    assert.match(all.stdout, /accepted +2/);
    const { messages } = json.json();
    assert.equal(messages.length, 2);
    assert.ok(messages[0].ageMs >= 7_500_000 && messages[1].ageMs < 60_000);
    for (const { stdout } of [open, all, json])
      assert.doesNotMatch(stdout, /bicycle|555 0100|lovelace|hopper/);
  });

  it('lists without the master key, and says where one is needed', async () => {
    const variables = { ...desk.variables, AROKO_MASTER_KEY_FILE: undefined };
    const [list, decide] = await Promise.all([
      arokoHere(['approvals', 'list'], variables),
      arokoHere(['approvals', 'approve', 'K-7Q4F', '--as', desk.ownerId], variables),
    ]);
    assert.equal(list.code, 0);
    assert.equal(decide.code, 78);
    assert.match(decide.stderr, /AROKO_MASTER_KEY_FILE/);
  });
});
