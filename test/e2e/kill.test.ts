// SIGKILL at the worst moments. Three chats stand at three points when it comes; afterwards every message has one end,
// nothing has happened twice, and nobody was told twice.
import assert from 'node:assert/strict';
import type { DateTime } from 'luxon';
import { type Api, type ApiMessage, eventually } from '../support/api-client.js';
import { CRASH_WORKER, setTrap } from '../support/crash-worker/traps.js';
import { type Installation, startInstallation } from '../support/installation.js';
import { asTable, bookingOf, PATIENCE_MS, secondsSince, workdays, type Outcome } from './stands.js';

const POINTS = {
  approval: 'waiting for the approval',
  effect: 'after the effect, before its record',
  send: 'after the send, before its record',
} as const;
type Point = keyof typeof POINTS;

interface Stand {
  point: Point;
  chat: string;
  /** The customer's message. */
  id: string;
  start: DateTime;
  ref: string;
}

describe('killed in the middle', function () {
  this.timeout(170_000);
  let installation: Installation;
  let api: Api;
  const outcomes: Outcome[] = [];
  const notes: string[] = [];
  const [first, second, third] = threeWorkdays();

  before(async () => {
    installation = await startInstallation({ workerProgram: CRASH_WORKER });
    ({ api } = installation);
  });

  after(() => console.log([asTable(outcomes), ...notes.map((note) => `      ${note}`)].join('\n')));

  it('goes on when the worker is killed at three points', async () => {
    const stands = await standAtThreePoints('worker', first);
    const { worker } = installation.facts().pids;
    await installation.kill9('worker');
    await eventually('another worker', () =>
      installation.facts().pids.worker === worker ? undefined : true,
    );
    await settleAll(stands, 'worker');
  });

  it('goes on when everything is killed at three points, and an ordinary worker takes over', async () => {
    const stands = await standAtThreePoints('everything', second);
    await installation.kill9('everything');
    assert.deepEqual(installation.left(), [], 'nothing is alive');
    await installation.start({});
    await settleAll(stands, 'everything');
  });

  it('takes its parts along when only the launcher is killed, and starts again', async () => {
    const chat = 'launcher-killed';
    await api.ask(chat, bookingOf(third, '10:00'));
    const killedAt = Date.now();
    await installation.kill9('launcher');
    await eventually(
      'the parts to be gone',
      () => (installation.left().length === 0 ? true : undefined),
      10_000,
    );
    notes.push(`launcher killed: its parts were gone after ${secondsSince(killedAt)} s`);
    await installation.start({});
    notes.push(`ready again ${(installation.startMs() / 1000).toFixed(1)} s after the next start`);
    const { ref } = await api.approvalOf(chat);
    await api.decide(ref, 'approve');
    await eventually('the booking to be told', async () =>
      (await api.messages(chat)).some(({ text }) => text?.includes('You are booked')) ? true : undefined,
    );
  });

  it('has every message closed in the end, and ends on Ctrl-C within ten seconds', async () => {
    assert.deepEqual(await api.get('/messages?state=open'), []);
    const took = await installation.stop();
    assert.ok(took < 10_000, `${took} ms`);
    assert.deepEqual(installation.left(), []);
  });

  async function standAtThreePoints(name: string, day: DateTime): Promise<Stand[]> {
    const [approval, effect, send] = await Promise.all([
      ask('approval', `${name}-approval`, day.set({ hour: 10 })),
      ask('effect', `${name}-effect`, day.set({ hour: 11 })),
      ask('send', `${name}-send`, day.set({ hour: 14 })),
    ]);
    const effectTrap = setTrap(installation, 'after-effect');
    await api.decide(effect.ref, 'approve');
    await effectTrap.caught();
    const sendTrap = setTrap(installation, 'after-send');
    await api.decide(send.ref, 'approve');
    await sendTrap.caught();
    return [approval, effect, send];
  }

  /** Asks for a booking and waits until the owner is asked and the customer knows it. */
  async function ask(point: Point, chat: string, start: DateTime): Promise<Stand> {
    const id = await api.send(chat, bookingOf(start, start.toFormat('HH:mm')));
    const { ref } = await api.approvalOf(chat);
    await eventually('the acknowledgement', async () => (await api.repliesTo(chat, id))[0]);
    return { point, chat, id, start, ref };
  }

  async function settleAll(stands: Stand[], killed: string): Promise<void> {
    // From here on the customer could be answered.
    const upAgainAt = Date.now();
    const found = await Promise.all(stands.map((stand) => settle(stand, { killed, upAgainAt })));
    outcomes.push(...found.map(({ outcome }) => outcome));
    for (const { stand, message, replies, outcome } of found) {
      const story = `${stand.chat}: ${message.state}, ${JSON.stringify(replies.map(({ text }) => text))}`;
      assert.equal(message.state, 'answered', story);
      assert.equal(outcome.effects, 1, story);
      // One "I've passed this on" and one last word.
      assert.equal(replies.length, 2, story);
      assert.match(replies[1]?.text ?? '', /You are booked/, story);
    }
  }

  async function settle(stand: Stand, { killed, upAgainAt }: { killed: string; upAgainAt: number }) {
    const { chat, id, ref } = stand;
    let from = upAgainAt;
    if (stand.point === 'approval') {
      from = Date.now();
      const { status } = await api.decide(ref, 'approve');
      assert.equal(status, 200, 'the approval can still be decided');
      assert.equal((await api.decide(ref, 'approve')).status, 409, 'and once only');
    }
    const message = await api.settled(chat, id, PATIENCE_MS);
    const seconds = secondsSince(from);
    // A chat that has lost its place would stay silent, or say its last word once more.
    await api.ask(chat, 'Thank you!');
    const secondsToNext = secondsSince(from);
    const replies: ApiMessage[] = await api.repliesTo(chat, id);
    const bookings = await installation.query('select 1 from bookings where starts_at = $1', [
      stand.start.toJSDate(),
    ]);
    const outcome = {
      point: POINTS[stand.point],
      killed,
      messages: message.state,
      effects: bookings.length,
      replies: replies.length - 1,
      seconds,
      secondsToNext,
    };
    return { stand, message, replies, outcome };
  }
});

function threeWorkdays(): [DateTime, DateTime, DateTime] {
  const [first, second, third] = workdays(3);
  assert.ok(first && second && third);
  return [first, second, third];
}
