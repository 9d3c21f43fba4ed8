// The commands one by one, on rows as the worker leaves them. Temporal is away here: what a row says must not depend on it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { anchorHeads } from '../../prisma/functions.js';
import { isTakenOver } from '../../prisma/stores/takeover.js';
import { effectsState } from '../../prisma/stores/switches.js';
import { askForApproval, type Asked } from '../gateway/gateway.js';
import { connected } from '../support/postgres.js';
import { openCliDesk, type CliDesk } from './cli.js';

const SLOT = { date: '2026-12-05', time: '10:30' };
const SECRET_WORDS = /tandem|rider|2026-12-05/;

describe('commands of the command line', function () {
  this.timeout(180_000);
  let desk: CliDesk;
  before(async () => {
    desk = await openCliDesk();
  });
  after(() => desk.stop());

  const ask = (): Promise<Asked> =>
    askForApproval(desk, {
      chat: `rider-${randomUUID()}`,
      text: 'Please book the tandem',
      arguments: { ...SLOT, note: 'for the\u202E rider' },
    });
  const stateOf = ({ approvalId }: Asked) =>
    desk.database.inTenant(desk.tenantId, async (tx) => {
      const row = await tx.approval.findUniqueOrThrow({
        where: { id: approvalId },
        include: { decisions: true },
      });
      return {
        state: row.state,
        decisions: row.decisions.map(({ decision, surface, approver }) => [decision, surface, approver]),
      };
    });
  const eventsOf = (stream: string) =>
    desk.database.inTenant(desk.tenantId, async (tx) => {
      const rows = await tx.audit.findMany({ where: { stream }, orderBy: { number: 'asc' } });
      return rows.map(({ event, actor }) => `${event} ${actor}`);
    });

  describe('approvals', () => {
    it('list what waits, and show it without what the customer wrote', async () => {
      const asked = await ask();
      const [list, show, json] = await Promise.all([
        desk.run('approvals', 'list'),
        desk.runHere('approvals', 'show', asked.ref.replace('-', '').toLowerCase()),
        desk.runHere('approvals', 'show', asked.ref, '--json'),
      ]);
      assert.deepEqual([list.code, show.code, json.code], [0, 0, 0]);
      assert.match(list.stdout, new RegExp(`^${asked.ref} +reserve_slot +open +\\d+ s ago +in 59 min`, 'm'));
      assert.match(show.stdout, /^Tool +reserve_slot$/m);
      assert.match(show.stdout, /--show-content shows them/);
      assert.equal(json.json().chatId, asked.chatId);
      for (const { stdout } of [list, show, json]) assert.doesNotMatch(stdout, SECRET_WORDS);
    });

    it('show the exact arguments when that is asked for, hidden characters by name, and remember who looked', async () => {
      const asked = await ask();
      const { code, stdout } = await desk.runHere('approvals', 'show', asked.ref, '--show-content');
      assert.equal(code, 0);
      assert.match(stdout, /^time +10:30$/m);
      assert.match(stdout, /^note +for the⟦U\+202E⟧ rider$/m);
      assert.ok((await eventsOf(asked.chatId)).includes('content_shown cli'));
    });

    it('are approved and rejected by an owner, once, and the customer’s reason is kept under their key', async () => {
      const [yes, no] = [await ask(), await ask()];
      const [approved, rejected] = await Promise.all([
        desk.run('approvals', 'approve', yes.ref, '--as', desk.ownerId),
        desk.run('approvals', 'reject', no.ref, '--as', desk.ownerId, '--reason', 'We are closed.', '--json'),
      ]);
      assert.equal(approved.code, 0, approved.stderr);
      assert.equal(approved.stdout, `${yes.ref} is approved.\n`);
      assert.match(approved.stderr, /Temporal can’t be reached: the gateway tells the run once it can/);
      assert.deepEqual([rejected.code, rejected.json().state], [0, 'rejected']);
      assert.deepEqual(await stateOf(yes), {
        state: 'approved',
        decisions: [['approve', 'cli', desk.ownerId]],
      });
      assert.deepEqual(await stateOf(no), {
        state: 'rejected',
        decisions: [['reject', 'cli', desk.ownerId]],
      });
      assert.ok((await eventsOf(yes.chatId)).includes(`approval_approve ${desk.ownerId}`));

      const [again, reason] = await Promise.all([
        desk.runHere('approvals', 'reject', yes.ref, '--as', desk.ownerId),
        desk.runHere('approvals', 'show', no.ref, '--show-content', '--json'),
      ]);
      assert.equal(again.code, 1);
      assert.match(again.stderr, /was decided before: it is approved/);
      assert.equal((await stateOf(yes)).state, 'approved');
      assert.equal(reason.json().content.reason, 'We are closed.');
    });

    it('are decided by nobody but a configured owner, who is named', async () => {
      const asked = await ask();
      const [stranger, nobody] = await Promise.all([
        desk.runHere('approvals', 'approve', asked.ref, '--as', 'mallory'),
        desk.runHere('approvals', 'approve', asked.ref),
      ]);
      assert.deepEqual([stranger.code, nobody.code], [1, 1]);
      assert.match(
        stranger.stderr,
        new RegExp(`“mallory” is no owner of this business\\. Its owners: .*${desk.ownerId}`),
      );
      assert.match(nobody.stderr, /--as <owner>/);
      assert.deepEqual(await stateOf(asked), { state: 'open', decisions: [] });
    });

    it('that have expired are no longer decided', async () => {
      const asked = await askForApproval(desk, {
        chat: randomUUID(),
        text: 'Too late',
        arguments: SLOT,
        expiresInMs: -1_000,
      });
      const { code, stderr } = await desk.runHere('approvals', 'approve', asked.ref, '--as', desk.ownerId);
      assert.equal(code, 1);
      assert.match(stderr, /has expired\. It will not be carried out/);
      assert.deepEqual((await stateOf(asked)).decisions, []);
    });
  });

  it('switch every effect off and on, each time with a line in the audit', async () => {
    const off = await desk.run('switch', 'effects', 'off', '--as', desk.ownerId);
    assert.deepEqual([off.code, off.stdout], [0, 'Effects are off now.\n']);
    const show = await desk.runHere('switch', 'show');
    assert.match(
      show.stdout,
      new RegExp(`^Effects are off, switched \\d+ s ago by owner:${desk.ownerId}\\.`),
    );
    assert.equal((await desk.inScope(desk.tenantId, effectsState)).value, 'off');
    const on = await desk.run('switch', 'effects', 'on', '--as', desk.ownerId, '--json');
    assert.deepEqual(on.json(), { effects: 'on', changed: true });
    const events = await eventsOf('tenant');
    assert.deepEqual(
      events.filter((event) => event.startsWith('effects_')),
      [`effects_switched_off owner:${desk.ownerId}`, `effects_switched_on owner:${desk.ownerId}`],
    );
  });

  it('take a chat over and give it back, and know no other chats', async () => {
    const { chatId } = await desk.write(randomUUID(), 'Hello');
    const isTaken = () => desk.inScope(desk.tenantId, (scope) => isTakenOver(scope, chatId));
    const taken = await desk.run('chats', 'pause', chatId, '--as', desk.ownerId, '--minutes', '90');
    assert.equal(taken.code, 0, taken.stderr);
    assert.match(taken.stdout, /The assistant is silent in chat .* for 1 h (29|30) min\./);
    assert.equal(await isTaken(), true);
    const released = await desk.run('chats', 'release', chatId, '--as', desk.ownerId);
    assert.equal(released.code, 0, released.stderr);
    assert.equal(await isTaken(), false);
    const [again, elsewhere] = await Promise.all([
      desk.runHere('chats', 'release', chatId, '--as', desk.ownerId),
      desk.runHere('chats', 'pause', randomUUID(), '--as', desk.ownerId),
    ]);
    assert.deepEqual([again.code, elsewhere.code], [1, 1]);
    assert.match(again.stderr, /Nobody has taken/);
    assert.match(elsewhere.stderr, /There is no chat/);
  });

  describe('audit', () => {
    let chatId: string;
    before(async () => {
      ({ chatId } = await ask());
      await desk.database.inTenant(desk.tenantId, anchorHeads);
    });

    it('is exported as JSON Lines, all of it or a part', async () => {
      const [all, stream, tail, none] = await Promise.all([
        desk.run('audit', 'export'),
        desk.runHere('audit', 'export', '--stream', chatId),
        desk.runHere('audit', 'export', '--tail', '2', '--json'),
        desk.runHere('audit', 'export', '--to', '2020-01-01'),
      ]);
      const lines = all.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.ok(lines.length > 5);
      assert.deepEqual(
        stream.stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
        lines.filter((line) => line.stream === chatId),
      );
      assert.deepEqual(
        tail.stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
        lines.slice(-2),
      );
      assert.deepEqual([none.code, none.stdout], [0, '']);
      assert.doesNotMatch(all.stdout, SECRET_WORDS);
    });

    it('is verified, and a line that was changed behind the triggers is named', async () => {
      const good = await desk.run('audit', 'verify');
      assert.equal(good.code, 0, good.stdout + good.stderr);
      assert.match(good.stdout, /^\d+ lines in \d+ streams and 1 anchor computed again\./);
      assert.match(good.stdout, /All of it is as it was written\./);
      const [root] = /[0-9a-f]{64}/.exec(good.stdout) ?? [];

      await connected(desk.urls.superuserUrl, async (client) => {
        await client.query('set session_replication_role = replica');
        await client.query(`update audit set actor = 'mallory' where stream = $1 and number = 1`, [chatId]);
      });
      const [bad, json] = await Promise.all([
        desk.run('audit', 'verify'),
        desk.runHere('audit', 'verify', '--json', '--root', root ?? ''),
      ]);
      assert.equal(bad.code, 1);
      assert.match(bad.stdout, new RegExp(`^${chatId} +1 +changed`, 'm'));
      assert.match(bad.stderr, /The audit is not what was written: 1 finding\./);
      const report = json.json();
      assert.deepEqual([json.code, report.ok, report.findings.length], [1, false, 1]);
      assert.deepEqual([report.findings[0].stream, report.findings[0].number], [chatId, 1]);
      assert.deepEqual(report.anchors.findings, [], 'the anchors are as they were, and so is the root');
    });
  });
});
