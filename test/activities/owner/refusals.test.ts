// Whatever isn't certain does nothing, says so in words of its own, and leaves a line in the audit (spec G2).
import assert from 'node:assert/strict';
import { DateTime } from 'luxon';
import { handleOwnerMessage } from '../../../activities/owner/handle-message.js';
import type { OwnerMessage } from '../../../activities/owner/owner-message.js';
import type { TenantConfiguration } from '../../../config/configuration.js';
import { PHONES, startOwnerDesk, type Asked, type OwnerDesk } from './kit.js';

describe('an owner', function () {
  this.timeout(240_000);
  let owners: OwnerDesk;
  let asked: Asked;
  before(async () => {
    owners = await startOwnerDesk((shipped) => ({
      ...shipped,
      policy: {
        ...shipped.policy,
        rules: [
          {
            name: 'late-ones-are-for-bo',
            when: { arguments: [{ path: 'time', equals: '17:30' }] },
            then: 'approve',
            approvers: ['bo'],
          },
          ...shipped.policy.rules,
        ],
      },
    }));
    await owners.say('ada', 'help');
    await owners.say('bo', 'help');
    asked = await owners.ask();
  });
  after(async () => owners.stop());

  const stays = async (state = 'open'): Promise<void> => {
    assert.deepEqual(await owners.stateOf(asked.approvalId), {
      approval: state,
      step: 'accepted',
    });
    assert.ok(!(await owners.isBooked(asked)));
  };
  /** The newest refusal of somebody. */
  const lastRefusal = async (actor: string): Promise<unknown> => (await owners.refusals({ actor })).at(-1);
  const facts = (outcome: string, more: object = {}): object => ({
    event: 'approval_refused',
    surface: 'whatsapp',
    decision: 'approve',
    outcome,
    ref: asked.ref,
    ...more,
  });

  /** The message as the arrival handler hands it over, with another configuration where one is given. */
  async function handled(
    message: Partial<OwnerMessage>,
    change: (configuration: TenantConfiguration) => TenantConfiguration = (same) => same,
  ): Promise<string> {
    const { desk } = owners;
    const tenant = await desk.deps.tenants.byId(desk.tenantId);
    const chatId = await desk.chatId(asked.chat);
    const { text } = await desk.inScope(desk.tenantId, (scope) =>
      handleOwnerMessage(
        scope,
        { ...tenant, configuration: change(tenant.configuration) },
        {
          ownerId: 'ada',
          chat: { chatId, channel: 'whatsapp-cloud', kind: 'direct' },
          text: `yes ${asked.ref}`,
          writtenAt: new Date(),
          ...message,
        },
      ),
    );
    return text;
  }

  it('who types a code that is nobody’s hears that there is none, and is counted', async () => {
    assert.match(await owners.say('ada', 'APPROVE Z-9999'), /nothing called Z-9999/);
    assert.deepEqual(await lastRefusal('ada'), {
      event: 'approval_code_refused',
      surface: 'whatsapp',
      decision: 'approve',
    });
    await stays();
  });

  it('who says more than a yes is asked to say it plainly', async () => {
    assert.match(await owners.say('ada', `approve ${asked.ref} but at 11:00`), /nothing was decided/);
    assert.deepEqual(await lastRefusal('ada'), facts('unclear'));
    await stays();
  });

  it('who passes somebody’s yes on has said nothing', async () => {
    assert.match(await owners.say('ada', `yes ${asked.ref}`, { isForwarded: true }), /forwarded message/);
    assert.deepEqual(await lastRefusal('ada'), facts('forwarded'));
    await stays();
  });

  it('who decides in front of a group is sent to a chat of their own', async () => {
    const { chatId } = { chatId: await owners.desk.chatId(asked.chat) };
    assert.match(
      await handled({ chat: { chatId, channel: 'whatsapp-cloud', kind: 'group' } }),
      /Nothing is decided in a group/,
    );
    assert.deepEqual(await lastRefusal('ada'), facts('in_a_group'));
    await stays();
  });

  it('who decides where policy lets nobody is told so', async () => {
    const closed = await handled({}, (shipped) => ({
      ...shipped,
      policy: { ...shipped.policy, surfaces: ['console'] },
    }));
    assert.match(closed, /can be decided on this channel/);
    assert.deepEqual(await lastRefusal('ada'), facts('surface_not_allowed'));
    await stays();
  });

  it('who reacts with any other sign, or to any other message, has decided nothing', async () => {
    const quoted = await owners.noticeTo('ada', asked.ref);
    assert.match(await owners.say('ada', '❤️', { emoji: '❤️', quoted }), /reaction decides nothing/);
    assert.match(
      await owners.say('ada', '👍', { emoji: '👍', quoted: 'wamid.other' }),
      /reaction decides nothing/,
    );
    await stays();
  });

  it('who quotes one request and names another has to choose', async () => {
    const other = await owners.ask();
    const quoted = await owners.noticeTo('ada', other.ref);
    assert.match(await owners.say('ada', `yes ${asked.ref}`, { quoted }), /One at a time/);
    assert.match(await owners.say('ada', `yes ${asked.ref} ${other.ref}`), /One at a time/);
    await stays();
    // And so has who says only yes while two are open.
    const which = await owners.say('ada', 'yes');
    assert.match(which, new RegExp(`${asked.ref}[^]*${other.ref}|${other.ref}[^]*${asked.ref}`));
    await stays();
    await owners.say('ada', `no ${other.ref}`);
  });

  it('who says a lone word to something else has decided nothing', async () => {
    const which = new RegExp(`which one[^]*${asked.ref}`);
    assert.match(await owners.say('ada', 'ok'), which, 'after an answer to a command');
    const chatId = await owners.desk.chatId(PHONES.ada);
    const answered = await owners.inDesk((tx) =>
      tx.outbox.findFirstOrThrow({ where: { chatId, originKind: 'gate', externalId: { not: null } } }),
    );
    const quoted = answered.externalId ?? '';
    assert.match(await owners.say('ada', 'yes', { quoted }), which, 'to what is no request');
    // Words about another matter, which may even name the code.
    await owners.inDesk((tx) =>
      tx.outbox.updateMany({
        where: { chatId, originKind: 'gate' },
        data: { originKind: 'hand_off_notice' },
      }),
    );
    for (const word of ['yes', 'ok', 'no']) assert.match(await owners.say('ada', word), which, word);
    await stays();
  });

  describe('of whom one thing is asked', () => {
    let other: OwnerDesk;
    before(async () => {
      other = await startOwnerDesk();
      await other.say('ada', 'help');
    });
    after(async () => other.stop());
    const outAt = async (quoted: string): Promise<number> => {
      const { settledAt } = await other.inDesk((tx) =>
        tx.outbox.findFirstOrThrow({ where: { externalId: quoted } }),
      );
      return Math.floor((settledAt ?? assert.fail()).getTime() / 1_000) * 1_000;
    };

    it('and who answers with a single word has decided it', async () => {
      const first = await other.ask();
      await other.noticeTo('ada', first.ref);
      assert.match(await other.say('ada', 'ok'), /being carried out/);
      const next = await other.ask();
      await other.noticeTo('ada', next.ref);
      assert.match(await other.say('ada', '👎'), /turned down/);
    });

    it('and whose word was written before that, by a phone that was offline, has decided nothing', async () => {
      const late = await other.ask();
      const saidAt = await outAt(await other.noticeTo('ada', late.ref));
      const which = new RegExp(`which one[^]*${late.ref}`);
      for (const [word, sentAt] of [
        ['yes', new Date(saidAt - 2 * 3_600_000)],
        ['no', new Date(saidAt - 2 * 3_600_000)],
        // After the answer to the words above it was, and before the request.
        ['approve', new Date(saidAt - 1_000)],
      ] as const) {
        assert.match(await other.say('ada', word, { sentAt }), which, word);
      }
      assert.deepEqual(await other.stateOf(late.approvalId), { approval: 'open', step: 'accepted' });
      const [refused] = (await other.refusals({ actor: 'ada' })).slice(-1);
      assert.deepEqual(refused, {
        event: 'approval_refused',
        surface: 'whatsapp',
        decision: 'approve',
        outcome: 'which_one',
      });
      // A word from before the last answer may be meant for something else; with a code it is certain.
      const sentAt = new Date(saidAt - 3_600_000);
      assert.match(await other.say('ada', `no ${late.ref}`, { sentAt }), /turned down/);
    });

    it('and who writes in the second in which it went out has decided it', async () => {
      const prompt = await other.ask();
      const sentAt = new Date(await outAt(await other.noticeTo('ada', prompt.ref)));
      assert.match(await other.say('ada', 'yes', { sentAt }), /being carried out/);
    });
  });

  it('is not asked about what is somebody else’s, doesn’t see it, and can’t decide it', async () => {
    const { date } = owners.slot();
    const late = await owners.ask({ date, time: '17:30' });
    assert.match(await owners.say('ada', `yes ${late.ref}`), /for others to decide/);
    assert.match(await owners.say('ada', `SHOW ${late.ref}`), /for others to decide/);
    const others = { ref: late.ref, outcome: 'not_asked' };
    assert.deepEqual(await lastRefusal('ada'), facts('not_asked', { decision: 'show', ...others }));
    const how = await owners.say('ada', `EDIT ${late.ref} later`);
    assert.match(how, /for others to decide/);
    assert.deepEqual(await lastRefusal('ada'), facts('not_asked', { decision: 'edit', ...others }));
    assert.match(await owners.say('ada', 'Approve', { button: `approve:${late.approvalId}` }), /for others/);
    assert.match(await owners.say('ada', `EDIT ${late.ref} time=16:30`), /for others to decide/);
    assert.doesNotMatch(await owners.say('ada', 'LIST'), new RegExp(late.ref));
    const day = DateTime.fromISO(date).setLocale('en').toFormat('cccc d LLLL yyyy');
    assert.match(await owners.say('bo', 'LIST'), new RegExp(`${late.ref} · .*${day}, 17:30 · .* · until`));
    assert.deepEqual(await owners.stateOf(late.approvalId), { approval: 'open', step: 'accepted' });
    assert.ok(owners.sentTo('bo').some((sent) => sent.includes(late.ref)));
    assert.ok(!owners.sentTo('ada').some((sent) => sent.includes(`${late.ref}:`) && sent.includes('button')));
    await owners.say('bo', `yes ${late.ref}`);
    assert.match(await owners.told(late), /booked/i);
  });

  it('who is a customer decides nothing, whatever they type', async () => {
    const { desk } = owners;
    for (const text of [`APPROVE ${asked.ref}`, `yes ${asked.ref}`, `EDIT ${asked.ref} time=16:30`]) {
      const [answer] = await desk.ask(asked.chat, text);
      assert.match(answer ?? '', /Only the team decides/, text);
    }
    const refused = await owners.inDesk((tx) =>
      tx.audit.findMany({
        where: { event: 'approval_refused', facts: { path: ['outcome'], equals: 'not_an_owner' } },
      }),
    );
    assert.equal(refused.length, 3);
    await stays();
  });

  it('can say no while an edit that changes nothing, or too much, is refused', async () => {
    const { ref, time } = asked;
    const rows: [string, RegExp][] = [
      [`EDIT ${ref} time=${time}`, /exactly that already/],
      [`EDIT ${ref} time=11`, /value I can take for "time"/],
      [`EDIT ${ref} time=11:00 time=12:00`, /"time" twice/],
      [`EDIT ${ref} price=5`, /no "price" here.*date, time/],
      [`EDIT ${ref} later`, new RegExp(`EDIT ${ref} date=… time=…`)],
      [`EDIT ${ref} contact_id=somebody`, /no "contact_id" here/],
    ];
    for (const [text, answer] of rows) assert.match(await owners.say('ada', text), answer, text);
    await owners.say('ada', `EDIT ${ref} later`);
    assert.deepEqual(await lastRefusal('ada'), facts('unreadable', { decision: 'edit' }));
    await stays();
  });

  it('who gives a reason longer than a chat takes has decided nothing', async () => {
    assert.match(await owners.say('ada', `REJECT ${asked.ref} ${'so '.repeat(200)}`), /reason is too long/);
    assert.deepEqual(await lastRefusal('ada'), facts('malformed_reason', { decision: 'reject' }));
    await stays();
  });

  it('settles what nobody knew by its code, once', async () => {
    const unknown = await owners.ask();
    const code = 'U-7Q4F';
    await owners.inDesk(async (tx) => {
      await tx.step.update({
        where: { id: unknown.stepId },
        data: { state: 'unknown', ref: code, startedAt: new Date(), finishedAt: new Date() },
      });
    });
    assert.match(await owners.say('ada', 'LIST'), new RegExp(`HAPPENED or NOT[^]*${code}`));
    assert.match(await owners.say('ada', `HAPPENED ${asked.ref}`), /no open question of that kind/);
    assert.match(await owners.say('ada', `HAPPENED ${code}`), /noted as done/);
    assert.match(await owners.say('bo', `NOT ${code}`), /no open question of that kind/);
    const settled = await owners.inDesk((tx) =>
      tx.step.findUniqueOrThrow({ where: { id: unknown.stepId }, select: { state: true, settledBy: true } }),
    );
    assert.deepEqual(settled, { state: 'succeeded', settledBy: 'owner:ada' });
  });

  it('who says the same twice changes nothing by the second', async () => {
    await owners.say('bo', `yes ${asked.ref}`);
    assert.match(await owners.told(asked, 5), /booked/i);
    assert.match(await owners.say('ada', `no ${asked.ref}`), /approved before/);
    assert.match(
      await owners.say('bo', 'Approve', { button: `approve:${asked.approvalId}` }),
      /approved before/,
    );
    assert.deepEqual(await lastRefusal('bo'), facts('already_decided'));
    assert.deepEqual(await owners.stateOf(asked.approvalId), { approval: 'used', step: 'succeeded' });
  });

  it('who tries codes out is kept waiting, also with a right one, and nobody else is', async () => {
    const last = await owners.ask();
    for (const code of ['Z-9993', 'Z-9994', 'Z-9995', 'Z-9996', 'Z-9997'])
      assert.match(await owners.say('ada', `EDIT ${code} what`), /nothing called|Too many codes/);
    assert.match(await owners.say('ada', `yes ${last.ref}`), /Too many codes/);
    assert.match(await owners.say('ada', `SHOW ${last.ref}`), /Too many codes/);
    assert.deepEqual(await lastRefusal('ada'), {
      event: 'approval_refused',
      surface: 'whatsapp',
      decision: 'show',
      outcome: 'too_many_codes',
    });
    for (const change of ['time=12:00', 'what']) {
      assert.match(await owners.say('ada', `EDIT ${last.ref} ${change}`), /Too many codes/);
    }
    assert.deepEqual(await owners.stateOf(last.approvalId), { approval: 'open', step: 'accepted' });
    assert.match(await owners.say('bo', `SHOW ${last.ref}`), /your OK is needed/);
    assert.match(await owners.say('ada', 'Reject', { button: `reject:${last.approvalId}` }), /turned down/);
  });
});
