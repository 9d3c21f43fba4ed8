// What is refused without a look at any row is remembered all the same: a surface that policy doesn't list, what is no REF, a
// reason that is too long. On whatever surface of the gateway.
import assert from 'node:assert/strict';
import { settleFinding } from '../../activities/approvals/settle-finding.js';
import type { TenantConfiguration } from '../../config/configuration.js';
import { createLogger } from '../../config/logger.js';
import { createDecisions, MAX_REASON_LENGTH, type Decisions } from '../../gateway/decisions.js';
import { askForApproval, startGateway, type Asked, type TestGateway } from './gateway.js';
import { ownerAtConsole, wordsIn } from './owner-at-console.js';

const ARGUMENTS = { date: '2026-12-05', time: '10:30' };
const api = { surface: 'api', id: 'api' } as const;

describe('a decision that is refused outright', function () {
  this.timeout(60_000);
  let gateway: TestGateway;
  let asked: Asked;
  before(async () => {
    gateway = await startGateway();
    asked = await askForApproval(gateway, { chat: 'anna', text: 'Book', arguments: ARGUMENTS });
  });
  after(async () => gateway.stop());

  function decisionsWith(surfaces: TenantConfiguration['policy']['surfaces']): Decisions {
    const { database, content, conversations, configuration } = gateway;
    return createDecisions({
      database,
      content,
      conversations,
      configuration: () => ({ ...configuration, policy: { ...configuration.policy, surfaces } }),
      logger: createLogger({ process: 'gateway', level: 'error' }),
    });
  }

  /** What the work adds to the audit. */
  async function audited(work: () => Promise<unknown>): Promise<object[]> {
    const refused = (): Promise<{ actor: string; subjectId: string | null; facts: unknown }[]> =>
      gateway.inScope(gateway.tenantId, ({ tx }) =>
        tx.audit.findMany({ where: { event: 'approval_refused' }, orderBy: { number: 'asc' } }),
      );
    const before = (await refused()).length;
    await work();
    return (await refused())
      .slice(before)
      .map(({ actor, subjectId, facts }) => ({ actor, subjectId, facts }));
  }

  const stays = async (): Promise<void> => {
    const row = await gateway.inScope(gateway.tenantId, ({ tx }) =>
      tx.approval.findUniqueOrThrow({ where: { id: asked.approvalId }, include: { decisions: true } }),
    );
    assert.deepEqual([row.state, row.decisions.length], ['open', 0]);
  };

  it('by policy, which doesn’t list the surface, is audited with what was meant', async () => {
    const { tenantId } = gateway;
    const { ref, approvalId } = asked;
    const closed = decisionsWith(['whatsapp']);
    const rows = await audited(async () => {
      const approver = { surface: 'console', id: 'deniz' } as const;
      const yes = { tenantId, key: { approvalId }, decision: 'approve', approver } as const;
      assert.equal((await closed.decideApproval(yes)).outcome, 'refused');
      const change = { kind: 'pairs', pairs: [['time', '11:00']] } as const;
      const edit = { tenantId, key: { ref }, approver: api, change };
      assert.equal((await closed.editApproval(edit)).outcome, 'refused');
    });
    const outcome = 'surface_not_allowed';
    assert.deepEqual(rows, [
      { actor: 'deniz', subjectId: approvalId, facts: { surface: 'console', decision: 'approve', outcome } },
      { actor: 'api', subjectId: null, facts: { surface: 'api', decision: 'edit', outcome, ref } },
    ]);
    await stays();
  });

  it('because its REF is none, or its reason too long, is audited without either', async () => {
    const { tenantId } = gateway;
    const open = decisionsWith(['api']);
    const rows = await audited(async () => {
      const decision = 'reject';
      const nobodys = { tenantId, key: { ref: 'what I typed' }, decision, approver: api } as const;
      assert.equal((await open.decideApproval(nobodys)).outcome, 'refused');
      const reason = 'x'.repeat(MAX_REASON_LENGTH + 1);
      const long = { tenantId, key: { ref: asked.ref }, decision, approver: api, reason } as const;
      assert.equal((await open.decideApproval(long)).outcome, 'refused');
    });
    const facts = { surface: 'api', decision: 'reject' };
    assert.deepEqual(rows, [
      { actor: 'api', subjectId: null, facts: { ...facts, outcome: 'malformed_code' } },
      { actor: 'api', subjectId: null, facts: { ...facts, outcome: 'malformed_reason', ref: asked.ref } },
    ]);
    await stays();
  });

  it('is one about an effect too, in a console that policy closes', async () => {
    const unknown = await askForApproval(gateway, { chat: 'bora', text: 'Book', arguments: ARGUMENTS });
    const { stepId } = unknown;
    await gateway.inScope(gateway.tenantId, ({ tx }) =>
      tx.step.update({
        where: { id: stepId },
        data: { state: 'unknown', ref: 'U-7Q4F', startedAt: new Date(), finishedAt: new Date() },
      }),
    );
    const { configuration } = gateway;
    const owner = await ownerAtConsole(gateway);
    const { surfaces } = configuration.policy;
    const rows = await audited(async () => {
      configuration.policy = { ...configuration.policy, surfaces: ['whatsapp'] };
      const answer = await owner.send(`/console/outcomes/${stepId}`, { finding: 'happened' });
      assert.match(wordsIn(answer.body), /Policy doesn’t let owners decide in the console/);
    });
    const facts = { surface: 'console', decision: 'happened', outcome: 'surface_not_allowed', ref: 'U-7Q4F' };
    assert.deepEqual(rows, [{ actor: 'deniz', subjectId: null, facts }]);

    const settled = await gateway.inScope(gateway.tenantId, (scope) =>
      settleFinding(
        scope,
        { configuration: { ...configuration, policy: { ...configuration.policy, surfaces } } },
        { stepId, finding: 'happened', approver: { surface: 'console', id: 'deniz' }, stream: 'tenant' },
      ),
    );
    assert.equal(settled.outcome, 'settled', 'nothing was settled before');
  });
});
