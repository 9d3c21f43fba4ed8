// Workers forget workflows when their cache is full, and replay them when they are woken. Here the cache holds two, while
// many chats and their runs are under way at once: whatever isn't deterministic, or isn't in the history, shows.
import assert from 'node:assert/strict';
import { toolRunWorkflowId } from '../../workflows/domain/ids.js';
import { startDesk, until, type Desk } from '../support/desk.js';

const CHATS = ['ada', 'bob', 'cem', 'dua'];
const HOURS = ['10:00', '11:00', '12:00', '13:00'];

describe('a worker that keeps only two workflows in memory', function () {
  this.timeout(120_000);
  let desk: Desk;
  const asked = new Map<string, string>();
  before(async () => {
    desk = await startDesk({ maxCachedWorkflows: 2 });
  });
  after(() => desk.stop());

  it('brings every chat to its own question for a yes', async () => {
    await Promise.all(
      CHATS.map(async (chat, index) => {
        asked.set(chat, await desk.send(chat, `Book Friday at ${HOURS[index] ?? ''} please`));
      }),
    );
    const open = await until(
      async () => {
        const rows = await approvalsOf(desk, 'open');
        return rows.length === CHATS.length ? rows : undefined;
      },
      60_000,
      'an approval of each chat',
    );
    assert.equal(new Set(open.map(({ chatId }) => chatId)).size, CHATS.length);
  });

  it('answers in between, and keeps the order within a chat', async () => {
    const hello = await desk.send('ada', 'Hello!');
    assert.equal((await desk.settled(hello, 30_000)).state, 'answered');
  });

  it('carries out what was approved and nothing else, each once', async () => {
    const open = await approvalsOf(desk, 'open');
    for (const [index, { ref }] of open.entries()) {
      assert.equal(await desk.decide(ref, index % 2 === 0 ? 'approve' : 'reject'), 'decided');
    }
    for (const id of asked.values()) await desk.settled(id, 60_000);
    const states = await desk.observer.inTenant(desk.tenantId, (tx) =>
      tx.step.findMany({ select: { state: true, attempts: true, turnId: true } }),
    );
    assert.deepEqual(states.map(({ state, attempts }) => `${state} ${attempts}`).sort(), [
      'refused 0',
      'refused 0',
      'succeeded 1',
      'succeeded 1',
    ]);
    for (const chat of CHATS) {
      const replies = await desk.replies(chat);
      const last = replies.filter((reply) => reply.answers === asked.get(chat)).at(-1);
      assert.ok(last && ['answer', 'refusal'].includes(last.kind), chat);
    }
  });

  it('has no workflow task that failed', async () => {
    const runs = await approvalsOf(desk, undefined);
    for (const { turnId } of runs) {
      const { events } = await desk.client.workflow.getHandle(toolRunWorkflowId({ turnId })).fetchHistory();
      const failed = events?.filter((event) => event.workflowTaskFailedEventAttributes);
      assert.deepEqual(failed, [], turnId);
    }
  });
});

async function approvalsOf(
  desk: Desk,
  state: string | undefined,
): Promise<{ ref: string; chatId: string; turnId: string }[]> {
  return desk.observer.inTenant(desk.tenantId, (tx) =>
    tx.approval.findMany({
      where: state === undefined ? {} : { state },
      orderBy: { askedAt: 'asc' },
      select: { ref: true, chatId: true, turnId: true },
    }),
  );
}
