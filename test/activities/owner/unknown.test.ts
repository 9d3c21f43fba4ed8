// An effect of which nobody knows whether it happened: owners hear of it at once, find out, and say so by its code.
import assert from 'node:assert/strict';
import { withBrokenTools } from '../../../bench/broken-tools.js';
import { until } from '../../support/desk.js';
import { startOwnerDesk, type OwnerDesk } from './kit.js';

const TOOL_TIMEOUT_MS = 2_000;

describe('an effect of which nobody knows', function () {
  this.timeout(240_000);
  let owners: OwnerDesk;
  before(async () => {
    owners = await startOwnerDesk(
      (shipped) => ({
        ...shipped,
        tools: shipped.tools.map((tool) => ({ ...tool, timeoutMs: TOOL_TIMEOUT_MS })),
      }),
      { wrapDeps: (deps) => withBrokenTools(deps, { forgetsEffects: true }) },
    );
    // From now on both can be written to in words.
    await owners.say('ada', 'help');
    await owners.say('bo', 'help');
  });
  after(async () => owners.stop());

  it('is told to every owner with what it was, is settled by its code, and the customer hears what came of it', async () => {
    const asked = await owners.ask({ chat: 'the-customer' });
    await owners.say('ada', `yes ${asked.ref}`);
    assert.match(await owners.told(asked), /couldn't make sure/);
    const { ref } = await owners.inDesk((tx) =>
      tx.step.findUniqueOrThrow({ where: { id: asked.stepId }, select: { ref: true } }),
    );
    assert.ok(ref);
    const noticesTo = (owner: 'ada' | 'bo'): string[] =>
      owners.sentTo(owner).filter((text) => text.includes(`answer HAPPENED ${ref}`));
    for (const owner of ['ada', 'bo'] as const) {
      const notice = await until(() => Promise.resolve(noticesTo(owner)[0]), 60_000, `a notice to ${owner}`);
      assert.match(notice, new RegExp(`reserve slot.*${asked.time}.*the-customer`));
    }
    assert.match(await owners.say('bo', `NOT ${ref}`), /noted as not done/);
    assert.match(await owners.told(asked, 3), /hasn't|wasn't|not/i);
    assert.equal(noticesTo('ada').length, 1);
  });
});
