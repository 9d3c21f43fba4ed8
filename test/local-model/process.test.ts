import assert from 'node:assert/strict';
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { PLAIN, clientFor, dialogue, fieldOf, textOf } from './model-server.js';

const PROGRAM = fileURLToPath(new URL('../../local/model/main.ts', import.meta.url));

describe('the model program as a process', () => {
  const children: ChildProcess[] = [];
  after(() => {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
  });

  const start = async (...args: string[]): Promise<{ child: ChildProcess; url: string }> => {
    const child = fork(PROGRAM, args, {
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    children.push(child);
    const message = await next(child, 'message');
    const url = fieldOf(message, 'url');
    assert.ok(typeof url === 'string');
    return { child, url };
  };

  it('tells its address when it is ready, answers there, and ends with its parent’s channel', async () => {
    const { child, url } = await start('--port', '0', '--mode', 'demo', '--data-dir', '.aroko');
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    const message = await clientFor(url).messages.create({ ...PLAIN, messages: dialogue('Hi') });
    assert.match(textOf(message), /how can I help/i);
    child.disconnect();
    const code = await next(child, 'exit');
    assert.equal(code, 0);
  });

  it('ends on a signal, even while it is silent towards somebody', async () => {
    const { child, url } = await start('--mode', 'scenario');
    const answers = JSON.stringify({ answers: [{ silence: true }] });
    await fetch(`${url}/control/scenario`, {
      method: 'POST',
      body: answers,
      headers: { 'content-type': 'application/json' },
    });
    const waiting = assert.rejects(clientFor(url).messages.create({ ...PLAIN, messages: dialogue('Hi') }));
    const counted = async (): Promise<number> =>
      Number(fieldOf(await (await fetch(`${url}/control/counts`)).json(), 'total'));
    while ((await counted()) === 0);
    child.kill('SIGTERM');
    const code = await next(child, 'exit');
    assert.equal(code, 0);
    await waiting;
  });

  it('refuses options it does not know with the exit code for configuration', async () => {
    const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, '--mode', 'other'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    children.push(child);
    const code = await next(child, 'exit');
    assert.equal(code, 78);
  });
});

/** The first argument of a child's next event. */
async function next(child: ChildProcess, event: string): Promise<unknown> {
  const values: unknown[] = await once(child, event);
  return values[0];
}
