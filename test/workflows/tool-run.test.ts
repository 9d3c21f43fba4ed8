// A run on the real desk where a person has the chat: the yes stands, nothing is done, and it is carried out when the chat is
// given back, by a bell or by time.
import assert from 'node:assert/strict';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { releaseChat, takeChat } from '../../prisma/stores/takeover.js';
import { startOwnerDesk, type Asked, type OwnerDesk } from '../activities/owner/kit.js';
import { until } from '../support/desk.js';
import { decideCommandsOf } from '../support/histories.js';

describe('a run whose chat a person has taken', function () {
  this.timeout(240_000);
  let owners: OwnerDesk;
  before(async () => {
    owners = await startOwnerDesk();
    await owners.say('ada', 'help');
  });
  after(async () => owners.stop());

  /** Says yes, and waits until the step was tried. */
  async function parked(asked: Asked): Promise<void> {
    await owners.say('ada', `yes ${asked.ref}`, { channel: 'web' });
    await until(
      async () => {
        const tried = await owners.inDesk((tx) =>
          tx.audit.count({ where: { subjectId: asked.stepId, event: 'step_parked' } }),
        );
        return tried > 0 ? true : undefined;
      },
      60_000,
      'the step to be parked',
    );
    assert.equal((await owners.stateOf(asked.approvalId)).step, 'accepted');
    assert.ok(!(await owners.isBooked(asked)));
  }
  const take = async ({ chat }: Asked, until?: Date): Promise<string> => {
    // The customer has been told that somebody is asked.
    await owners.desk.repliesWithin(chat, 1);
    const chatId = await owners.desk.chatId(chat);
    await owners.desk.inScope(owners.desk.tenantId, (scope) =>
      takeChat(scope, { chatId, by: 'owner:ada', until }),
    );
    return chatId;
  };

  it('carries the step out when the chat is given back', async () => {
    const asked = await owners.ask();
    const chatId = await take(asked);
    await parked(asked);
    const { desk } = owners;
    await desk.inScope(desk.tenantId, (scope) => releaseChat(scope, { chatId, by: 'owner:ada' }));
    await desk.conversations.deskChanged({ tenantId: desk.tenantId, chatId });
    assert.match(await owners.told(asked), /booked/i);
    assert.deepEqual(await owners.stateOf(asked.approvalId), { approval: 'used', step: 'succeeded' });
    const history = historyToJSON(await desk.historyOfRun(asked.turnId));
    const executed = decideCommandsOf(JSON.parse(history)).filter(
      ({ activity }) => activity === 'executeStep',
    );
    assert.equal(executed.length, 2);
  });

  it('carries it out by itself when the time of the takeover is over', async () => {
    const asked = await owners.ask();
    await take(asked, new Date(Date.now() + 10_000));
    await parked(asked);
    assert.match((await owners.desk.repliesWithin(asked.chat, 2, 40_000)).at(-1)?.text ?? '', /booked/i);
    assert.ok(await owners.isBooked(asked));
  });
});
