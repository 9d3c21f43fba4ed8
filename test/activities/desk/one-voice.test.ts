// Never both talking (spec G5), over the real delivery: customers write and book, an owner approves, a person takes the chat,
// gives it back or lets the time run out, in any order and all chats at once. On the web chat the commit is the delivery, so a
// word of the assistant that was committed while a person surely had the chat is a second voice.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { createSweep } from '../../../gateway/sweep.js';
import { until } from '../../support/desk.js';
import { startQuickDesk, type QuickDesk } from './kit.js';

const STORIES = 24;
const SEED = 20_261_201;
const LONG_MS = 600_000;
const SHORT_MS = 700;

type Step = { what: 'writes' | 'takes' | 'takes shortly' | 'gives back' | 'approves'; pauseMs: number };

const story: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    what: fc.constantFrom<Step['what']>(
      'writes',
      'takes',
      'takes',
      'takes shortly',
      'gives back',
      'approves',
      'approves',
    ),
    pauseMs: fc.constantFrom(0, 5, 40, 150, 500),
  }),
  { minLength: 4, maxLength: 9 },
);

/** From when a person surely had the chat, to when they surely still had it. */
interface Lease {
  from: Date;
  to: Date;
}

interface Told {
  chat: string;
  words: string;
  messages: string[];
  leases: Lease[];
}

describe('a customer of a desk at work', function () {
  this.timeout(180_000);
  let desk: QuickDesk;
  before(async () => {
    desk = await startQuickDesk({
      profile: {
        graceMs: 0,
        debounceMs: 1,
        debounceMaxMs: 2,
        acknowledgeAfterMs: 60_000,
        inactivityMs: 60_000,
      },
    });
  });
  after(() => desk?.stop());

  const openRef = async (chat: string): Promise<string | undefined> => {
    const chatId = await desk.chatId(chat);
    const row = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.approval.findFirst({ where: { chatId, state: 'open' }, select: { ref: true } }),
    );
    return row?.ref;
  };
  const approves = async (chat: string): Promise<void> => {
    const ref = await openRef(chat);
    if (ref !== undefined) await desk.decide(ref, 'approve');
  };

  async function tell(steps: Step[], index: number): Promise<Told> {
    const chat = `customer-${index}`;
    const messages = [await desk.send(chat, bookingOf(index))];
    const leases: Lease[] = [];
    let had: { from: Date; until: Date } | undefined;
    const end = (at: Date): void => {
      if (had) leases.push({ from: had.from, to: had.until < at ? had.until : at });
      had = undefined;
    };
    for (const { what, pauseMs } of steps) {
      switch (what) {
        case 'writes':
          messages.push(await desk.send(chat, 'Hello!'));
          break;
        case 'takes':
        case 'takes shortly': {
          const until = new Date(Date.now() + (what === 'takes' ? LONG_MS : SHORT_MS));
          const { since } = await desk.personWrites(chat, until);
          // Taken again it lasts longer, never shorter.
          if (had && had.until < since) end(since);
          had = { from: had?.from ?? since, until: had && had.until > until ? had.until : until };
          break;
        }
        case 'gives back':
          end(new Date());
          await desk.personReleases(chat);
          break;
        case 'approves':
          await approves(chat);
      }
      await sleep(pauseMs);
    }
    end(new Date());
    await desk.personReleases(chat);
    return { chat, words: JSON.stringify(steps), messages, leases };
  }

  it('hears one voice at a time; every message ends, every yes is carried out once and told once', async () => {
    const told = await Promise.all(fc.sample(story, { seed: SEED, numRuns: STORIES }).map(tell));
    // As in the gateway: what was held back and told to nobody, such as the first message of a session, is told by the sweep.
    const { database, conversations, log: logger } = desk;
    const sweep = createSweep({ database, conversations, logger });
    sweep.start();
    for (const { chat, messages } of told) {
      // A booking that nobody has approved yet is approved now.
      await until(
        async () => {
          await approves(chat);
          const chatId = await desk.chatId(chat);
          const open = await desk.database.inTenant(
            desk.tenantId,
            async (tx) =>
              (await tx.inbox.count({ where: { externalId: { in: messages }, state: 'accepted' } })) +
              (await tx.outbox.count({ where: { chatId, state: { in: ['planned', 'sending'] } } })) +
              (await tx.toolRun.count({ where: { chatId, open: true } })),
          );
          return open === 0 ? true : undefined;
        },
        60_000,
        `all of ${chat} to end`,
      );
    }
    await sweep.stop();
    let hadSilence = 0;
    let booked = 0;
    for (const { chat, words, leases } of told) {
      const chatId = await desk.chatId(chat);
      const { contactId } = await desk.database.inTenant(desk.tenantId, (tx) =>
        tx.chat.findUniqueOrThrow({ where: { id: chatId }, select: { contactId: true } }),
      );
      const { said, bookings } = await desk.database.inTenant(desk.tenantId, async (tx) => ({
        said: await tx.outbox.findMany({ where: { chatId, author: 'assistant' } }),
        bookings: await tx.booking.count({ where: { contactId, state: 'reserved' } }),
      }));
      for (const { from, to } of leases) {
        hadSilence += to > from ? 1 : 0;
        // What was held back for good was never heard.
        const second = said.filter(
          ({ settledAt, state }) => state !== 'discarded' && settledAt && settledAt > from && settledAt < to,
        );
        assert.deepEqual(
          second.map(({ kind, state }) => `${kind} ${state}`),
          [],
          words,
        );
      }
      assert.deepEqual(
        said.filter(({ state }) => state !== 'sent' && state !== 'discarded').map(({ state }) => state),
        [],
        words,
      );
      const last = said.filter(({ kind }) => kind === 'answer').map(({ turnId }) => turnId);
      assert.equal(new Set(last).size, last.length, words);
      const used = await desk.database.inTenant(desk.tenantId, (tx) =>
        tx.approval.findMany({ where: { chatId, state: 'used' }, select: { turnId: true } }),
      );
      assert.equal(bookings, used.length, words);
      for (const { turnId } of used) {
        const answers = said.filter(
          (one) => one.turnId === turnId && one.kind === 'answer' && one.state === 'sent',
        );
        assert.equal(answers.length, 1, words);
      }
      booked += bookings;
    }
    assert.ok(hadSilence >= STORIES / 2, 'people had chats often enough');
    assert.ok(booked >= STORIES / 4, 'and owners said yes');
  });
});

/** One free half-hour of the calendar for each. */
function bookingOf(index: number): string {
  const times = ['10:00', '11:00', '14:00', '15:00', '16:00', '17:00'];
  const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'];
  return `Book ${days[Math.floor(index / times.length)]} at ${times[index % times.length]} please`;
}
