// Golden histories of what every customer meets: chat, tools, approvals, questions, takeovers, faults of models.
import { toolRunWorkflowId } from '../../workflows/domain/ids.js';
import { decideApproval } from '../../workflows/tool-run/contract.js';
import {
  ASK,
  book,
  giveBack,
  takeOver,
  untilAudited,
  untilHeard,
  type Scene,
  type SceneGroup,
} from './scene.js';

const ORDINARY: Record<string, Scene> = {
  async 'normal-chat'(desk, chat) {
    await desk.settled(await desk.send(chat, 'Hello!'));
    await desk.settled(await desk.send(chat, 'Thank you!'));
  },
  async 'fixed-reply'(desk, chat) {
    await desk.settled(await desk.send(chat, '/help'));
  },
  async 'tool-read'(desk, chat) {
    await desk.settled(await desk.send(chat, ASK));
  },
  async 'approval-approved'(desk, chat) {
    const id = await desk.send(chat, book('10:00'));
    await desk.decide((await desk.openApproval()).ref, 'approve');
    await desk.settled(id);
  },
  async 'approval-rejected'(desk, chat) {
    const id = await desk.send(chat, book('11:00'));
    await desk.decide((await desk.openApproval()).ref, 'reject');
    await desk.settled(id);
  },
  async 'approval-from-temporal'(desk, chat) {
    const id = await desk.send(chat, book('11:30'));
    const { ref, turnId } = await desk.openApproval();
    const run = desk.client.workflow.getHandle(toolRunWorkflowId({ turnId }));
    await run.signal(decideApproval, { ref, decision: 'approve' });
    await desk.settled(id);
  },
  async 'approval-expired'(desk, chat) {
    const id = await desk.send(chat, book('12:00'));
    const { approvalId, turnId } = await desk.openApproval();
    await desk.observer.inTenant(desk.tenantId, (tx) =>
      tx.approval.update({ where: { id: approvalId }, data: { expiresAt: new Date() } }),
    );
    await desk.conversations.wakeRun({ turnId, approvalId });
    await desk.settled(id);
  },
  async 'question-and-answer'(desk, chat) {
    await desk.settled(await desk.send(chat, 'book me something'));
    const id = await desk.send(chat, 'Friday at 15:00');
    await desk.decide((await desk.openApproval()).ref, 'approve');
    await desk.settled(id);
  },
  async 'no-tool'(desk, chat) {
    await desk.model.script({ match: 'free', withTools: true, text: 'nothing fits' });
    await desk.settled(await desk.send(chat, ASK));
  },
  async 'rejected-plan'(desk, chat) {
    const toolUse = [{ name: 'unheard_of', input: {} }];
    await desk.model.script({ match: 'free', withTools: true, toolUse });
    await desk.settled(await desk.send(chat, ASK));
  },
  async 'already-under-way'(desk, chat) {
    const first = await desk.send(chat, book('16:00'));
    const { ref } = await desk.openApproval();
    await desk.settled(await desk.send(chat, 'Please do book Friday at 16:00'));
    await desk.decide(ref, 'approve');
    await desk.settled(first);
  },
  async 'run-terminated'(desk, chat) {
    const id = await desk.send(chat, book('17:00'));
    const { turnId } = await desk.openApproval();
    await desk.client.workflow.getHandle(toolRunWorkflowId({ turnId })).terminate('an engineer');
    await desk.settled(id);
  },
  async 'model-away'(desk, chat) {
    await desk.model.script({ status: 401 });
    await desk.settled(await desk.send(chat, 'Hello there!'));
  },
  async 'planner-away'(desk, chat) {
    await desk.model.script({ match: 'free', withTools: true, status: 401 });
    await desk.settled(await desk.send(chat, ASK));
  },
  async 'slow-plan'(desk, chat) {
    await desk.model.script({ match: 'free', withTools: true, delayMs: 9_000 });
    await desk.settled(await desk.send(chat, ASK), 60_000);
    await desk.repliesWithin(chat, 2);
  },
  async 'asked-again'(desk, chat) {
    const first = await desk.send(chat, book('09:00', 'Thursday'));
    await desk.decide((await desk.openApproval()).ref, 'approve');
    await desk.settled(first);
    await desk.settled(await desk.send(chat, 'Please do book Thursday at 09:00'));
  },
  async 'step-parked'(desk, chat) {
    const id = await desk.send(chat, book('13:30'));
    const { ref } = await desk.openApproval();
    await takeOver(desk, chat);
    await desk.decide(ref, 'approve');
    await untilAudited(desk, chat, 'step_parked');
    await giveBack(desk, chat);
    await desk.settled(id, 60_000);
  },
  async 'taken-over'(desk, chat) {
    await desk.settled(await desk.send(chat, 'Hello!'));
    await takeOver(desk, chat);
    await desk.settled(await desk.send(chat, 'Are you there?'));
    await giveBack(desk, chat);
    await untilAudited(desk, chat, 'chat_released');
    await desk.settled(await desk.send(chat, 'Thank you!'));
  },
  async 'approval-edited'(desk, chat) {
    const id = await desk.send(chat, book('14:00'));
    const { ref, approvalId } = await desk.openApproval();
    const { outcome } = await desk.decisions.editApproval({
      tenantId: desk.tenantId,
      key: { ref },
      approver: { surface: 'api', id: 'tester' },
      change: { kind: 'pairs', pairs: [['time', '14:30']] },
    });
    if (outcome !== 'edited') throw new Error(`the edit was answered ${outcome}`);
    await untilHeard(desk, approvalId);
    await desk.decide((await desk.openApproval()).ref, 'approve');
    await desk.settled(id);
  },
};

/** The same, where policy asks the requester. */
const CONFIRMED: Record<string, Scene> = {
  async 'confirm-yes'(desk, chat) {
    await desk.settled(await desk.send(chat, book('10:00', 'Thursday')));
    await desk.settled(await desk.send(chat, 'yes'));
    await desk.repliesWithin(chat, 2);
  },
  async 'confirm-no'(desk, chat) {
    await desk.settled(await desk.send(chat, book('11:00', 'Thursday')));
    await desk.settled(await desk.send(chat, 'no'));
    await desk.repliesWithin(chat, 2);
  },
};

const askThemselves = { name: 'ask-themselves', when: {}, then: 'confirm' } as const;

export const ordinary: SceneGroup = { desk: { modelTimeoutMs: 20_000 }, scenes: ORDINARY };

export const confirmed: SceneGroup = {
  desk: {
    configure: (shipped) => ({ ...shipped, policy: { ...shipped.policy, rules: [askThemselves] } }),
  },
  scenes: CONFIRMED,
};
