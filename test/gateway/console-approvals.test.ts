import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { listApprovals } from '../../prisma/stores/views/approvals.js';
import { planMessage } from '../../prisma/stores/outbox.js';
import { freshRef } from '../../prisma/stores/refs.js';
import { effectsState } from '../../prisma/stores/switches.js';
import { isTakenOver, takeChat } from '../../prisma/stores/takeover.js';
import { askForApproval, startGateway, type Asked, type TestGateway } from './gateway.js';
import { ownerAtConsole, wordsIn, type OwnerAtConsole } from './owner-at-console.js';

const SLOT = { date: '2026-12-05', time: '10:30' };

describe('approvals in the console', function () {
  this.timeout(30_000);
  let gateway: TestGateway;
  let owner: OwnerAtConsole;
  before(async () => {
    gateway = await startGateway();
    owner = await ownerAtConsole(gateway);
  });
  after(async () => gateway.stop());

  let chats = 0;
  async function ask(
    given: { chat?: string; arguments?: Parameters<typeof askForApproval>[1]['arguments'] } = {},
  ): Promise<Asked> {
    const asked = await askForApproval(gateway, {
      chat: given.chat ?? `customer-${(chats += 1)}`,
      text: 'Book',
      arguments: given.arguments ?? SLOT,
    });
    // Counted from 0, as the planner does: a change passes the limit of steps as the plan did.
    await gateway.inScope(gateway.tenantId, ({ tx }) =>
      tx.step.update({ where: { id: asked.stepId }, data: { ordinal: 0 } }),
    );
    return asked;
  }
  const audited = (filter: { subjectId?: string; event?: string }) =>
    gateway.inScope(gateway.tenantId, (scope) =>
      scope.tx.audit.findMany({ where: filter, orderBy: { happenedAt: 'asc' } }),
    );
  const stateOf = async (approvalId: string) =>
    gateway.inScope(gateway.tenantId, async (scope) => {
      const [view] = await listApprovals(scope, { filter: { approvalId }, limit: 1, now: new Date() });
      return view;
    });
  const form = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [`argument.${name}`, value]));

  it('says what will appear where nothing is yet', async () => {
    const [waiting, decided, controls] = await Promise.all(
      ['/console/approvals', '/console/approvals?show=decided', '/console/controls'].map((url) =>
        owner.open(url),
      ),
    );
    assert.match(wordsIn(waiting?.body ?? ''), /Nothing waits for you/);
    assert.match(wordsIn(decided?.body ?? ''), /No decisions yet/);
    assert.match(wordsIn(controls?.body ?? ''), /The assistant has every chat/);
  });

  describe('the queue and its history', () => {
    let asked: Asked;
    let rejected: Asked;
    before(async () => {
      asked = await ask({ chat: 'anna-of-the-harbour' });
      rejected = await ask({ chat: 'bora-of-the-hill' });
      await owner.send(`/console/approvals/${rejected.approvalId}`, {
        decision: 'reject',
        reason: 'We are full',
      });
    });

    it('keeps what waits and what was decided apart', async () => {
      const decided = wordsIn((await owner.open('/console/approvals?show=decided')).body);
      assert.ok(decided.includes(rejected.ref) && !decided.includes(asked.ref));
      assert.match(decided, /Rejected by Deniz in the console/);
      assert.match(decided, /We are full/);
      assert.match(decided, /Nothing was done/);
      const all = wordsIn((await owner.open('/console/approvals?show=all')).body);
      assert.ok(all.includes(rejected.ref) && all.includes(asked.ref));
    });

    it('shows in green what was carried out, and not what the tool has declined', async () => {
      const tried = await ask({ chat: 'cem-of-the-bay' });
      await owner.send(`/console/approvals/${tried.approvalId}`, { decision: 'approve' });
      const shown = async (declined: boolean): Promise<string> => {
        await gateway.inScope(gateway.tenantId, ({ tx }) =>
          tx.step.update({ where: { id: tried.stepId }, data: { state: 'succeeded', declined } }),
        );
        const { body } = await owner.open(`/console/approvals/${tried.approvalId}`);
        return body;
      };
      assert.match(await shown(false), /class="state good"[^]*Carried out/);
      const declined = await shown(true);
      assert.match(declined, /class="state wait"[^]*Tried, and not possible/);
      assert.doesNotMatch(declined, /Carried out/);
    });

    it('finds a request by its REF, with the hyphen or without, and by the customer', async () => {
      const spellings = ['', ' '].map((between) => asked.ref.replace('-', between).toLowerCase());
      for (const q of [asked.ref, ...spellings, 'ANNA-of']) {
        const { body } = await owner.open(`/console/approvals?show=all&q=${encodeURIComponent(q)}`);
        assert.ok(body.includes(asked.ref), q);
        assert.ok(!body.includes(rejected.ref), q);
      }
      const { body } = await owner.open('/console/approvals?show=all&q=nobody-of-this-name');
      assert.match(wordsIn(body), /Nothing found/);
    });

    it('shows what waits above what was decided or ran out a moment ago', async () => {
      const late = await ask({ chat: 'late-of-the-lake' });
      await gateway.inScope(gateway.tenantId, ({ tx }) =>
        tx.approval.update({ where: { id: late.approvalId }, data: { expiresAt: new Date() } }),
      );
      const last = await ask({ chat: 'last-of-the-lane' });
      const { body } = await owner.open('/console/approvals');
      const places = [asked, last, rejected, late].map(({ approvalId }) =>
        body.indexOf(`id="approval-${approvalId}"`),
      );
      assert.ok(places.every((place) => place > 0));
      assert.deepEqual(
        places,
        places.toSorted((one, other) => one - other),
      );
      const words = wordsIn(body.slice(places[3]));
      assert.match(words, /Expired[^]*nobody answered in time[^]*Nothing was done/);
    });

    it('finds requests by what is asked for', async () => {
      const same = await owner.open('/console/approvals?tool=reserve_slot');
      assert.ok(same.body.includes(asked.ref));
      const other = await owner.open('/console/approvals?tool=cancel_booking');
      assert.ok(!other.body.includes(asked.ref));
      assert.match(wordsIn(other.body), /Nothing of this kind waits/);
    });

    it('shows one request by itself, with the way to its run', async () => {
      const page = await owner.open(`/console/approvals/${asked.approvalId}`);
      assert.equal(page.statusCode, 200);
      assert.ok(page.body.includes(`/console/runs/${asked.turnId}`));
      assert.equal(
        (await owner.open('/console/approvals/00000000-0000-4000-8000-000000000000')).statusCode,
        404,
      );
    });

    it('names the whole id of a visitor, and the server of another company that would do it', async () => {
      const visitor = `visitor-${randomUUID()}`;
      const { approvalId } = await ask({ chat: visitor });
      const url = `/console/approvals/${approvalId}`;
      assert.ok(wordsIn((await owner.open(url)).body).includes(`Web visitor ${visitor}`));
      const { tools } = gateway.configuration;
      gateway.configuration.tools = tools.map((tool) => ({
        ...tool,
        mcp: { server: 'partner\u202Edesk', isTrusted: false },
      }));
      try {
        assert.match(wordsIn((await owner.open(url)).body), /Done by the server partner U\+202E desk/);
      } finally {
        gateway.configuration.tools = tools;
      }
    });

    it('refuses a query that it can’t read', async () => {
      assert.equal((await owner.open('/console/approvals?show=secret')).statusCode, 400);
    });
  });

  it('goes from answer to answer through a long history', async () => {
    const many = await ask({ chat: 'many' });
    await gateway.inScope(gateway.tenantId, async (scope) => {
      const row = await scope.tx.approval.findUniqueOrThrow({ where: { id: many.approvalId } });
      const past = Array.from({ length: 40 }, (_, index) => ({
        ...row,
        id: `00000000-0000-4000-8000-0000000001${String(index).padStart(2, '0')}`,
        ref: `Z-A${String(100 + index)}`,
        state: 'edited',
        askedAt: new Date(Date.UTC(2026, 0, 1, 0, index)),
        decidedAt: new Date(Date.UTC(2026, 0, 1, 0, index)),
      }));
      await scope.tx.approval.createMany({ data: past });
    });
    const first = await owner.open('/console/approvals?show=decided');
    const older = /href="([^"]*before=[^"]*)"/.exec(first.body)?.[1]?.replaceAll('&amp;', '&');
    assert.ok(older, 'there is a way to older ones');
    const second = await owner.open(older);
    assert.ok(first.body.includes('Z-A139') && !first.body.includes('Z-A100'));
    assert.ok(second.body.includes('Z-A100') && !second.body.includes('Z-A139'));
  });

  it('answers a form without scripts: goes to the request, and says where nothing came of it', async () => {
    const { approvalId, ref } = await ask();
    const yes = await owner.send(
      `/console/approvals/${approvalId}`,
      { decision: 'approve' },
      { plain: true },
    );
    assert.equal(yes.statusCode, 303);
    assert.equal(yes.headers.location, `/console/approvals/${approvalId}`);
    const late = await owner.send(
      `/console/approvals/${approvalId}`,
      { decision: 'reject' },
      { plain: true },
    );
    assert.equal(late.statusCode, 409);
    assert.match(wordsIn(late.body), new RegExp(`${ref} was decided before: it is approved`));
  });

  it('offers no buttons to an owner who isn’t asked', async () => {
    const { approvalId } = await ask();
    await gateway.inScope(gateway.tenantId, (scope) =>
      scope.tx.approval.update({ where: { id: approvalId }, data: { approvers: ['somebody-else'] } }),
    );
    const { body } = await owner.open(`/console/approvals/${approvalId}`);
    assert.match(wordsIn(body), /This is asked of somebody-else/);
    assert.ok(!body.includes('value="approve"'));
    const answer = await owner.send(`/console/approvals/${approvalId}`, { decision: 'approve' });
    assert.match(wordsIn(answer.body), /is asked of other people/);
  });

  it('says what an owner has to know before a yes: that others have to say theirs, and what to look at twice', async () => {
    const { approvalId, stepId, chatId, ref } = await ask();
    const closesAt = new Date('2026-12-05T09:00:00Z');
    await gateway.inScope(gateway.tenantId, async ({ tx, tenantId }) => {
      await tx.approval.update({ where: { id: approvalId }, data: { needed: 2 } });
      await tx.step.update({ where: { id: stepId }, data: { tainted: true } });
      const account = {
        id: randomUUID(),
        tenantId,
        channel: 'whatsapp-cloud',
        accountKey: '100000000000009',
      };
      await tx.channelAccount.create({ data: account });
      const customerWroteAt = new Date(closesAt.getTime() - 24 * 3_600_000);
      await tx.chat.update({ where: { id: chatId }, data: { accountId: account.id, customerWroteAt } });
    });
    const page = wordsIn((await owner.open(`/console/approvals/${approvalId}`)).body);
    assert.match(page, /Content from outside may have suggested this/);
    assert.match(page, /Yeses 0 of 2/);
    assert.match(page, /24-hour window close[sd] .*Sat 5 Dec, 12:00/);
    const yes = await owner.send(`/console/approvals/${approvalId}`, { decision: 'approve' });
    assert.match(wordsIn(yes.body), new RegExp(`${ref} has your yes`));
    assert.match(wordsIn(yes.body), /Yeses 1 of 2: Deniz/);
    assert.match(wordsIn(yes.body), /You have said yes. 1 more person has to/);
    assert.ok(!yes.body.includes('value="approve"') && yes.body.includes('value="reject"'));
  });

  describe('a change', () => {
    it('starts from a form with a field for each argument, filled with what is asked', async () => {
      const { approvalId } = await ask({ arguments: { ...SLOT, note: 'Brakes' } });
      const { body } = await owner.open(`/console/approvals/${approvalId}/edit`);
      assert.match(
        body,
        /<input[^>]*name="argument\.date"[^>]*required[^>]*type="date"[^>]*value="2026-12-05"/,
      );
      assert.match(body, /<input[^>]*name="argument\.time"[^>]*required[^>]*type="time"[^>]*value="10:30"/);
      assert.match(body, /<textarea[^>]*name="argument\.note"[^>]*maxlength="200"[^>]*>\nBrakes</);
    });

    it('asks once more under a REF of its own, and shows that one', async () => {
      const { approvalId, ref } = await ask({ arguments: { ...SLOT, note: 'Brakes' } });
      const changed = form({ date: SLOT.date, time: '11:00', note: '' });
      const answer = await owner.send(`/console/approvals/${approvalId}/edit`, changed);
      const address = String(answer.headers['hx-redirect']);
      const page = await owner.open(address);
      const words = wordsIn(page.body);
      assert.match(words, new RegExp(`Asks instead of ${ref}, changed by Deniz`));
      assert.match(words, /11:00 was 10:30/);
      assert.match(words, /left out was Brakes/);
      const old = await stateOf(approvalId);
      assert.equal(old?.state, 'edited');
      const fresh = await stateOf(address.split('/').at(-1) ?? '');
      assert.deepEqual(fresh?.arguments, { date: SLOT.date, time: '11:00' });
      assert.equal(fresh?.state, 'open');
      assert.deepEqual(fresh?.yeses, []);
      assert.match(
        wordsIn((await owner.open(`/console/approvals/${approvalId}`)).body),
        new RegExp(`${fresh?.ref} asks instead`),
      );
    });

    it('goes to the new request also without scripts', async () => {
      const { approvalId } = await ask();
      const changed = form({ ...SLOT, time: '11:30' });
      const answer = await owner.send(`/console/approvals/${approvalId}/edit`, changed, { plain: true });
      assert.equal(answer.statusCode, 303);
      assert.notEqual(answer.headers.location, `/console/approvals/${approvalId}`);
      assert.equal((await owner.open(String(answer.headers.location))).statusCode, 200);
    });

    it('says beside each field what is wrong with it, keeps what was typed, and changes nothing', async () => {
      const { approvalId, ref } = await ask();
      const wrong = form({ date: '2026-02-30', time: '25:99', note: 'x'.repeat(201) });
      const answer = await owner.send(`/console/approvals/${approvalId}/edit`, wrong, { plain: true });
      assert.equal(answer.statusCode, 422);
      const { body } = answer;
      const finding = (name: string) =>
        wordsIn(
          new RegExp(`<p class="finding" id="field-${name}-finding">(.*?)</p>`, 's').exec(body)?.[1] ?? '',
        );
      assert.match(finding('date'), /a day that exists/);
      assert.match(finding('time'), /a time of day/);
      assert.match(finding('note'), /too long: at most 200 characters/);
      assert.match(body, /value="25:99"/);
      assert.match(body, /aria-describedby="field-time-finding"/);
      assert.match(wordsIn(body), new RegExp(`${ref} stays as it is`));
      assert.deepEqual((await stateOf(approvalId))?.arguments, SLOT);
      const refusals = await audited({ subjectId: approvalId, event: 'approval_refused' });
      assert.equal(refusals.length, 1);
    });

    it('needs what the tool needs, and something that differs', async () => {
      const { approvalId } = await ask();
      const empty = await owner.send(`/console/approvals/${approvalId}/edit`, form({ ...SLOT, time: '' }));
      assert.match(wordsIn(empty.body), /The tool needs this/);
      const same = await owner.send(`/console/approvals/${approvalId}/edit`, form(SLOT));
      assert.match(wordsIn(same.body), /nothing would change/);
      assert.equal((await stateOf(approvalId))?.state, 'open');
    });

    it('can’t be made to set what the tool doesn’t know', async () => {
      const { approvalId } = await ask();
      const forged = form({ ...SLOT, time: '11:00', discount: '100' });
      const answer = await owner.send(`/console/approvals/${approvalId}/edit`, forged);
      const fresh = await stateOf(String(answer.headers['hx-redirect']).split('/').at(-1) ?? '');
      assert.deepEqual(fresh?.arguments, { ...SLOT, time: '11:00' });
    });

    it('is past when somebody has decided meanwhile', async () => {
      const { approvalId } = await ask();
      await owner.send(`/console/approvals/${approvalId}`, { decision: 'reject' });
      const page = await owner.open(`/console/approvals/${approvalId}/edit`);
      assert.equal(page.statusCode, 303);
      const answer = await owner.send(
        `/console/approvals/${approvalId}/edit`,
        form({ ...SLOT, time: '11:00' }),
      );
      assert.equal(answer.headers['hx-redirect'], `/console/approvals/${approvalId}`);
      assert.equal((await stateOf(approvalId))?.state, 'rejected');
    });

    it('shows what hides in a text, and escapes whatever strangers wrote', async () => {
      const evil = '</textarea><script>alert(1)</script>"\'\u202Eevil';
      const { approvalId } = await ask({ arguments: { ...SLOT, note: evil, [evil]: evil } });
      const wrong = form({ ...SLOT, date: 'never' });
      const pages = [
        await owner.open(`/console/approvals/${approvalId}/edit`),
        await owner.send(`/console/approvals/${approvalId}/edit`, wrong, { plain: true }),
      ];
      for (const { body } of pages) {
        assert.ok(!body.replaceAll(/="[^"]*"/g, '').includes('<script>'));
        assert.ok(body.includes('U+202E'), 'the override is named');
      }
    });
  });

  describe('an effect of which nobody knows', () => {
    async function unknownEffect(isToldAbout: boolean): Promise<Asked & { effectRef: string }> {
      const asked = await ask();
      return gateway.inScope(gateway.tenantId, async (scope) => {
        const effectRef = await freshRef(scope);
        const { turnId, chatId } = asked;
        await scope.tx.step.update({
          where: { id: asked.stepId },
          data: { state: 'unknown', ref: effectRef, startedAt: new Date(), finishedAt: new Date() },
        });
        await scope.tx.toolRun.update({ where: { turnId }, data: { state: 'unknown' } });
        if (isToldAbout) {
          const { contactId } = await scope.tx.chat.findUniqueOrThrow({ where: { id: chatId } });
          const origin = { kind: 'summary', id: turnId } as const;
          await planMessage(scope, { chatId, contactId, turnId, origin, kind: 'answer', text: 'We look.' });
        }
        return { ...asked, effectRef };
      });
    }

    it('stands on top of the page, and is settled once', async () => {
      const { stepId, effectRef } = await unknownEffect(true);
      const page = await owner.open('/console/approvals');
      assert.match(wordsIn(page.body), /Did this happen\?/);
      assert.ok(page.body.includes(effectRef));
      const before = gateway.conversations.calls.length;
      const answer = await owner.send(`/console/outcomes/${stepId}`, { finding: 'notHappened' });
      assert.match(wordsIn(answer.body), /It wasn’t done says Deniz/);
      const calls = gateway.conversations.calls.slice(before);
      assert.deepEqual(
        calls.map(({ what }) => what),
        ['say'],
        'the customer is told',
      );
      const [settled] = await audited({ subjectId: stepId, event: 'step_settled' });
      assert.equal(settled?.actor, 'owner:deniz');
      const again = await owner.send(`/console/outcomes/${stepId}`, { finding: 'happened' });
      assert.match(wordsIn(again.body), /Somebody has said before/);
      const step = await gateway.inScope(gateway.tenantId, ({ tx }) =>
        tx.step.findUniqueOrThrow({ where: { id: stepId } }),
      );
      assert.equal(step.state, 'failed');
    });

    it('is settled without scripts too', async () => {
      const { stepId } = await unknownEffect(false);
      const answer = await owner.send(
        `/console/outcomes/${stepId}`,
        { finding: 'happened' },
        { plain: true },
      );
      assert.equal(answer.statusCode, 303);
      const nobody = '00000000-0000-4000-8000-000000000000';
      const none = await owner.send(`/console/outcomes/${nobody}`, { finding: 'happened' }, { plain: true });
      assert.equal(none.statusCode, 404);
    });
  });

  describe('controls', () => {
    const switchTo = (to: string, how?: Parameters<OwnerAtConsole['send']>[2]) =>
      owner.send('/console/controls/effects', { to }, how);
    const effects = () => gateway.inScope(gateway.tenantId, effectsState);

    it('switch all effects off and on, under the owner’s name', async () => {
      const off = await switchTo('off');
      assert.match(wordsIn(off.body), /Effects are off now/);
      assert.match(wordsIn(off.body), /Switched off by Deniz/);
      const { value, changedBy } = await effects();
      assert.deepEqual({ value, changedBy }, { value: 'off', changedBy: 'owner:deniz' });
      assert.match(wordsIn((await owner.open('/console/approvals')).body), /Effects are switched off/);
      const on = await switchTo('on', { plain: true });
      assert.equal(on.statusCode, 303);
      assert.equal((await effects()).value, 'on');
      assert.deepEqual(
        [
          ...(await audited({ event: 'effects_switched_off' })),
          ...(await audited({ event: 'effects_switched_on' })),
        ].map(({ actor }) => actor),
        ['owner:deniz', 'owner:deniz'],
      );
    });

    it('give a chat back that somebody has, once', async () => {
      const { chatId } = await gateway.write('taken-chat', 'Hello');
      await gateway.inScope(gateway.tenantId, (scope) => takeChat(scope, { chatId, by: 'business' }));
      const page = wordsIn((await owner.open('/console/controls')).body);
      assert.match(page, /taken-chat with somebody at the shop’s phone/);
      const before = gateway.conversations.calls.length;
      const answer = await owner.send(`/console/controls/chats/${chatId}/release`, {});
      assert.match(wordsIn(answer.body), /The assistant answers in this chat again/);
      assert.deepEqual(gateway.conversations.calls.slice(before), [{ what: 'desk', chatId }]);
      assert.equal(await gateway.inScope(gateway.tenantId, (scope) => isTakenOver(scope, chatId)), false);
      const [released] = await audited({ subjectId: chatId, event: 'chat_released' });
      assert.equal(released?.actor, 'owner:deniz');
      const again = await owner.send(`/console/controls/chats/${chatId}/release`, {}, { plain: true });
      assert.match(wordsIn(again.body), /The assistant had this chat already/);
    });
  });

  it('refuses every action without its token, and to strangers', async () => {
    const { approvalId, stepId, chatId } = await ask();
    const actions: [string, Record<string, string>][] = [
      [`/console/approvals/${approvalId}`, { decision: 'approve' }],
      [`/console/approvals/${approvalId}/edit`, form({ ...SLOT, time: '12:00' })],
      [`/console/outcomes/${stepId}`, { finding: 'happened' }],
      ['/console/controls/effects', { to: 'off' }],
      [`/console/controls/chats/${chatId}/release`, {}],
    ];
    for (const [url, fields] of actions) {
      for (const plain of [true, false]) {
        const answer = await owner.send(url, fields, { plain, csrf: 'wrong' });
        assert.equal(answer.statusCode, 403, url);
      }
      const stranger = await gateway.app.inject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(fields).toString(),
      });
      assert.equal(stranger.statusCode, 401, url);
    }
    assert.equal((await stateOf(approvalId))?.state, 'open');
    assert.equal((await gateway.inScope(gateway.tenantId, effectsState)).value, 'on');
  });
});
