// Hundreds of sends while one in five goes wrong, through the real activity on a real Postgres, with statuses that come late,
// twice and out of order. What counts is what the platform has really taken.
import assert from 'node:assert/strict';
import type { Fault } from '../../support/graph/faults.js';
import { listUndelivered } from '../../../prisma/stores/views/undelivered.js';
import { startSendKit, type SendKit, type Turn } from './kit.js';

const SENDS = 300;
const AT_ONCE = 8;
const SHARE = 0.2;
const SEED = 20_261_201;

/** Every way of going wrong, each as likely as the other. */
const KINDS: Fault[] = [
  { kind: 'cutAfter' },
  { kind: 'cutBefore' },
  { kind: 'serverError', isTaken: true },
  { kind: 'serverError', isTaken: false, status: 503 },
  { kind: 'silence', isTaken: true },
  { kind: 'silence', isTaken: false },
  { kind: 'garbage' },
  { kind: 'slow', ms: 100 },
  { kind: 'refuse', code: 130429 },
  { kind: 'refuse', code: 131056 },
  { kind: 'refuse', code: 131026 },
];

describe(`${SENDS} sends, ${SHARE * 100} % of which go wrong`, function () {
  this.timeout(300_000);
  let kit: SendKit;
  let sends: { turn: Turn; outboxId: string; state: string }[] = [];

  before(async () => {
    kit = await startSendKit({ sendTimeoutMs: 1_500 });
    kit.fake.report({
      statuses: ['sent', 'delivered', 'read'],
      copies: 2,
      isShuffled: true,
      delayMs: [0, 500],
    });
    kit.fake.faults.random({ share: SHARE, kinds: KINDS, seed: SEED });
    const chats = await Promise.all(Array.from({ length: 40 }, () => kit.chat()));
    const queue = Array.from({ length: SENDS }, (_, index) => index);
    const work = async (): Promise<void> => {
      for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
        const chat = chats[index % chats.length];
        if (!chat) continue;
        const turn = await kit.turn(chat);
        const outboxId = await kit.plan({ ...turn, text: `answer ${index}` });
        const { state } = await kit.deliver(outboxId, { waitsAtMostMs: 20 });
        sends.push({ turn, outboxId, state });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    kit.fake.faults.random(undefined);
    await kit.fake.webhooks.settled();
    sends = await Promise.all(
      sends.map(async (send) => ({ ...send, state: (await kit.row(send.outboxId)).state })),
    );
  });
  after(() => kit.stop());

  const takenOf = (outboxId: string): number =>
    kit.fake.taken().filter(({ callbackData }) => callbackData === outboxId).length;

  it('met every kind of fault, and made more calls than messages only where a refusal was clean', () => {
    assert.equal(sends.length, SENDS);
    const refusals = kit.logLines.filter((line) => line.includes('"state":"planned"')).length;
    assert.ok(refusals > 5, `${refusals} clean refusals`);
    assert.equal(kit.fake.attempts(), SENDS + refusals);
  });

  it('doubled none', () => {
    const doubled = sends.filter(({ outboxId }) => takenOf(outboxId) > 1);
    assert.deepEqual(doubled, []);
    assert.equal(
      new Set(kit.fake.taken().map(({ callbackData }) => callbackData)).size,
      kit.fake.taken().length,
    );
  });

  it('says "sent" of what the platform has taken, and of nothing else', () => {
    for (const { outboxId, state } of sends) {
      assert.equal(state === 'sent', takenOf(outboxId) === 1, `${state}, taken ${takenOf(outboxId)} times`);
    }
  });

  it('left nothing planned or under way: each is sent, failed with its code, or unknown and listed', async () => {
    const listed = await kit.inTenant((scope) => listUndelivered(scope, { limit: SENDS }));
    const lines = new Map(listed.map((line) => [line.outboxId, line]));
    const counts: Record<string, number> = {};
    for (const { outboxId, state } of sends) {
      counts[state] = (counts[state] ?? 0) + 1;
      if (state !== 'sent') assert.equal(lines.get(outboxId)?.state, state);
    }
    assert.deepEqual(Object.keys(counts).sort(), ['failed', 'sent', 'unknown']);
    const failures = sends.filter(({ state }) => state === 'failed');
    for (const { outboxId } of failures) assert.equal(lines.get(outboxId)?.code, '131026');
  });

  it('knows nothing only of what was never taken: a status has settled all the others', () => {
    for (const { outboxId, state } of sends) if (state === 'unknown') assert.equal(takenOf(outboxId), 0);
  });

  it('accounts for every message: answered, handed off, or open and listed', async () => {
    const outcomes = { sent: 'answered', failed: 'handed_off', unknown: 'accepted' } as Record<
      string,
      string
    >;
    for (const { turn, state } of sends) assert.equal((await kit.ledger(turn.turnId)).state, outcomes[state]);
  });

  it('gave each message one place in its chat, and none twice', async () => {
    const rows = await kit.inTenant(({ tx }) =>
      tx.outbox.findMany({ where: { state: 'sent' }, select: { chatId: true, sequence: true } }),
    );
    const places = rows.map(({ chatId, sequence }) => `${chatId} ${sequence}`);
    assert.equal(new Set(places).size, rows.length);
  });
});
