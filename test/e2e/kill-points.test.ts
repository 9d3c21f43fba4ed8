// SIGKILL at the points that lie inside our own bookkeeping: each chat stands at one of them when it comes, all at once. A
// conversation begins a new history after a few dozen events here, so that one can be killed in the middle of that.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DateTime } from 'luxon';
import { type Api, type ApiMessage, eventually } from '../support/api-client.js';
import { CRASH_WORKER, setTrap } from '../support/crash-worker/traps.js';
import { type Installation, startInstallation } from '../support/installation.js';
import { temporalWithShortHistories } from '../support/short-histories.js';
import { asTable, bookingOf, PATIENCE_MS, secondsSince, workdays, type Outcome } from './stands.js';

const POINTS = {
  accept: 'accepted, nobody rung for it',
  plan: 'after the plan, before its record',
  summary: 'during the summary',
  send: 'before the send',
  anew: 'while continuing as new',
} as const;
type Point = keyof typeof POINTS;

/** Events after which Temporal suggests a new history: some three answers. */
const EVENTS = 60;

interface Stand {
  point: Point;
  chat: string;
  /** The customer's messages that have no answer yet. */
  id: string;
  /** What is to be booked. Absent: nothing. */
  start?: DateTime;
}

describe('killed inside the bookkeeping', function () {
  this.timeout(170_000);
  let installation: Installation;
  let api: Api;
  let folder: string;
  const outcomes: Outcome[] = [];
  const notes: string[] = [];
  const days = workdays(2);

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'aroko-kill-'));
    installation = await startInstallation({
      workerProgram: CRASH_WORKER,
      temporalCli: await temporalWithShortHistories(folder, EVENTS),
    });
    ({ api } = installation);
  });

  after(() => {
    console.log([asTable(outcomes), ...notes.map((note) => `      ${note}`)].join('\n'));
    rmSync(folder, { recursive: true, force: true });
  });

  it('goes on when the worker is killed at four points', async () => {
    const stands = await standInTheWorker('worker', days[0]);
    const { worker } = installation.facts().pids;
    await installation.kill9('worker');
    await eventually('another worker', () =>
      installation.facts().pids.worker === worker ? undefined : true,
    );
    await settleAll(stands, 'worker');
  });

  it('goes on when gateway and Temporal are killed before anybody was rung for', async () => {
    const before = installation.facts().pids;
    const stand = await standAccepted('ring');
    await installation.kill9('gateway', 'temporal');
    await eventually('another gateway and another Temporal', () => {
      const { gateway, temporal } = installation.facts().pids;
      return gateway === before.gateway || temporal === before.temporal ? undefined : true;
    });
    await settleAll([stand], 'gateway, Temporal');
  });

  it('goes on when everything is killed at five points, and an ordinary worker takes over', async () => {
    const stands = await standInTheWorker('everything', days[1]);
    stands.push(await standAccepted('everything'));
    await installation.kill9('everything');
    assert.deepEqual(installation.left(), [], 'nothing is alive');
    await installation.start({});
    notes.push(`ready again ${(installation.startMs() / 1000).toFixed(1)} s after the next start`);
    await settleAll(stands, 'everything');
  });

  it('has every message closed in the end, and ends from the outside in', async () => {
    assert.deepEqual(await api.get('/messages?state=open'), []);
    await installation.stop();
    const order = [
      lastTime('gateway.log', /"event":"gateway\.ended".*"timestamp":"([^"]+)"/g),
      lastTime('worker.log', /"event":"worker\.stopped".*"timestamp":"([^"]+)"/g),
      lastTime('postgres.log', /^(\S+ \S+ \S+) \[\d+\] LOG: {2}received fast shutdown request/gm),
    ];
    assert.deepEqual(order, order.toSorted(), 'the gateway, then the worker, then what both stand on');
  });

  function lastTime(log: string, line: RegExp): string {
    const text = readFileSync(join(installation.dataDir, 'logs', log), 'utf8');
    const [, time] = [...text.matchAll(line)].at(-1) ?? [];
    assert.ok(time, `${log} has no such line`);
    return new Date(time).toISOString();
  }

  async function standInTheWorker(name: string, day: DateTime | undefined): Promise<Stand[]> {
    assert.ok(day);
    const anew = await standAnew(`${name}-anew`);
    const [summary, send] = await Promise.all([
      ask('summary', `${name}-summary`, day.set({ hour: 10 })),
      ask('send', `${name}-send`, day.set({ hour: 11 })),
    ]);
    const summaryTrap = setTrap(installation, 'during-summary');
    await api.decide(summary.ref, 'approve');
    await summaryTrap.caught();
    const sendTrap = setTrap(installation, 'before-send');
    await api.decide(send.ref, 'approve');
    await sendTrap.caught();
    const start = day.set({ hour: 14 });
    const planTrap = setTrap(installation, 'after-plan');
    const chat = `${name}-plan`;
    const id = await api.send(chat, bookingOf(start, '14:00'));
    await planTrap.caught();
    return [{ point: 'plan', chat, id, start }, summary.stand, send.stand, anew];
  }

  /** Asks for a booking and waits until the owner is asked and the customer knows it. */
  async function ask(point: Point, chat: string, start: DateTime): Promise<{ stand: Stand; ref: string }> {
    const id = await api.send(chat, bookingOf(start, start.toFormat('HH:mm')));
    const { ref } = await api.approvalOf(chat);
    await eventually('the acknowledgement', async () => (await api.repliesTo(chat, id))[0]);
    return { stand: { point, chat, id, start }, ref };
  }

  /** Talks until the conversation wants a new history, and writes once more while it is about to begin it. */
  async function standAnew(chat: string): Promise<Stand> {
    const trap = setTrap(installation, 'continue-as-new');
    for (let count = 1; !trap.hasCaught(); count += 1) {
      const id = await api.send(chat, `Hello, ${count}!`);
      await eventually('an answer, or the trap to catch', async () =>
        trap.hasCaught() || (await api.repliesTo(chat, id)).length > 0 ? true : undefined,
      );
    }
    return { point: 'anew', chat, id: await api.send(chat, 'Hello, are you there?') };
  }

  /** Temporal stands still, so nobody can be rung; the message is accepted all the same. */
  async function standAccepted(name: string): Promise<Stand> {
    const chat = `${name}-accept`;
    installation.freeze('temporal');
    return { point: 'accept', chat, id: await api.send(chat, 'Hello!') };
  }

  async function settleAll(stands: Stand[], killed: string): Promise<void> {
    // From here on the customer could be answered.
    const upAgainAt = Date.now();
    const found = await Promise.all(stands.map((stand) => settle(stand, { killed, upAgainAt })));
    outcomes.push(...found.map(({ outcome }) => outcome));
    for (const { stand, message, replies, outcome } of found) {
      const story = `${stand.chat}: ${message.state}, ${JSON.stringify(replies.map(({ text }) => text))}`;
      assert.equal(message.state, 'answered', story);
      assert.equal(outcome.effects, stand.start ? 1 : 0, story);
      assert.equal(outcome.replies, 1, story);
    }
  }

  async function settle(stand: Stand, { killed, upAgainAt }: { killed: string; upAgainAt: number }) {
    const { point, chat, id, start } = stand;
    let from = upAgainAt;
    if (point === 'plan') {
      const { ref } = await api.approvalOf(chat);
      assert.equal(await plansOf(id), 1, 'the plan that was stored is the plan');
      from = Date.now();
      assert.equal((await api.decide(ref, 'approve')).status, 200);
    }
    const message = await api.settled(chat, id, PATIENCE_MS);
    const seconds = secondsSince(from);
    // A chat that has lost its place would stay silent, or say its last word once more.
    await api.ask(chat, 'Thank you!');
    const secondsToNext = secondsSince(from);
    const replies: ApiMessage[] = await api.repliesTo(chat, id);
    const effects = start
      ? await installation.query('select 1 from bookings where starts_at = $1', [start.toJSDate()])
      : [];
    const lastWords = start ? replies.filter(({ text }) => text?.includes('You are booked')) : replies;
    if (point === 'anew') await assertInOrder(chat);
    const outcome = {
      point: POINTS[point],
      killed,
      messages: message.state,
      effects: effects.length,
      replies: lastWords.length,
      seconds,
      secondsToNext,
    };
    return { stand, message, replies, outcome };
  }

  async function assertInOrder(chat: string): Promise<void> {
    const messages = await api.messages(chat);
    assert.deepEqual(
      messages.flatMap(({ answers }) => answers ?? []),
      messages.flatMap(({ from, id }) => (from === 'customer' ? [id] : [])),
      'each message has one answer, in their order',
    );
  }

  /** How often a model was asked for a plan for this message. */
  async function plansOf(externalId: string): Promise<number> {
    const [row] = await installation.query<{ id: string }>('select id from inbox where external_id = $1', [
      externalId,
    ]);
    assert.ok(row);
    return readFileSync(join(installation.dataDir, 'logs', 'worker.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"AgentToolPlannerStart"') && line.includes(row.id)).length;
  }
});
