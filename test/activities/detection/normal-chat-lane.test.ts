// Normal chat through the real lane: counted at the model program, which is the only place where a planner call shows.
import assert from 'node:assert/strict';
import { startDesk, type Desk } from '../../support/desk.js';
import { normalChat } from './kit.js';

/** Every so many utterances of each language; all of them run in the test of the detector. */
const STRIDE = 6;

describe('normal chat in the real lane', function () {
  this.timeout(180_000);
  let desk: Desk;
  before(async () => {
    desk = await startDesk({ modelTimeoutMs: 30_000 });
  });
  after(async () => {
    await desk.stop();
  });

  it('never asks the planner, and no request holds a word about tools', async () => {
    const texts = Object.values(normalChat()).flatMap((own) =>
      own.filter((_, index) => index % STRIDE === 1),
    );
    assert.ok(texts.length >= 40);
    await desk.model.clear();
    const ids = await Promise.all(texts.map((text, index) => desk.send(`talk-${index}`, text)));
    const ends = await Promise.all(ids.map((id) => desk.settled(id, 150_000)));
    for (const [index, end] of ends.entries()) {
      assert.deepEqual(end, { state: 'answered', reason: 'detector' }, texts[index]);
    }

    const bodies = (await desk.model.requests()).map(({ body }) => body);
    assert.equal(bodies.filter(({ tools }) => tools !== undefined).length, 0);
    assert.equal(bodies.length, texts.length, 'one model call per message');
    const words = desk.configuration.tools.flatMap(({ name, description }) => [name, description]);
    for (const body of bodies) {
      const whole = JSON.stringify(body);
      for (const word of [...words, 'tool_use', 'tool_result', 'input_schema']) {
        assert.ok(!whole.includes(word), `a normal chat request holds "${word}"`);
      }
    }
  });
});
