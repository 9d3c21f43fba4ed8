// Several people, and silence: how many yeses a request needs, who is reminded, and what nobody's answer means.
import assert from 'node:assert/strict';
import type { Policy } from '../../../config/configuration.js';
import { ACCOUNT, startOwnerDesk, type OwnerDesk } from '../owner/kit.js';
import { until } from '../../support/desk.js';

const MINUTE = 1;
/** Seconds after the request. */
const REMINDED_AFTER = 4;

describe('a request that two owners have to approve', function () {
  this.timeout(240_000);
  let owners: OwnerDesk;
  before(async () => {
    const rule: Policy['rules'][number] = {
      name: 'two-have-to-agree',
      when: { effects: ['reversible'] },
      then: 'approve',
      needed: 2,
      expiresAfterMinutes: 60 * MINUTE,
    };
    owners = await startOwnerDesk((shipped) => ({
      ...shipped,
      policy: { ...shipped.policy, rules: [rule, ...shipped.policy.rules] },
    }));
    await owners.say('ada', 'help');
  });
  after(async () => owners.stop());

  it('reaches an owner who has never written by a template, in a chat made for them', async () => {
    const asked = await owners.ask();
    await owners.noticeTo('bo', asked.ref);
    const [sent] = owners.sentTo('bo');
    assert.match(sent ?? '', new RegExp(`"template".*"approval_request".*${asked.ref}`));
    const [shown] = owners.sentTo('ada').filter((words) => words.includes(asked.ref));
    assert.match(shown ?? '', new RegExp(`"approve:${asked.approvalId}".*"reject:${asked.approvalId}"`));
    // What bo writes finds that chat.
    await owners.say('bo', `no ${asked.ref}`);
    const chats = await owners.inDesk((tx) => tx.chat.count({ where: { account: { accountKey: ACCOUNT } } }));
    assert.equal(chats, 2);
    await owners.told(asked);
  });

  it('waits for the second of them, and counts nobody twice', async () => {
    const asked = await owners.ask();
    await owners.noticeTo('bo', 'It takes a yes from 2 people');
    assert.match(await owners.say('ada', `yes ${asked.ref}`), /your yes counts. 1 more needed/);
    assert.match(await owners.say('ada', `yes ${asked.ref}`), /said yes to it already/);
    const { decisions } = owners.desk;
    const { tenantId } = owners.desk;
    const again = { tenantId, key: { ref: asked.ref }, decision: 'approve' } as const;
    // The same person elsewhere, and surfaces on which one person could be two.
    for (const approver of [
      { surface: 'console', id: 'ada' },
      { surface: 'api', id: 'api' },
      { surface: 'cli', id: 'bo' },
    ] as const) {
      const { outcome } = await decisions.decideApproval({ ...again, approver });
      assert.equal(outcome, approver.id === 'ada' ? 'already_said' : 'not_asked');
    }
    assert.deepEqual(await owners.stateOf(asked.approvalId), { approval: 'open', step: 'accepted' });
    assert.match(await owners.say('bo', `yes ${asked.ref}`), /being carried out/);
    assert.match(await owners.told(asked), /booked/i);
  });

  it('is turned down by one no, also of somebody who has said yes before', async () => {
    const asked = await owners.ask();
    await owners.say('ada', `yes ${asked.ref}`);
    assert.match(await owners.say('ada', `no ${asked.ref}`), /turned down/);
    assert.match(await owners.say('bo', `yes ${asked.ref}`), /turned down before/);
    assert.match(await owners.told(asked), /can't do this one/);
    assert.ok(!(await owners.isBooked(asked)));
  });

  it('takes no yes over when it is edited', async () => {
    const asked = await owners.ask();
    await owners.say('ada', `yes ${asked.ref}`);
    const { time } = owners.slot();
    await owners.say('bo', `EDIT ${asked.ref} time=${time}`);
    const newer = await owners.inDesk((tx) =>
      tx.approval.findFirstOrThrow({ where: { replacesId: asked.approvalId } }),
    );
    assert.match(await owners.say('bo', `yes ${newer.ref}`), /1 more needed/);
    assert.deepEqual(await owners.stateOf(newer.id), { approval: 'open', step: 'accepted' });
    await owners.say('ada', `yes ${newer.ref}`);
    assert.match(await owners.told(asked), new RegExp(`booked.*${time}`, 'i'));
  });

  it('is never carried out on one yes, whatever its row says', async () => {
    const asked = await owners.ask();
    await owners.say('ada', `yes ${asked.ref}`);
    await owners.inDesk((tx) =>
      tx.approval.update({
        where: { id: asked.approvalId },
        data: { state: 'approved', decidedAt: new Date() },
      }),
    );
    await owners.desk.conversations.wakeRun(asked);
    await owners.told(asked);
    assert.ok(!(await owners.isBooked(asked)));
    assert.equal((await owners.stateOf(asked.approvalId)).step, 'refused');
  });
});

describe('a request that nobody answers', function () {
  this.timeout(240_000);
  let owners: OwnerDesk;
  before(async () => {
    const rule: Policy['rules'][number] = {
      name: 'a-person-takes-over',
      when: { effects: ['reversible'] },
      then: 'approve',
      needed: 2,
      expiresAfterMinutes: 30 * MINUTE,
      remindAfterMinutes: REMINDED_AFTER / 60,
      onExpiry: 'handOff',
    };
    owners = await startOwnerDesk((shipped) => ({
      ...shipped,
      policy: { ...shipped.policy, rules: [rule, ...shipped.policy.rules] },
    }));
    await owners.say('ada', 'help');
    await owners.say('bo', 'help');
    await owners.say('bo', 'help', { channel: 'web' });
  });
  after(async () => owners.stop());

  it('reminds those who haven’t said yes, once, and goes to a person when its time is over', async () => {
    const asked = await owners.ask();
    await owners.noticeTo('ada', asked.ref);
    await owners.say('ada', `yes ${asked.ref}`);
    await owners.noticeTo('bo', 'Still waiting for your answer');
    await owners.noticeTo('bo', 'Still waiting for your answer', 'web');
    const reminders = (): Promise<number> =>
      owners.inDesk((tx) =>
        tx.outbox.count({ where: { originKind: 'approval_reminder', originId: asked.approvalId } }),
      );
    assert.equal(await reminders(), 2, 'Bo on WhatsApp and on the web, and not Ada');
    assert.ok(!owners.sentTo('ada').some((sent) => sent.includes('Still waiting')));

    await owners.expire(asked.approvalId);
    await owners.desk.conversations.wakeRun(asked);
    assert.match(await owners.told(asked), /person|team|colleague|somebody|someone/i);
    assert.deepEqual(await owners.stateOf(asked.approvalId), { approval: 'expired', step: 'refused' });
    // Somebody has to get back to the customer: whoever has said yes hears of it too.
    for (const owner of ['ada', 'bo'] as const) {
      await owners.noticeTo(owner, `Nobody answered ${asked.ref} in time`);
    }
    const handedOff = await owners.inDesk((tx) =>
      tx.audit.findMany({ where: { subjectId: asked.turnId, event: 'handed_off' }, select: { facts: true } }),
    );
    assert.deepEqual(handedOff, [{ facts: { reason: 'approval_expired', told: 3 } }]);
    const [message] = await owners.inDesk((tx) => tx.inbox.findMany({ where: { turnId: asked.turnId } }));
    assert.equal(message?.state, 'handed_off');
    assert.ok(!(await owners.isBooked(asked)));
    assert.equal(await reminders(), 2);
  });

  it('reminds of the newer one after an edit', async () => {
    const asked = await owners.ask();
    const { time } = owners.slot();
    await owners.say('ada', `EDIT ${asked.ref} time=${time}`);
    const newer = await owners.inDesk((tx) =>
      tx.approval.findFirstOrThrow({ where: { replacesId: asked.approvalId } }),
    );
    const isReminded = (id: string) => async (): Promise<true | undefined> =>
      (await owners.inDesk((tx) => tx.approval.findUniqueOrThrow({ where: { id } }))).remindedAt !== null
        ? true
        : undefined;
    await until(isReminded(newer.id), 60_000, 'the reminder of the newer one');
    await owners.say('bo', `no ${newer.ref}`);
    await owners.told(asked);
    assert.equal(await isReminded(asked.approvalId)(), undefined);
  });
});
