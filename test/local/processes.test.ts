import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { findPort } from '../../local/ports.js';
import {
  bornAt,
  commandLine,
  endProcess,
  giveWay,
  isRunning,
  namesDirectory,
  parentOf,
} from '../../local/processes.js';
import { givesWay } from '../support/yielding.js';

describe('what is known of a process', () => {
  it('names a directory only as a whole path', () => {
    const directory = '/home/ada/.aroko';
    const table: [command: string, expected: boolean][] = [
      ['node\0worker/main.ts\0--data-dir\0/home/ada/.aroko\0', true],
      ['postgres -D /home/ada/.aroko/postgres/data -p 5', true],
      ['node --data-dir=/home/ada/.aroko', true],
      ['node --data-dir /home/ada/.aroko-2', false],
      ['node --data-dir /mnt/home/ada/.aroko', false],
      ['node --data-dir /home/ada/.aroko2 --also /home/ada/.aroko/x', true],
      ['', false],
    ];
    for (const [command, expected] of table)
      assert.equal(namesDirectory(command, directory), expected, command);
  });

  it('has less of a right to processor time once it gives way', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      stdio: 'ignore',
      detached: true,
    });
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    const before = givesWay(pid);
    giveWay(pid);
    const { own, group } = givesWay(pid);
    assert.ok(own > before.own);
    if (before.group !== undefined) assert.equal(group, own, 'its session, too');
    await endProcess({ pid, signal: 'SIGKILL', graceMs: 2_000 });
    assert.doesNotThrow(() => giveWay(pid), 'one that is gone needs no way');
  });

  it('is read while it lives and gone when it has ended', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'a-mark'], {
      stdio: 'ignore',
    });
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    assert.equal(isRunning(pid), true);
    assert.equal(parentOf(pid), process.pid);
    assert.match(commandLine(pid), /a-mark/);
    assert.notEqual(bornAt(pid), undefined);
    assert.equal(bornAt(pid), bornAt(pid));
    await endProcess({ pid, signal: 'SIGTERM', graceMs: 2_000 });
    assert.equal(isRunning(pid), false);
    assert.equal(commandLine(pid), '');
    assert.equal(bornAt(pid) === undefined || !isRunning(pid), true);
  });

  it('that ignores a polite signal is ended by force', async () => {
    const script = "process.on('SIGTERM', () => {}); process.send('deaf'); setInterval(() => {}, 1000)";
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    await once(child, 'message');
    const pid = child.pid ?? 0;
    await endProcess({ pid, signal: 'SIGTERM', graceMs: 200 });
    assert.equal(isRunning(pid), false);
  });
});

describe('a port', () => {
  it('is the wanted one when it is free, else the next, which is said', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const address = blocker.address();
    assert.ok(address !== null && typeof address === 'object');
    const wanted = address.port;
    const said: string[] = [];
    const say = (line: string): void => void said.push(line);
    const found = await findPort({ wanted, purpose: 'the chat', say });
    assert.ok(found > wanted);
    assert.deepEqual(said, [`Port ${wanted} is busy; the chat takes ${found}.`]);
    await new Promise((resolve) => blocker.close(resolve));
    assert.equal(await findPort({ wanted, purpose: 'the chat', say }), wanted);
    assert.equal(said.length, 1);
  });

  it('that is promised already is not given twice', async () => {
    const say = (): void => undefined;
    const first = await findPort({ wanted: 0, purpose: 'one', say });
    const second = await findPort({ wanted: first, purpose: 'two', say, taken: new Set([first]) });
    assert.notEqual(second, first);
  });
});
