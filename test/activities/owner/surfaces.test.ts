// The same outcome from every surface (spec G2): a yes is carried out as it was asked, a no and silence are not.
import assert from 'node:assert/strict';
import { toolRunWorkflowId } from '../../../workflows/domain/ids.js';
import { decideApproval } from '../../../workflows/tool-run/contract.js';
import { startOwnerDesk, type Asked, type OwnerDesk } from './kit.js';

type Decide = (owners: OwnerDesk, asked: Asked, decision: 'approve' | 'reject') => Promise<string>;

const typed =
  (channel: 'web' | 'whatsapp-cloud', words: { approve: string; reject: string }): Decide =>
  (owners, { ref }, decision) =>
    owners.say('ada', words[decision].replace('REF', ref), { channel });

const withGateway =
  (surface: 'console' | 'api' | 'cli'): Decide =>
  async ({ desk }, { ref }, decision) => {
    const id = surface === 'api' ? 'api' : 'ada';
    const key = { ref };
    const result = await desk.decisions.decideApproval({
      tenantId: desk.tenantId,
      key,
      decision,
      approver: { surface, id },
    });
    return result.outcome;
  };

interface Surface {
  decide: Decide;
  surface: string;
  late: RegExp;
}

const ON_WHATSAPP: Record<string, Surface> = {
  'text on WhatsApp': {
    surface: 'whatsapp',
    decide: typed('whatsapp-cloud', { approve: 'APPROVE REF', reject: 'REJECT REF we are full' }),
    late: /time is over/,
  },
  'text in small letters, in another language': {
    surface: 'whatsapp',
    decide: (owners, { ref }, decision) =>
      owners.say('ada', `${decision === 'approve' ? 'evet' : 'hayır'} ${ref.replace('-', '').toLowerCase()}`),
    late: /time is over/,
  },
  'a quoted reply': {
    surface: 'whatsapp',
    decide: async (owners, { ref }, decision) =>
      owners.say('ada', decision === 'approve' ? 'yes' : 'no, we are full', {
        quoted: await owners.noticeTo('ada', ref),
      }),
    late: /time is over/,
  },
  'a reaction': {
    surface: 'whatsapp',
    decide: async (owners, { ref }, decision) =>
      owners.say('ada', '👍', {
        emoji: decision === 'approve' ? '👍🏽' : '👎',
        quoted: await owners.noticeTo('ada', ref),
      }),
    late: /time is over/,
  },
  'a button': {
    surface: 'whatsapp',
    decide: (owners, { approvalId }, decision) =>
      owners.say('ada', 'Approve', { button: `${decision}:${approvalId}` }),
    late: /time is over/,
  },
};

const ELSEWHERE: Record<string, Surface> = {
  'text in the web chat of an owner': {
    surface: 'web',
    decide: typed('web', { approve: 'yes REF', reject: 'no REF, we are full' }),
    late: /time is over/,
  },
  'the console': { surface: 'console', decide: withGateway('console'), late: /expired/ },
  'the API': { surface: 'api', decide: withGateway('api'), late: /expired/ },
  'the command line': { surface: 'cli', decide: withGateway('cli'), late: /expired/ },
};

type Edit = (owners: OwnerDesk, asked: Asked, wanted: { date: string; time: string }) => Promise<string>;

const editWithGateway =
  (surface: 'console' | 'api' | 'cli'): Edit =>
  async ({ desk }, { ref }, wanted) => {
    const change =
      surface === 'cli'
        ? ({ kind: 'pairs', pairs: [['time', wanted.time]] } as const)
        : ({ kind: 'arguments', arguments: wanted } as const);
    const approver = { surface, id: surface === 'api' ? 'api' : 'ada' };
    const result = await desk.decisions.editApproval({
      tenantId: desk.tenantId,
      key: { ref },
      approver,
      change,
    });
    return result.outcome;
  };

const EDITS: Record<string, Edit> = {
  'text on WhatsApp': (owners, { ref }, { time }) => owners.say('ada', `EDIT ${ref} time=${time}`),
  'text in the web chat of an owner': (owners, { ref }, { date, time }) =>
    owners.say('ada', `edit ${ref.toLowerCase()} Time = "${time}", date=${date}`, { channel: 'web' }),
  'a quoted reply': async (owners, { ref }, { time }) =>
    owners.say('ada', `edit time=${time}`, { quoted: await owners.noticeTo('ada', ref) }),
  'the console': editWithGateway('console'),
  'the API': editWithGateway('api'),
  'the command line': editWithGateway('cli'),
};

/** A desk to which both owners have written, so that they can be written to in words. */
async function startDeskOfBoth(): Promise<OwnerDesk> {
  const owners = await startOwnerDesk();
  await owners.say('ada', 'help');
  await owners.say('bo', 'help');
  await owners.say('ada', 'help', { channel: 'web' });
  return owners;
}

// A desk for each group: the platform takes 45 messages to one person at a time, and an owner hears of every request.
async function decidedOn(owners: OwnerDesk, approvalId: string): Promise<unknown[]> {
  return owners.inDesk((tx) =>
    tx.approvalDecision.findMany({
      where: { approvalId },
      select: { decision: true, surface: true },
    }),
  );
}

function decidesOn(surfaces: Record<string, Surface>, deskOf: () => OwnerDesk): void {
  for (const [name, { decide, surface, late }] of Object.entries(surfaces)) {
    it(`by ${name} is carried out after a yes, left alone after a no, and comes too late when its time is over`, async () => {
      const owners = deskOf();
      const [yes, no, over] = await Promise.all([owners.ask(), owners.ask(), owners.ask()]);
      await decide(owners, yes, 'approve');
      await decide(owners, no, 'reject');
      await owners.expire(over.approvalId);
      assert.match(await decide(owners, over, 'approve'), late);
      await owners.desk.conversations.wakeRun(over);

      assert.match(await owners.told(yes), /booked/i);
      assert.match(await owners.told(no), /can't do this one/);
      assert.match(await owners.told(over), /nothing has been arranged/);
      assert.deepEqual(await Promise.all([yes, no, over].map(owners.isBooked)), [true, false, false]);
      assert.deepEqual(await owners.stateOf(yes.approvalId), { approval: 'used', step: 'succeeded' });
      assert.deepEqual(await owners.stateOf(no.approvalId), { approval: 'rejected', step: 'refused' });
      assert.deepEqual(await owners.stateOf(over.approvalId), { approval: 'expired', step: 'refused' });
      assert.deepEqual(await decidedOn(owners, yes.approvalId), [{ decision: 'approve', surface }]);
      assert.deepEqual(await decidedOn(owners, no.approvalId), [{ decision: 'reject', surface }]);
      const [refused] = await owners.refusals({ subjectId: over.approvalId });
      const { ref } = over;
      const expected = { event: 'approval_refused', surface, decision: 'approve', outcome: 'expired', ref };
      assert.deepEqual(refused, expected);
    });
  }
}

describe('an approval on WhatsApp', function () {
  this.timeout(240_000);
  let owners: OwnerDesk;
  before(async () => {
    owners = await startDeskOfBoth();
  });
  after(async () => owners.stop());

  decidesOn(ON_WHATSAPP, () => owners);

  it('gets no more than the truth for a yes that came too late: the time is taken, and nothing counts as done', async () => {
    const first = await owners.ask();
    const second = await owners.ask({ date: first.date, time: first.time });
    await owners.say('ada', `yes ${first.ref}`);
    assert.match(await owners.told(first), /booked/i);
    await owners.say('ada', `yes ${second.ref}`);
    assert.match(await owners.told(second), /already taken/);
    const declined = await owners.inDesk((tx) =>
      tx.step.findMany({
        where: { id: { in: [first.stepId, second.stepId] } },
        orderBy: { startedAt: 'asc' },
        select: { state: true, declined: true },
      }),
    );
    assert.deepEqual(declined, [
      { state: 'succeeded', declined: false },
      { state: 'succeeded', declined: true },
    ]);

    // It is free again, and they ask again: nothing was taken care of, so an owner is asked.
    await owners.inDesk((tx) =>
      tx.booking.updateMany({ where: {}, data: { state: 'cancelled', cancelledAt: new Date() } }),
    );
    const third = await owners.ask({ chat: second.chat, date: first.date, time: first.time });
    await owners.say('ada', `yes ${third.ref}`);
    assert.match(await owners.told(third, 4), /You are booked/);
  });
});

describe('an approval elsewhere', function () {
  this.timeout(240_000);
  let owners: OwnerDesk;
  before(async () => {
    owners = await startDeskOfBoth();
  });
  after(async () => owners.stop());

  decidesOn(ELSEWHERE, () => owners);

  it('typed into Temporal is carried out, and one for another run is refused and audited', async () => {
    const [asked, other] = [await owners.ask(), await owners.ask()];
    const run = owners.desk.client.workflow.getHandle(toolRunWorkflowId(asked));
    await run.signal(decideApproval, { ref: other.ref, decision: 'approve' });
    await run.signal(decideApproval, { ref: asked.ref, decision: 'approve' });
    assert.match(await owners.told(asked), /booked/i);
    assert.deepEqual(await owners.stateOf(other.approvalId), { approval: 'open', step: 'accepted' });
    const refused = await owners.refusals({ actor: 'temporal' });
    assert.deepEqual(refused, [
      {
        event: 'approval_refused',
        surface: 'temporal',
        decision: 'approve',
        outcome: 'not_of_this_run',
        ref: other.ref,
      },
    ]);
    await owners.say('ada', `no ${other.ref}`);
  });

  it('turned down in Temporal is left alone, and the customer hears no', async () => {
    const asked = await owners.ask();
    const run = owners.desk.client.workflow.getHandle(toolRunWorkflowId(asked));
    await run.signal(decideApproval, { ref: asked.ref, decision: 'reject' });
    assert.match(await owners.told(asked), /can't do this one/);
    assert.deepEqual(await owners.stateOf(asked.approvalId), { approval: 'rejected', step: 'refused' });
    assert.deepEqual(await decidedOn(owners, asked.approvalId), [
      { decision: 'reject', surface: 'temporal' },
    ]);
    assert.ok(!(await owners.isBooked(asked)));
  });

  it('typed into Temporal comes too late when its time is over', async () => {
    const asked = await owners.ask();
    await owners.expire(asked.approvalId);
    const run = owners.desk.client.workflow.getHandle(toolRunWorkflowId(asked));
    await run.signal(decideApproval, { ref: asked.ref, decision: 'approve' });
    assert.match(await owners.told(asked), /nothing has been arranged/);
    assert.deepEqual(await owners.stateOf(asked.approvalId), { approval: 'expired', step: 'refused' });
    const refused = await owners.refusals({ subjectId: asked.approvalId });
    const { ref } = asked;
    assert.deepEqual(refused, [
      { event: 'approval_refused', surface: 'temporal', decision: 'approve', outcome: 'expired', ref },
    ]);
    assert.ok(!(await owners.isBooked(asked)));
  });

  it('takes no change and no nonsense from Temporal, and waits on', async () => {
    const asked = await owners.ask();
    const { desk } = owners;
    const run = desk.client.workflow.getHandle(toolRunWorkflowId(asked));
    const { ref } = asked;
    for (const signal of [
      { ref, decision: 'edit', arguments: { time: '11:00' } },
      { ref, decision: 'APPROVE' },
      { ref: 'K7', decision: 'approve' },
      'approve',
      null,
    ]) {
      await run.signal('decideApproval', signal);
    }
    await run.signal(decideApproval, { ref, decision: 'approve' });
    assert.match(await owners.told(asked), /booked/i);
    assert.ok(await owners.isBooked(asked), 'as it was asked');
    assert.deepEqual(await decidedOn(owners, asked.approvalId), [
      { decision: 'approve', surface: 'temporal' },
    ]);
  });

  it('tells the customer the reason of a typed no', async () => {
    const asked = await owners.ask();
    await owners.say('bo', `REJECT ${asked.ref}: the bench is broken`);
    assert.match(await owners.told(asked), /"the bench is broken"/);
  });
});

describe('an approval', function () {
  this.timeout(240_000);
  let owners: OwnerDesk;
  before(async () => {
    owners = await startDeskOfBoth();
  });
  after(async () => owners.stop());

  for (const [name, edit] of Object.entries(EDITS)) {
    it(`edited by ${name} asks once more, and only what it says then is carried out`, async () => {
      const asked = await owners.ask();
      const { time } = owners.slot();
      const wanted = { date: asked.date, time: time === asked.time ? '12:00' : time };
      assert.match(await edit(owners, asked, wanted), /edited|is called/);
      assert.deepEqual(await owners.stateOf(asked.approvalId), { approval: 'edited', step: 'accepted' });
      const newer = await owners.inDesk((tx) =>
        tx.approval.findFirstOrThrow({ where: { replacesId: asked.approvalId } }),
      );
      assert.notEqual(newer.ref, asked.ref);
      // Shown again, to whoever is asked: with the new time, under the new code.
      await owners.noticeTo('bo', `${newer.ref}: your OK is needed (instead of ${asked.ref})`);
      assert.match(await owners.say('ada', `yes ${asked.ref}`), new RegExp(newer.ref));
      assert.deepEqual(await owners.stateOf(newer.id), { approval: 'open', step: 'accepted' });
      await owners.say('ada', `yes ${newer.ref}`);
      assert.match(await owners.told(asked), new RegExp(`booked.*${wanted.time}`, 'i'));
      assert.deepEqual(await Promise.all([wanted, asked].map(owners.isBooked)), [true, false]);
      assert.deepEqual(await owners.stateOf(newer.id), { approval: 'used', step: 'succeeded' });
    });
  }
});
