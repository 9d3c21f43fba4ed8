// One chat is a queue: what was accepted first is answered first, and what was sent twice happens once.
import assert from 'node:assert/strict';
import { DateTime } from 'luxon';
import type { Api } from '../support/api-client.js';
import { type Installation, sharedInstallation } from '../support/installation.js';

const ZONE = 'Europe/Istanbul';

describe('order and repetition', function () {
  this.timeout(120_000);
  let installation: Installation;
  let api: Api;

  before(async () => {
    installation = await sharedInstallation();
    ({ api } = installation);
  });

  it('makes one turn and one answer of a message that arrives five times at once', async () => {
    const chat = 'five-times';
    const body = { id: 'five-times-1', text: 'Hello there!' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api.post(`/chats/${chat}/messages`, body)),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [202, 202, 202, 202, 202],
    );
    assert.equal(
      new Set(answers.map(({ body }) => JSON.stringify(body))).size,
      1,
      'all name the same message',
    );
    await api.settled(chat, body.id);
    // A late second answer would come within this.
    await api.ask(chat, 'Thank you!');
    const messages = await api.messages(chat);
    assert.equal(messages.filter(({ from }) => from === 'customer').length, 2);
    assert.equal((await api.repliesTo(chat, body.id)).length, 1);
    const [{ turns }] = (await installation.query<{ turns: number }>(
      'select count(distinct turn_id)::int as turns from inbox where external_id = $1',
      [body.id],
    )) as [{ turns: number }];
    assert.equal(turns, 1);
  });

  it('refuses an id that comes again with another text', async () => {
    const chat = 'used-id';
    const id = await api.send(chat, 'Hello');
    const { status, body } = await api.post(`/chats/${chat}/messages`, { id, text: 'Something else' });
    assert.equal(status, 409, JSON.stringify(body));
    assert.equal((await api.messages(chat)).filter(({ from }) => from === 'customer').length, 1);
  });

  it('answers fifty messages from eight connections in the order in which they were accepted', async () => {
    const chat = 'fifty';
    const ids = Array.from({ length: 50 }, (_, index) => `fifty-${index + 1}`);
    const waiting = [...ids];
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
          await api.send(chat, `Good morning number ${id}`, id);
        }
      }),
    );
    await Promise.all(ids.map((id) => api.settled(chat, id, 90_000)));
    const messages = await api.messages(chat);
    const accepted = messages.filter(({ from }) => from === 'customer').map(({ id }) => id);
    const answered = messages.filter(({ from }) => from === 'assistant').map(({ answers }) => answers);
    assert.equal(accepted.length, 50);
    assert.deepEqual(answered, accepted);
  });

  describe('the same booking asked for twice', () => {
    const day = openDay(8);
    const request = `Book ${day.toFormat('d LLLL')} at 10:30 please`;

    it('asks the owner once when both arrive at once', async () => {
      const chat = 'twice';
      const ids = await Promise.all([api.send(chat, request), api.send(chat, request)]);
      const approval = await api.approvalOf(chat);
      assert.deepEqual(approval.arguments, { date: day.toISODate(), time: '10:30' });
      const [first, second] = await inAcceptOrder(chat, ids);
      assert.equal((await api.settled(chat, second)).state, 'answered');
      assert.match(await textOf(chat, second), /already on it/);

      // And again while the owner is thinking, in the same and in other words.
      const [again] = await api.ask(chat, request);
      assert.match(again?.text ?? '', /already on it/);
      const [reworded] = await api.ask(chat, `Please reserve 10:30 on ${day.toFormat('d LLLL')}`);
      assert.match(reworded?.text ?? '', /already on it/);

      assert.equal((await api.approvals()).filter((one) => one.chat === chat).length, 1);
      await api.decide(approval.ref, 'approve');
      assert.equal((await api.settled(chat, first)).state, 'answered');
      const runs = await api.runsOf(chat);
      // The reworded request needs a plan before it can be recognised; the same words don't.
      assert.deepEqual(runs.map(({ state }) => state).sort(), ['already_open', 'succeeded']);
      assert.equal(await bookingsAt(day), 1);
    });

    async function inAcceptOrder(chat: string, ids: string[]): Promise<[string, string]> {
      const own = (await api.messages(chat)).filter(({ id }) => ids.includes(id)).map(({ id }) => id);
      assert.equal(own.length, 2);
      return [own[0] ?? '', own[1] ?? ''];
    }

    async function textOf(chat: string, id: string): Promise<string> {
      return (await api.repliesTo(chat, id)).map(({ text }) => text).join('\n');
    }

    async function bookingsAt(date: DateTime): Promise<number> {
      const startsAt = date.set({ hour: 10, minute: 30 }).toJSDate();
      const rows = await installation.query('select 1 from bookings where starts_at = $1', [startsAt]);
      return rows.length;
    }
  });

  it('keeps twenty chats apart that ask at once', async () => {
    const days = Array.from({ length: 20 }, (_, index) =>
      DateTime.now()
        .setZone(ZONE)
        .plus({ days: index + 2 }),
    );
    const asked = await Promise.all(
      days.map(async (day, index) => {
        const chat = `apart-${index}`;
        const words = day.toFormat('d LLLL');
        const id = await api.send(chat, `Is anything free on ${words}?`);
        await api.settled(chat, id, 90_000);
        return { chat, id, words, messages: await api.messages(chat) };
      }),
    );
    for (const { chat, id, words, messages } of asked) {
      const story = `${chat}: ${JSON.stringify(messages)}`;
      const [own, ...replies] = messages;
      assert.equal(own?.id, id, story);
      assert.ok(
        replies.every(({ answers }) => answers === id),
        story,
      );
      // On a busy machine "let me check" comes first; the last word is the answer.
      assert.match(replies.at(-1)?.text ?? '', new RegExp(`\\b${words}\\b`), story);
      assert.ok(replies.length <= 2, story);
    }
  });
});

/** A weekday at least so many days ahead, on which the desk is open in the morning. */
function openDay(daysAhead: number): DateTime {
  let day = DateTime.now().setZone(ZONE).plus({ days: daysAhead }).startOf('day');
  while (day.weekday > 5 || day.toISODate() === '2027-01-01') day = day.plus({ days: 1 });
  return day;
}
