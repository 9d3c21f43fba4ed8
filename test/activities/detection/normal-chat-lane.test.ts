// Normal chat through the real lane (the detector alone hears the whole kit in lexical-detector.test.ts): counted at the model program, which is the only place where a planner call shows.
import assert from 'node:assert/strict';
import { startDesk, type Desk } from '../../support/desk.js';
import { someNormalChat } from './kit.js';

/** Chats that talk at the same time, each with its share of the kit. */
const CHATS = 8;

describe('normal chat in the real lane', function () {
  this.timeout(300_000);
  let desk: Desk;
  before(async () => {
    desk = await startDesk({ modelTimeoutMs: 30_000 });
  });
  after(async () => {
    await desk.stop();
  });

  it('never asks the planner over the kit, right after a tool has answered, and no request holds a word about tools', async () => {
    const texts = someNormalChat();
    const chats = Array.from({ length: CHATS }, (_, index) => `talk-${index}`);
    // A live result in every chat: what follows could be taken for something about it.
    const opened = await Promise.all(
      chats.map((chat) => desk.send(chat, 'Is anything free on Saturday morning?')),
    );
    for (const id of opened) assert.equal((await desk.settled(id, 120_000)).state, 'answered');
    const contexts = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.context.groupBy({ by: ['chatId'], where: { expiresAt: { gt: new Date() } } }),
    );
    assert.equal(contexts.length, CHATS);

    await desk.model.clear();
    const sent = await Promise.all(
      chats.map(async (chat, turn) => {
        const own: { id: string; text: string }[] = [];
        for (const text of texts.filter((_, index) => index % CHATS === turn)) {
          own.push({ id: await desk.send(chat, text), text });
        }
        return own;
      }),
    );
    for (const { id, text } of sent.flat()) {
      // The detector stands last: no gate before it has taken the message, with the result at hand.
      assert.deepEqual(await desk.settled(id, 240_000), { state: 'answered', reason: 'detector' }, text);
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
