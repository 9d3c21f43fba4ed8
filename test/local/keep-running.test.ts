import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChildRefusal } from '../../local/child.js';
import { keepRunning, type Running } from '../../local/keep-running.js';

/** A part that ends when it is told to. */
interface Puppet extends Running {
  end(how: string): void;
  stopped: boolean;
}

function createPuppet(): Puppet {
  let end: (how: string) => void = () => undefined;
  const exited = new Promise<string>((resolve) => (end = resolve));
  const puppet: Puppet = {
    exited,
    end,
    stopped: false,
    stop: () => {
      puppet.stopped = true;
      end('was asked to end');
      return Promise.resolve();
    },
  };
  return puppet;
}

describe('a part that is kept running', () => {
  it('is started again when it ends unasked, and not when it is stopped', async () => {
    const first = createPuppet();
    const second = createPuppet();
    const restarts: Puppet[] = [];
    const said: string[] = [];
    const kept = keepRunning({
      name: 'worker',
      first,
      again: () => Promise.resolve(second),
      say: (line) => void said.push(line),
      onRestart: (part) => void restarts.push(part),
      onGiveUp: (reason) => assert.fail(reason),
    });
    first.end('was ended by SIGKILL');
    await sleep(50);
    assert.equal(kept.current(), second);
    assert.deepEqual(said, ['worker was ended by SIGKILL; starting it again.']);
    await kept.stop(100);
    await sleep(50);
    assert.deepEqual(restarts, [second]);
    assert.equal(second.stopped, true);
  });

  it('is stopped even when it was just being started again', async () => {
    const first = createPuppet();
    const second = createPuppet();
    const kept = keepRunning({
      name: 'worker',
      first,
      again: () => sleep(100).then(() => second),
      say: () => undefined,
      onRestart: () => undefined,
      onGiveUp: (reason) => assert.fail(reason),
    });
    first.end('ended with code 1');
    await sleep(50);
    await kept.stop(1_000);
    assert.equal(second.stopped, true);
  });

  it('that got ready too late is ended, and nothing is said of it', async () => {
    const first = createPuppet();
    const kept = keepRunning({
      name: 'model',
      first,
      again: () => assert.fail('nobody needs it any more'),
      say: (line) => assert.fail(line),
      onRestart: () => undefined,
      onGiveUp: (reason) => assert.fail(reason),
    });
    const stopped = kept.stop(100);
    first.end('ended with code 0');
    await stopped;
    await sleep(50);
    assert.equal(first.stopped, true);
  });

  it('is given up at once when it refuses its configuration', async () => {
    const refusal = new ChildRefusal('worker', 'refused its configuration: no key', 'worker.log', []);
    const first = createPuppet();
    const said: string[] = [];
    const givenUp = new Promise<unknown>((resolve) => {
      keepRunning({
        name: 'worker',
        first,
        again: () => Promise.reject(refusal),
        say: (line) => void said.push(line),
        onRestart: () => undefined,
        onGiveUp: (reason, why) => resolve([reason, why]),
      });
    });
    first.end('was ended by SIGKILL');
    assert.deepEqual(await givenUp, ['worker refused its configuration: no key', refusal]);
    assert.deepEqual(said, ['worker was ended by SIGKILL; starting it again.']);
  });

  it('is given up when it ends too often in a minute', async function () {
    this.timeout(20_000);
    const first = createPuppet();
    const reason = await new Promise<string>((resolve) => {
      keepRunning({
        name: 'gateway',
        first,
        again: () => Promise.reject(new Error('gateway ended with code 1')),
        say: () => undefined,
        onRestart: () => undefined,
        onGiveUp: resolve,
      });
      first.end('ended with code 1');
    });
    assert.equal(reason, 'gateway ended with code 1, for the 6th time within a minute.');
  });
});
