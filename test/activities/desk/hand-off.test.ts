// Handing a matter to people (spec B14): what the customer hears, who is told, what the audit keeps; and the hours in which
// people are at the desk anyway (spec B8).
import assert from 'node:assert/strict';
import { WEEKDAYS } from '../../../config/calendar.js';
import type { TenantConfiguration } from '../../../config/configuration.js';
import { isHandOffReason } from '../../../activities/desk/hand-off.js';
import { currentLease, leaseOf } from '../../../activities/desk/lease.js';
import type { Tenant } from '../../../activities/tenants.js';
import { releaseChat, takeChat } from '../../../prisma/stores/takeover.js';
import { lockChat } from '../../../prisma/stores/turns.js';
import { until } from '../../support/desk.js';
import { FIRST_MESSAGE, startQuickDesk, type QuickDesk } from './kit.js';

const AROUND_THE_CLOCK = Object.fromEntries(WEEKDAYS.map((day) => [day, [{ from: '00:00', to: '00:00' }]]));

const auditOf = async (
  desk: QuickDesk,
  chat: string,
): Promise<{ event: string; actor: string; facts: unknown }[]> => {
  const stream = await desk.chatId(chat);
  return desk.database.inTenant(desk.tenantId, (tx) =>
    tx.audit.findMany({
      where: { stream, event: { in: ['handed_off', 'chat_released'] } },
      orderBy: { number: 'asc' },
      select: { event: true, facts: true, actor: true },
    }),
  );
};

describe('a matter for people', function () {
  this.timeout(180_000);
  let desk: QuickDesk;
  let ownerChat: string;
  before(async () => {
    desk = await startQuickDesk({
      profile: { graceMs: 0, debounceMs: 0, debounceMaxMs: 0, inactivityMs: 60_000 },
      configure: (shipped) => ({
        ...shipped,
        assistant: { ...shipped.assistant, firstMessage: undefined },
        // Nothing reversible is done here by anybody but people.
        tools: shipped.tools.map((tool) =>
          tool.effect === 'reversible' ? { ...tool, effect: 'human_only' as const } : tool,
        ),
      }),
    });
    const [owner] = desk.configuration.owners;
    ownerChat = 'the-owner';
    await desk.settled(await desk.writeAs(`owner:${owner?.id ?? ''}`, ownerChat, 'Hello!'));
  });
  after(async () => {
    await desk?.stop();
  });

  const untilTold = (part: string): Promise<string> =>
    until(
      async () => (await desk.texts(ownerChat)).find((text) => text.includes(part)),
      60_000,
      `the owner to be told of ${part}`,
    );

  for (const [what, chat, text, reason, told] of [
    ['a private account', 'ada', 'What is my balance?', 'private_account', 'their own account'],
    ['a payment that went wrong', 'bo', 'you charged me twice!', 'transactional_support', 'went wrong'],
  ] as const) {
    it(`is ${what}: the customer hears it, the owner is told why and what was written`, async () => {
      const id = await desk.send(chat, text);
      assert.deepEqual(await desk.settled(id), { state: 'handed_off', reason });
      assert.equal((await desk.texts(chat)).length, 1);
      const notice = await untilTold(text);
      assert.ok(notice.includes(told), notice);
      assert.ok(notice.includes(chat), 'who it is');
      assert.deepEqual(
        (await auditOf(desk, chat)).map(({ facts }) => facts),
        [{ reason, told: 1 }],
      );
    });
  }

  it('is what policy keeps for people: a run hands it off and does nothing', async () => {
    const id = await desk.send('cy', 'Book Friday at 10:00 please');
    assert.equal((await desk.settled(id)).state, 'handed_off');
    assert.match((await desk.texts('cy')).at(-1) ?? '', /only my colleagues/);
    await untilTold('Book Friday at 10:00');
    assert.equal(await desk.database.inTenant(desk.tenantId, (tx) => tx.booking.count()), 0);
    assert.deepEqual(
      (await auditOf(desk, 'cy')).map(({ facts }) => facts),
      [{ reason: 'human_only', told: 1 }],
    );
  });

  it('stays the customer’s own: the notice is sealed under their key, and ends no turn of the owner’s', async () => {
    const chatId = await desk.chatId(ownerChat);
    await desk.inScope(desk.tenantId, async ({ tx }) => {
      const notices = await tx.outbox.findMany({ where: { chatId, originKind: 'hand_off_notice' } });
      assert.ok(notices.length >= 3);
      for (const { keyId, turnId, originId } of notices) {
        const turn = await tx.turn.findUniqueOrThrow({ where: { id: originId } });
        const { contactId } = await tx.chat.findUniqueOrThrow({ where: { id: turn.chatId } });
        const key = await tx.dataKey.findUniqueOrThrow({ where: { id: keyId ?? '' } });
        assert.equal(key.contactId, contactId);
        assert.equal(turnId, null);
      }
    });
  });

  it('has a known reason, or a gate couldn’t hand it off', () => {
    assert.ok(isHandOffReason('model_cap'));
    assert.equal(isHandOffReason('toString'), false);
    assert.equal(isHandOffReason('detector'), false);
  });
});

describe('a desk with people at it', function () {
  this.timeout(180_000);
  let desk: QuickDesk;
  before(async () => {
    desk = await startQuickDesk({
      configure: (shipped) => ({ ...shipped, shift: { enabled: true, staffed: AROUND_THE_CLOCK } }),
    });
  });
  after(async () => {
    await desk?.stop();
  });

  it('answers by itself: the grace ends in silence, and the session by hand', async () => {
    const id = await desk.send('ada', 'Hello!');
    assert.deepEqual(await desk.settled(id), { state: 'handed_off', reason: 'shift' });
    await desk.sessionIs('ada', 'resolved', 'manual');
    assert.deepEqual(await desk.texts('ada'), [FIRST_MESSAGE]);
    assert.equal(await desk.database.inTenant(desk.tenantId, (tx) => tx.modelCall.count()), 0);
  });

  it('tells somebody who was talking to the assistant, once, that a person goes on', async () => {
    const told = async (text: string): Promise<string[]> => {
      const before = (await desk.texts('bo')).length;
      const id = await desk.send('bo', text);
      await desk.sessionIs('bo', 'waiting');
      // As if the assistant had answered before the people came.
      await desk.inScope(desk.tenantId, async ({ tx }) =>
        tx.chatSession.updateMany({
          where: { chatId: await desk.chatId('bo'), state: 'waiting' },
          data: { state: 'active', activeAt: new Date() },
        }),
      );
      assert.deepEqual(await desk.settled(id), { state: 'handed_off', reason: 'shift' });
      await desk.sessionIs('bo', 'resolved', 'manual');
      return (await desk.texts('bo')).slice(before).filter((word) => word !== FIRST_MESSAGE);
    };
    const [sentence, ...more] = await told('And what about Sunday?');
    assert.match(sentence ?? '', /colleague/);
    assert.deepEqual(more, []);
    assert.deepEqual(await told('Hello?'), []);
  });
});

describe('a lease without an end of its own', function () {
  this.timeout(180_000);
  let desk: QuickDesk;
  before(async () => {
    desk = await startQuickDesk();
    await desk.settled(await desk.send('ada', 'Hello!'));
  });
  after(async () => {
    await desk?.stop();
  });

  const MONDAYS = { enabled: true, staffed: { monday: [{ from: '09:00', to: '18:00' }] } };
  const withShift = async (shift: TenantConfiguration['shift']): Promise<Tenant> => {
    const tenant = await desk.deps.tenants.byId(desk.tenantId);
    return { ...tenant, configuration: { ...tenant.configuration, shift } };
  };
  /** What holds now of a chat that an owner has taken at this instant. */
  const leaseSince = async (shift: TenantConfiguration['shift'], since: Date): Promise<unknown> => {
    const tenant = await withShift(shift);
    const chatId = await desk.chatId('ada');
    return desk.inScope(desk.tenantId, async (scope) => {
      await takeChat(scope, { chatId, by: 'owner:ada' });
      await scope.tx.chat.update({ where: { id: chatId }, data: { pausedAt: since } });
      const lease = await currentLease(scope, tenant, await lockChat(scope, chatId));
      const { isPaused } = await lockChat(scope, chatId);
      await releaseChat(scope, { chatId, by: 'owner:ada' });
      return { lease, isPaused };
    });
  };

  it('ends when the people at the desk leave it', async () => {
    // A Monday at noon in Istanbul.
    const since = new Date('2026-11-30T09:00:00Z');
    const lease = leaseOf(await withShift(MONDAYS), { by: 'owner:ada', since });
    assert.deepEqual(lease, { until: new Date('2026-11-30T15:00:00Z').getTime() });
  });

  it('is released then, in the name of the shift', async () => {
    const long = new Date('2020-01-06T09:00:00Z');
    assert.deepEqual(await leaseSince(MONDAYS, long), { lease: undefined, isPaused: false });
    const released = (await auditOf(desk, 'ada')).filter(({ event }) => event === 'chat_released');
    assert.deepEqual(
      released.map(({ actor }) => actor),
      ['shift'],
    );
  });

  it('has none where nobody keeps hours, and where nobody ever leaves', async () => {
    const since = new Date(Date.now() - 60_000);
    const forever = { lease: {}, isPaused: true };
    assert.deepEqual(await leaseSince({ enabled: false, staffed: {} }, since), forever);
    assert.deepEqual(await leaseSince({ enabled: true, staffed: AROUND_THE_CLOCK }, since), forever);
  });
});
