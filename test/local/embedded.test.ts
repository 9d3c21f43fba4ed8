import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { z } from 'zod';
import { openDataDirectory, openSecrets, SetupProblem } from '../../local/data-directory.js';
import { startEmbedded, type Embedded } from '../../local/embedded.js';
import { holdDirectory } from '../../local/hold.js';
import { isRunning, waitUntilGone } from '../../local/processes.js';

const holderPath = fileURLToPath(new URL('holder.ts', import.meta.url));
const reportShape = z.object({
  host: z.number(),
  postmaster: z.number(),
  leash: z.number(),
  server: z.number(),
  superuserUrl: z.string(),
  address: z.string(),
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ [column: string]: unknown }>(sql);
    return rows;
  } finally {
    await client.end();
  }
}

async function answers(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  const socket = connect({ ...(host !== undefined && { host }), port: Number(port) });
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}

describe('the embedded servers', () => {
  let folder: string;
  let dataDir: string;
  let said: string[];
  let running: Embedded | undefined;
  const others: ChildProcess[] = [];

  const start = async (): Promise<Embedded> => {
    running = await startEmbedded({ dataDir, log: (line) => said.push(line) });
    return running;
  };
  const startHolder = async (): Promise<{ holder: ChildProcess; report: z.infer<typeof reportShape> }> => {
    const holder = spawn(process.execPath, ['--import', 'tsx', holderPath, dataDir], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    others.push(holder);
    const report: unknown = (await once(holder, 'message'))[0];
    return { holder, report: reportShape.parse(report) };
  };
  const pidsOf = ({ postgres, temporal }: Embedded): number[] => [
    ...Object.values(postgres.pids),
    ...Object.values(temporal.pids),
  ];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'aroko-embedded-'));
    dataDir = join(folder, 'data');
    said = [];
  });
  afterEach(async () => {
    await running?.stop();
    running = undefined;
    for (const other of others.splice(0)) other.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });

  it('answer, end without a trace, and come back with what was stored', async () => {
    const first = await start();
    await query(first.postgres.superuserUrl, 'create table kept (id int); insert into kept values (7)');
    assert.equal(await answers(first.temporal.address), true);
    const pids = pidsOf(first);
    await first.stop();
    assert.deepEqual(pids.filter(isRunning), []);
    assert.equal(existsSync(join(dataDir, 'launcher.json')), false);

    const second = await start();
    assert.deepEqual(await query(second.postgres.superuserUrl, 'select id from kept'), [{ id: 7 }]);
    assert.deepEqual(said, []);
  });

  it('listen on the loopback address only, keep their secrets closed, and promise durability', async () => {
    const { postgres, directory } = await start();
    const settings = await query(
      postgres.superuserUrl,
      "select name, setting from pg_settings where name in ('listen_addresses', 'fsync', 'max_connections', 'unix_socket_directories') order by name",
    );
    assert.deepEqual(settings, [
      { name: 'fsync', setting: 'on' },
      { name: 'listen_addresses', setting: '127.0.0.1' },
      { name: 'max_connections', setting: '100' },
      { name: 'unix_socket_directories', setting: '' },
    ]);
    for (const file of [directory.secretsFile, directory.masterKeyFile, directory.apiTokenFile]) {
      assert.equal(statSync(file).mode & 0o777, 0o600, file);
    }
    assert.equal(statSync(directory.root).mode & 0o067, 0);
    assert.equal(Buffer.from(readFileSync(directory.masterKeyFile, 'utf8'), 'base64').length, 32);
  });

  it('write no rejected statement and no value into the log', async () => {
    const { postgres, directory } = await start();
    await assert.rejects(query(postgres.superuserUrl, "select 'canary-4711'::int"));
    assert.equal(readFileSync(join(directory.logs, 'postgres.log'), 'utf8').includes('canary-4711'), false);
  });

  it('come back after every process was killed at once', async () => {
    const { holder, report } = await startHolder();
    await query(report.superuserUrl, 'create table kept (id int); insert into kept values (8)');
    // Guards first: they end by themselves when what they guard is gone.
    for (const pid of [report.host, report.leash, report.postmaster, report.server])
      process.kill(pid, 'SIGKILL');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    assert.equal(existsSync(join(dataDir, 'postgres', 'data', 'postmaster.pid')), true, 'nobody tidied up');

    const again = await start();
    assert.deepEqual(await query(again.postgres.superuserUrl, 'select id from kept'), [{ id: 8 }]);
    assert.equal(await answers(again.temporal.address), true);
  });

  it('end by themselves when only the launcher is killed', async () => {
    const { holder, report } = await startHolder();
    holder.kill('SIGKILL');
    for (const pid of [report.host, report.postmaster, report.leash, report.server]) {
      assert.equal(await waitUntilGone({ pid, withinMs: 8_000 }), true, `${pid} is still there`);
    }
  });

  it('stop, aloud, what outlived a killed launcher and its guards', async () => {
    const { holder, report } = await startHolder();
    // Guards first: nobody is left to end the servers.
    for (const pid of [report.host, report.leash]) process.kill(pid, 'SIGSTOP');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    for (const pid of [report.host, report.leash]) process.kill(pid, 'SIGKILL');
    assert.deepEqual([report.postmaster, report.server].map(isRunning), [true, true]);

    const again = await start();
    assert.deepEqual([report.postmaster, report.server].map(isRunning), [false, false]);
    assert.match(said.join('\n'), new RegExp(`Stopping postgres \\(process ${report.postmaster}\\)`));
    assert.match(said.join('\n'), new RegExp(`Stopping temporal \\(process ${report.server}\\)`));
    assert.equal(await answers(again.temporal.address), true);
  });

  it('refuse a directory that a living launcher holds', async () => {
    const { report } = await startHolder();
    await assert.rejects(
      startEmbedded({ dataDir, log: () => undefined }),
      (error: unknown) => error instanceof SetupProblem && error.message.includes('already runs with'),
    );
    assert.equal(await answers(report.address), true);
  });

  it('take the next port when the wanted one is busy, and say so', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const address = blocker.address();
    assert.ok(address !== null && typeof address === 'object');
    try {
      running = await startEmbedded({
        dataDir,
        ports: { postgres: address.port },
        log: (line) => said.push(line),
      });
      assert.notEqual(running.postgres.port, address.port);
      assert.deepEqual(said, [`Port ${address.port} is busy; Postgres takes ${running.postgres.port}.`]);
    } finally {
      blocker.close();
    }
  });

  it('start a server again on the same address when it dies, where that is wanted', async () => {
    let restarted = (): void => undefined;
    let failed: (reason: string) => void = () => undefined;
    const restart = { onRestart: () => restarted(), onGiveUp: (reason: string) => failed(reason) };
    running = await startEmbedded({ dataDir, log: (line) => said.push(line), restart });
    const before = running.postgres.pids.postmaster;
    const back = new Promise<void>((resolve, reject) => {
      restarted = resolve;
      failed = (reason) => reject(new Error(reason));
    });
    process.kill(before, 'SIGKILL');
    await back;
    assert.notEqual(running.postgres.pids.postmaster, before);
    assert.deepEqual(await query(running.postgres.superuserUrl, 'select 1 as one'), [{ one: 1 }]);
    assert.match(said.join('\n'), /Postgres .* starting it again/);
  });
});

describe('a data directory', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'aroko-directory-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('whose files name a process that is somebody else now leaves that process alone', async () => {
    const directory = openDataDirectory(join(folder, 'data'));
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    try {
      await once(stranger, 'spawn');
      const pids = { launcher: stranger.pid, worker: stranger.pid };
      writeFileSync(directory.runFile, JSON.stringify({ pids }));
      const holder = { pid: stranger.pid, born: 'at another time', stopping: false, children: pids };
      writeFileSync(directory.holderFile, JSON.stringify(holder));
      const said: string[] = [];
      const hold = await holdDirectory({ directory, say: (line) => said.push(line) });
      hold.release();
      assert.equal(stranger.pid !== undefined && isRunning(stranger.pid), true);
      assert.match(said.join('\n'), /left alone/);
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  it('is refused when it holds what belongs to somebody else', () => {
    writeFileSync(join(folder, 'thesis.txt'), 'years of work');
    assert.throws(() => openDataDirectory(folder), /aren't Aroko's/);
    assert.equal(statSync(folder).mode & 0o777, 0o700, 'its mode is as it was');
  });

  it('with a database never gets a second master key', () => {
    const directory = openDataDirectory(join(folder, 'data'));
    openSecrets(directory);
    openDataDirectory(directory.cluster);
    rmSync(directory.masterKeyFile);
    assert.throws(() => openSecrets(directory), /master-key is missing/);
    assert.equal(existsSync(directory.masterKeyFile), false);
  });
});
