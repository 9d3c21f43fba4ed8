// The production form without containers: the build is set up, started, talked to and ended, part by part.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { DateTime } from 'luxon';
import { type Api, eventually } from '../support/api-client.js';
import { connected } from '../support/postgres.js';
import { buildAndSetUp, type Built, type Running } from './built-processes.js';

const ZONE = 'Europe/Istanbul';

describe('the built worker and gateway', function () {
  this.timeout(240_000);
  let built: Built;
  let api: Api;
  let worker: Running;
  let gateway: Running;

  before(async () => {
    built = await buildAndSetUp();
    ({ api } = built);
    [worker, gateway] = await Promise.all([built.start('worker'), built.start('gateway')]);
  });
  after(() => built?.stop());

  it('stand on a database that the built set-up has made, and need no bundler', () => {
    assert.match(built.setUp, /roles and database are there/);
    assert.match(worker.output(), /"worker\.ready"/);
    assert.match(gateway.output(), /"gateway\.ready"/);
  });

  describe('walk', () => {
    const chat = 'walk';
    /** On a Saturday another day: what is asked for by its name must not be half over. */
    const day = nextWeekday(DateTime.now().setZone(ZONE).weekday === 6 ? 2 : 6);

    it('greets back, and tells what is free', async () => {
      assert.match(await said('Hello!'), /hello/i);
      const free = await said(`Is anything free on ${day.toFormat('cccc')} morning?`);
      assert.match(free, new RegExp(day.toFormat('d LLLL')));
      assert.match(free, /10:30/);
    });

    it('books after a yes', async () => {
      const id = await api.send(chat, 'Book 10:30 please');
      const { ref, arguments: shown } = await api.approvalOf(chat);
      assert.deepEqual(shown, { date: day.toISODate(), time: '10:30' });
      assert.deepEqual(await bookings(), []);
      assert.equal((await api.decide(ref, 'approve')).status, 200);
      assert.equal((await api.settled(chat, id)).state, 'answered');
      assert.match(await lastWord(id), /booked.*10:30/i);
      assert.deepEqual(await bookings(), [day.set({ hour: 10, minute: 30 }).toMillis()]);
    });

    it('does nothing after a no, and says why', async () => {
      const id = await api.send(chat, `Book ${day.toFormat('cccc')} at 11:00 please`);
      const { ref } = await api.approvalOf(chat);
      await api.decide(ref, 'reject', 'We are at a fair that day');
      assert.equal((await api.settled(chat, id)).state, 'refused');
      assert.match(await lastWord(id), /We are at a fair that day/);
      assert.equal((await bookings()).length, 1);
    });

    it('asks back, and completes', async () => {
      assert.match(await said('book me something'), /\?/);
      const id = await api.send(chat, 'Monday at 9');
      const { ref, arguments: shown } = await api.approvalOf(chat);
      const monday = DateTime.fromISO(String(shown?.['date']), { zone: ZONE });
      assert.equal(monday.weekday, 1);
      await api.decide(ref, 'approve');
      assert.equal((await api.settled(chat, id)).state, 'answered');
      assert.deepEqual(
        (await bookings()).toSorted(),
        [day.set({ hour: 10, minute: 30 }), monday.set({ hour: 9 })].map((at) => at.toMillis()).toSorted(),
      );
    });

    async function said(text: string): Promise<string> {
      const id = await api.send(chat, text);
      assert.equal((await api.settled(chat, id)).state, 'answered');
      return lastWord(id);
    }

    async function lastWord(id: string): Promise<string> {
      return (await api.repliesTo(chat, id)).at(-1)?.text ?? '';
    }

    function bookings(): Promise<number[]> {
      return connected(built.databaseUrl, async (client) => {
        const { rows } = await client.query<{ starts_at: Date }>(
          "select starts_at from bookings where state = 'reserved' order by starts_at",
        );
        return rows.map((row) => row.starts_at.getTime());
      });
    }
  });

  describe('told to end', () => {
    it('the gateway answers the request that is under way, takes no other, and ends', async () => {
      const body = JSON.stringify({ id: 'under-way', text: 'Hello, are you closing?' });
      const request = await openRequest('/api/chats/under-way/messages', Buffer.byteLength(body));
      gateway.signal('SIGTERM');
      await eventually('nobody else to be let in', async () =>
        fetch(`${built.gatewayUrl}/health/live`).then(
          () => undefined,
          () => true,
        ),
      );
      assert.match(await request.finish(body), /^HTTP\/1\.1 202 .*"messageId":/s);
      assert.equal(await gateway.ended, 0, gateway.output());
      assert.match(gateway.output().trim().split('\n').at(-1) ?? '', /"gateway\.ended"/);

      gateway = await built.start('gateway');
      await api.settled('under-way', 'under-way');
      assert.equal((await api.repliesTo('under-way', 'under-way')).length, 1);
    });

    it('the worker completes what is nearly done', async () => {
      const text = 'Tell me something that takes a moment';
      await built.script({ match: text, delayMs: 500, text: 'That took a moment.' });
      const id = await sendAndWaitForTheModel('nearly-done', text);
      worker.signal('SIGTERM');
      assert.equal(await worker.ended, 0, worker.output());
      assert.match(worker.output().trim().split('\n').at(-1) ?? '', /"worker\.stopped"/);

      worker = await built.start('worker');
      await assertAnsweredOnce('nearly-done', id, /took a moment/);
      assert.equal(await timesAsked(text), 1, 'its answer was kept');
    });

    it('the worker hands back what takes longer, and the next one takes it up', async () => {
      const text = 'Tell me something that takes for ever';
      // Longer than this test may last: a worker that waited for it would never end.
      await built.script({ match: text, delayMs: 600_000, text: 'Too late.' });
      const id = await sendAndWaitForTheModel('handed-back', text);
      await built.script({ match: text, text: 'That took no time.' });
      worker.signal('SIGTERM');
      assert.equal(await worker.ended, 0, worker.output());

      worker = await built.start('worker');
      await assertAnsweredOnce('handed-back', id, /took no time/);
      assert.equal(await timesAsked(text), 2);
    });

    async function sendAndWaitForTheModel(chat: string, text: string): Promise<string> {
      const id = await api.send(chat, text);
      await eventually('the model to be asked', async () =>
        (await timesAsked(text)) > 0 ? true : undefined,
      );
      return id;
    }

    async function timesAsked(text: string): Promise<number> {
      return (await built.asked()).filter((asked) => asked.includes(text)).length;
    }

    async function assertAnsweredOnce(chat: string, id: string, words: RegExp): Promise<void> {
      assert.equal((await api.settled(chat, id, 40_000)).state, 'answered');
      const replies = await api.repliesTo(chat, id);
      assert.equal(replies.length, 1, JSON.stringify(replies));
      assert.match(replies[0]?.text ?? '', words);
    }

    /** The head of a request, and its body later. Resolves when the gateway has read the head. */
    async function openRequest(
      path: string,
      length: number,
    ): Promise<{ finish(body: string): Promise<string> }> {
      const { hostname, port } = new URL(built.gatewayUrl);
      const socket = connect(Number(port), hostname);
      let answer = '';
      socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${built.apiToken}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n` +
          'Connection: close\r\n\r\n',
      );
      await eventually('the head to be read', () => (answer.includes('100 Continue') ? true : undefined));
      answer = '';
      return {
        async finish(body) {
          socket.write(body);
          await closed;
          return answer.trim();
        },
      };
    }
  });
});

function nextWeekday(weekday: number): DateTime {
  const today = DateTime.now().setZone(ZONE).startOf('day');
  return today.plus({ days: (weekday - today.weekday + 7) % 7 });
}
