import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { createCalm } from '../../gateway/calm.js';

const FAR = 60_000;

/** Work that goes on until it is told to end. */
function storing(calm: ReturnType<typeof createCalm>, count: number): (() => Promise<void>)[] {
  return Array.from({ length: count }, () => {
    const { promise, resolve } = withEnd();
    const counted = calm.whileStoring(promise);
    return async () => {
      resolve();
      await counted;
    };
  });
}

function withEnd(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((end) => (resolve = end));
  return { promise, resolve };
}

async function isOver(promise: Promise<void>): Promise<boolean> {
  let over = false;
  void promise.then(() => (over = true));
  await turn();
  return over;
}

describe('bells wait for a calm moment', () => {
  it('goes on at once while little is being stored', async () => {
    const calm = createCalm();
    assert.equal(await isOver(calm.calmOr(Date.now() + FAR)), true);
    storing(calm, 4);
    assert.equal(await isOver(calm.calmOr(Date.now() + FAR)), true);
  });

  it('waits while much is being stored, and then all who wait go on', async () => {
    const calm = createCalm();
    const ends = storing(calm, 6);
    const waiting = [calm.calmOr(Date.now() + FAR), calm.calmOr(Date.now() + FAR)];
    await ends[0]?.();
    for (const one of waiting) assert.equal(await isOver(one), false);
    await ends[1]?.();
    for (const one of waiting) assert.equal(await isOver(one), true);
  });

  it('counts what fails as over', async () => {
    const calm = createCalm();
    storing(calm, 4);
    const fails = calm.whileStoring(Promise.reject(new Error('no database')));
    await assert.rejects(fails, /no database/);
    assert.equal(await isOver(calm.calmOr(Date.now() + FAR)), true);
  });

  it('waits no longer than it was told', async () => {
    const calm = createCalm();
    storing(calm, 9);
    const began = Date.now();
    await calm.calmOr(began + 40);
    assert.ok(Date.now() - began >= 35);
    assert.equal(await isOver(calm.calmOr(began)), true);
  });
});
