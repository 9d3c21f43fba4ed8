// Several things under way in one chat: nobody waits for a slow tool but the one who asked, and each answer belongs to
// its question.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolCall } from '../../activities/tools/provider.js';
import type { JsonObject } from '../../workflows/domain/tool.js';
import { startDesk, type Desk } from '../support/desk.js';

describe('a slow tool', function () {
  this.timeout(90_000);
  let desk: Desk;
  /** How long the calendar takes, by the date that is asked about. */
  const delays = new Map<string, number>();

  before(async () => {
    desk = await startDesk({
      configure: (shipped) => ({
        ...shipped,
        profiles: { instant: { debounceMs: 0, inactivityMs: 7_200_000, acknowledgeAfterMs: 1_000 } },
        tools: shipped.tools.map((tool) => ({ ...tool, timeoutMs: 30_000 })),
      }),
      wrapDeps: (deps) => {
        const { bookings } = deps.providers;
        const real = bookings?.operations['listFreeSlots'];
        if (!bookings || !real) throw new Error('the calendar has changed');
        const call = async (asked: ToolCall): Promise<JsonObject> => {
          await sleep(delays.get(String(asked.arguments['date'])) ?? 0);
          return real.call(asked);
        };
        const operations = { ...bookings.operations, listFreeSlots: { call } };
        return { ...deps, providers: { ...deps.providers, bookings: { ...bookings, operations } } };
      },
    });
    await desk.model.script(
      ...[
        ['2026-12-10', 'slow one'],
        ['2026-12-11', 'slower one'],
        ['2026-12-14', 'quick one'],
      ].map(([date, match]) => ({
        match: match ?? '',
        withTools: true,
        toolUse: [{ name: 'check_availability', input: { date } }],
      })),
    );
  });
  after(async () => {
    await desk.stop();
  });

  it('is acknowledged, and two other messages are answered meanwhile', async () => {
    delays.set('2026-12-10', 8_000);
    const slow = await desk.send('ada', 'Is anything free on Thursday? (the slow one)');
    await desk.nextReply('ada', 1);
    const [hello, thanks] = [await desk.send('ada', 'Hello!'), await desk.send('ada', 'Thank you!')];
    assert.equal((await desk.settled(hello)).state, 'answered');
    assert.equal((await desk.settled(thanks)).state, 'answered');
    assert.equal((await desk.settled(slow)).state, 'answered');
    const replies = await desk.repliesWithin('ada', 4);
    assert.deepEqual(
      replies.map((reply) => reply.kind),
      ['acknowledgement', 'answer', 'answer', 'answer'],
    );
    assert.deepEqual(
      replies.map((reply) => reply.answers),
      [slow, hello, thanks, slow],
    );
    assert.match(replies.at(-1)?.text ?? '', /Thursday 10 December/);
  });

  it('may be overtaken by a quicker one, and each answer still belongs to its question', async () => {
    delays.set('2026-12-11', 5_000);
    const slower = await desk.send('bo', 'Is anything free on Friday? (the slower one)');
    const quick = await desk.send('bo', 'And is anything free on Monday? (the quick one)');
    await desk.settled(slower);
    await desk.settled(quick);
    const answers = (await desk.replies('bo')).filter((reply) => reply.kind === 'answer');
    assert.deepEqual(
      answers.map((reply) => [reply.answers, /\d+ December/.exec(reply.text)?.[0]]),
      [
        [quick, '14 December'],
        [slower, '11 December'],
      ],
    );
  });
});

describe('forty customers for one slot', function () {
  this.timeout(120_000);
  let desk: Desk;
  before(async () => {
    desk = await startDesk({
      configure: (shipped) => ({
        ...shipped,
        policy: { ...shipped.policy, rules: [{ name: 'open-door', when: {}, then: 'allow' }] },
      }),
    });
  });
  after(async () => {
    await desk.stop();
  });

  it('one gets it, and thirty-nine are told honestly', async () => {
    const chats = Array.from({ length: 40 }, (_, index) => `customer-${index}`);
    const ids = await Promise.all(chats.map((chat) => desk.send(chat, 'Book Friday at 14:00 please')));
    await Promise.all(ids.map((id) => desk.settled(id, 90_000)));
    const replies = await Promise.all(
      chats.map(async (chat) => (await desk.replies(chat)).at(-1)?.text ?? ''),
    );
    assert.equal(replies.filter((text) => text.includes('You are booked')).length, 1);
    assert.equal(replies.filter((text) => text.includes('taken')).length, 39);
    const booked = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.booking.count({ where: { state: 'reserved' } }),
    );
    assert.equal(booked, 1);
  });
});
