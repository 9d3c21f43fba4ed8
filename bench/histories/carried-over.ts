// Golden histories of a conversation whose history became too long: it goes on in a new one.
import { conversationWorkflowId } from '../../workflows/domain/ids.js';
import type { SceneGroup } from './scene.js';
import { previousRunOf } from './runs-of.js';

const ENOUGH_TURNS = 20;

export const carriedOver: SceneGroup = {
  desk: {},
  suggestsNewAfter: 60,
  scenes: {
    async 'carried-over'(desk, chat) {
      for (let turn = 1; turn <= ENOUGH_TURNS; turn += 1) {
        await desk.settled(await desk.send(chat, `Hello, for the ${turn}th time`), 60_000);
        const workflowId = conversationWorkflowId({
          tenantId: desk.tenantId,
          chatId: await desk.chatId(chat),
        });
        const history = await desk.client.workflow.getHandle(workflowId).fetchHistory();
        if (previousRunOf(history) !== undefined) return;
      }
      throw new Error(`${ENOUGH_TURNS} turns were not enough`);
    },
  },
};
