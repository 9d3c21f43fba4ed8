// The last door: the executing activity itself, called with every kind of yes that isn't one. Nothing runs, each refusal
// is audited.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createActivities } from '../../activities/index.js';
import type { Tx } from '../../prisma/database.js';
import type { StepOutcome } from '../../workflows/domain/plan.js';
import { startDesk, until, type Desk } from '../support/desk.js';

interface Waiting {
  stepId: string;
  approvalId: string;
  ref: string;
  turnId: string;
}

describe('the executing activity', function () {
  this.timeout(60_000);
  let desk: Desk;
  let hour = 9;
  before(async () => {
    desk = await startDesk();
  });
  after(async () => {
    await desk.stop();
  });

  /** A step that waits for its yes, in a chat of its own. */
  async function waiting(): Promise<Waiting> {
    hour += 1;
    const externalId = await desk.send(`chat-${hour}`, `Book Thursday at ${hour}:00 please`);
    return until(
      () =>
        inDesk(async (tx) => {
          const message = await tx.inbox.findFirstOrThrow({ where: { externalId } });
          // A turn has the id of its first message.
          const row = await tx.approval.findFirst({ where: { turnId: message.id } });
          return row
            ? { stepId: row.stepId, approvalId: row.id, ref: row.ref, turnId: row.turnId }
            : undefined;
        }),
      15_000,
      'the approval of this chat',
    );
  }
  const execute = (stepId: string): Promise<StepOutcome> =>
    new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') }).run(
      (input: { tenantId: string; stepId: string }) => createActivities(desk.deps).executeStep(input),
      { tenantId: desk.tenantId, stepId },
    );
  const inDesk = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => desk.database.inTenant(desk.tenantId, work);
  const approve = (approvalId: string): Promise<unknown> =>
    inDesk((tx) =>
      tx.approval.update({ where: { id: approvalId }, data: { state: 'approved', decidedAt: new Date() } }),
    );

  async function refused(step: Waiting, reason: string): Promise<void> {
    const before = await inDesk((tx) => tx.booking.count());
    assert.deepEqual(await execute(step.stepId), { kind: 'refused', reason });
    assert.equal(await inDesk((tx) => tx.booking.count()), before);
    const audited = await inDesk((tx) =>
      tx.audit.count({ where: { subjectId: step.stepId, event: 'step_refused' } }),
    );
    assert.equal(audited, 1);
    // Refused once is refused for good.
    await approve(step.approvalId);
    assert.equal((await execute(step.stepId)).kind, 'refused');
  }

  it('refuses without a yes', async () => {
    await refused(await waiting(), 'not_approved');
  });

  it('refuses after a no', async () => {
    const step = await waiting();
    await inDesk((tx) =>
      tx.approval.update({
        where: { id: step.approvalId },
        data: { state: 'rejected', decidedAt: new Date(), heardAt: new Date() },
      }),
    );
    await refused(step, 'not_approved');
  });

  it('refuses when the time is over', async () => {
    const step = await waiting();
    await inDesk((tx) =>
      tx.approval.update({
        where: { id: step.approvalId },
        data: { state: 'expired', decidedAt: new Date(), heardAt: new Date() },
      }),
    );
    await refused(step, 'not_approved');
  });

  it('refuses a yes that was used', async () => {
    const step = await waiting();
    await inDesk((tx) =>
      tx.approval.update({
        where: { id: step.approvalId },
        data: { state: 'used', decidedAt: new Date(), usedAt: new Date() },
      }),
    );
    await refused(step, 'not_approved');
  });

  it('refuses a yes for other arguments', async () => {
    const step = await waiting();
    await approve(step.approvalId);
    await inDesk((tx) =>
      tx.approval.update({ where: { id: step.approvalId }, data: { argumentsHash: 'other' } }),
    );
    await refused(step, 'not_approved');
  });

  it('refuses a yes given under other terms', async () => {
    const step = await waiting();
    await approve(step.approvalId);
    await inDesk((tx) =>
      tx.approval.update({ where: { id: step.approvalId }, data: { configHash: 'older' } }),
    );
    await refused(step, 'not_approved');
  });

  it('refuses arguments that are no longer those that were proposed', async () => {
    const step = await waiting();
    await approve(step.approvalId);
    await inDesk((tx) => tx.step.update({ where: { id: step.stepId }, data: { argumentsHash: 'forged' } }));
    await refused(step, 'changed');
  });

  it('refuses the yes of another step', async () => {
    const [one, other] = [await waiting(), await waiting()];
    await approve(other.approvalId);
    await refused(one, 'not_approved');
  });

  it('refuses when a person has taken the chat over', async () => {
    const step = await waiting();
    await approve(step.approvalId);
    const { chatId } = await inDesk((tx) =>
      tx.approval.findUniqueOrThrow({ where: { id: step.approvalId } }),
    );
    await inDesk((tx) => tx.chat.update({ where: { id: chatId }, data: { pausedAt: new Date() } }));
    await refused(step, 'paused');
  });

  it('knows no step that is not there', async () => {
    await assert.rejects(execute(randomUUID()));
  });
});
