// What a rule of policy demands beside its outcome, followed through the activities: who is asked, how many, until when, what silence
// means; and what holds when policy would demand more by the time the step is carried out.
import assert from 'node:assert/strict';
import type { PolicyRule } from '../../config/configuration.js';
import { openOutgoing } from '../../prisma/stores/outbox.js';
import { taintTurn } from '../../prisma/stores/turns.js';
import { startStepBench, type StepBench, type Waiting } from '../support/step-bench.js';

describe('a rule that demands', function () {
  this.timeout(60_000);
  let bench: StepBench;
  before(async () => {
    bench = await startStepBench();
    bench.configure((own) => ({
      ...own,
      owners: ['ann', 'bo', 'cy'].map((id) => ({
        id,
        name: id,
        addresses: { whatsapp: [] },
        groups: id === 'cy' ? [] : ['money'],
      })),
    }));
  });
  after(() => bench.close());

  const rules = (...given: PolicyRule[]): void =>
    bench.configure((own) => ({ ...own, policy: { ...own.policy, rules: given } }));
  const rowOf = ({ approvalId }: Waiting) =>
    bench.inTenant((tx) => tx.approval.findUniqueOrThrow({ where: { id: approvalId } }));
  const by = (id: string) => ({ surface: 'console' as const, id });

  it('two of a group: one yes is not enough, nor is one of somebody else, and two are', async () => {
    rules({
      name: 'both',
      when: {},
      then: 'approve',
      approvers: ['money'],
      needed: 2,
      expiresAfterMinutes: 40,
    });
    const step = await bench.waiting();
    const row = await rowOf(step);
    assert.deepEqual([row.approvers, row.needed, row.onExpiry], [['ann', 'bo'], 2, 'refuse']);
    const [lasts, reminds] = [row.expiresAt, row.remindAt].map(
      (time) => ((time?.getTime() ?? 0) - row.askedAt.getTime()) / 60_000,
    );
    assert.ok(Math.abs((lasts ?? 0) - 40) < 0.2 && Math.abs((reminds ?? 0) - 20) < 0.2);
    assert.equal(await bench.decide(step, 'approve', by('cy')), 'not_asked');
    assert.equal(await bench.decide(step, 'approve', by('ann')), 'counted');
    assert.equal(await bench.decide(step, 'approve', by('ann')), 'already_said');
    assert.equal(await bench.decide(step, 'approve', by('bo')), 'decided');
    assert.equal((await bench.execute(step.stepId)).kind, 'succeeded');
    const short = await bench.waiting();
    await bench.decide(short, 'approve', by('ann'));
    assert.deepEqual(await bench.execute(short.stepId), { kind: 'refused', reason: 'not_approved' });
  });

  it('an owner: somebody who is none gives no yes, even where every owner may', async () => {
    rules({ name: 'anybody', when: {}, then: 'approve' });
    for (const surface of ['console', 'web', 'whatsapp'] as const) {
      const step = await bench.waiting();
      assert.equal(await bench.decide(step, 'approve', { surface, id: 'gone' }), 'decided');
      const outcome = await bench.execute(step.stepId);
      assert.deepEqual(outcome, { kind: 'refused', reason: 'not_approved' }, surface);
    }
    const nameless = await bench.waiting();
    await bench.decide(nameless, 'approve', { surface: 'cli', id: 'cli' });
    assert.equal((await bench.execute(nameless.stepId)).kind, 'succeeded');
  });

  it('the requester’s own yes, and in a group an owner’s', async () => {
    rules({ name: 'themselves', when: {}, then: 'confirm' });
    bench.configure((own) => ({
      ...own,
      tools: own.tools.map((tool) => ({
        ...tool,
        actors: [...tool.actors, 'group' as const],
        chatKinds: ['direct' as const, 'group' as const],
      })),
    }));
    const step = await bench.propose({ actor: 'group' });
    await bench.inTenant((tx) => tx.chat.update({ where: { id: step.chatId }, data: { kind: 'group' } }));
    const verdict = await bench.validate(step);
    assert.ok(verdict.kind === 'accepted');
    assert.equal(verdict.approval?.gate, 'approve');
    assert.match(verdict.rule, /in a group/);
  });

  it('more by the time the step is carried out: what was enough before is not', async () => {
    rules(
      { name: 'suspicious', when: { tainted: true }, then: 'approve', needed: 2 },
      { name: 'usual', when: {}, then: 'approve' },
    );
    const step = await bench.waiting();
    assert.equal(await bench.decide(step, 'approve', by('ann')), 'decided');
    await bench.inScope(bench.tenantId, (scope) => taintTurn(scope, step.turnId));
    assert.deepEqual(await bench.execute(step.stepId), { kind: 'refused', reason: 'not_approved' });
    const clean = await bench.waiting();
    await bench.decide(clean, 'approve', by('ann'));
    assert.equal((await bench.execute(clean.stepId)).kind, 'succeeded');
  });

  it('nothing, and then denies: what was approved is not carried out', async () => {
    rules(
      { name: 'never', when: { tainted: true }, then: 'deny' },
      { name: 'usual', when: {}, then: 'approve' },
    );
    const step = await bench.waiting();
    await bench.decide(step, 'approve', by('ann'));
    await bench.inScope(bench.tenantId, (scope) => taintTurn(scope, step.turnId));
    assert.deepEqual(await bench.execute(step.stepId), { kind: 'refused', reason: 'changed' });
  });

  it('other owners since: a yes of those before is void', async () => {
    rules({ name: 'money', when: {}, then: 'approve', approvers: ['money'] });
    const step = await bench.waiting();
    await bench.decide(step, 'approve', by('ann'));
    const regroup = (groups: string[]): void =>
      bench.configure((own) => ({
        ...own,
        owners: own.owners.map((owner) => (owner.id === 'ann' ? { ...owner, groups } : owner)),
      }));
    regroup([]);
    assert.deepEqual(await bench.execute(step.stepId), { kind: 'refused', reason: 'not_approved' });
    regroup(['money']);
  });

  for (const { onExpiry, kind, words } of [
    { onExpiry: 'refuse', kind: 'refusal', words: /Shall I ask again/ },
    { onExpiry: 'handOff', kind: 'handOff', words: /Someone from the team will write/ },
  ] as const) {
    it(`${onExpiry} when nobody has answered: the customer hears that, and nothing is done`, async () => {
      rules({ name: 'r', when: {}, then: 'approve', onExpiry });
      const before = bench.shelf.calls.length;
      const step = await bench.waiting();
      await bench.inTenant((tx) =>
        tx.approval.update({
          where: { id: step.approvalId },
          data: { state: 'expired', decidedAt: new Date() },
        }),
      );
      const said = await bench.summarize(step);
      assert.equal(said.kind, 'refusal');
      assert.deepEqual(await bench.summarize(step), said, 'asked again it is the same word');
      const row = await bench.inTenant((tx) => tx.outbox.findUniqueOrThrow({ where: { id: said.outboxId } }));
      assert.equal(row.kind, kind);
      const { text } = await bench.inScope(bench.tenantId, (scope) => openOutgoing(scope, row));
      assert.match(text ?? '', words);
      assert.equal((await bench.execute(step.stepId)).kind, 'refused');
      assert.equal(bench.shelf.calls.length, before);
    });
  }
});
