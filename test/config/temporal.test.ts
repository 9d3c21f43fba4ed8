import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { retryUntil } from '../../config/patience.js';
import { connectTemporal } from '../../config/temporal.js';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : assert.fail();
}

describe('a connection to Temporal', () => {
  it('says what could not be reached, and how long it waited', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    await assert.rejects(
      connectTemporal({ address, namespace: 'shop' }, { giveUpAfterMs: 1_000 }),
      (error: Error) => {
        assert.match(error.message, /within 1 s/);
        assert.ok(error.message.includes(address) && error.message.includes('shop'));
        return true;
      },
    );
  }).timeout(15_000);

  it('is tried again while the server is starting', async () => {
    const waits: number[] = [];
    let attempts = 0;
    const result = await retryUntil({
      what: 'the server',
      attempt: () => (++attempts < 3 ? Promise.reject(new Error('starting')) : Promise.resolve('up')),
      patience: { onWait: ({ nextTryMs }) => waits.push(nextTryMs) },
    });
    assert.equal(result, 'up');
    assert.deepEqual(waits, [250, 500]);
  });
});
