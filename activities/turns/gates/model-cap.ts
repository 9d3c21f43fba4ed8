import { countModelCalls } from '../../../prisma/stores/model-calls.js';
import { startOfDay } from '../../clock.js';
import type { TurnGate } from '../turn-context.js';
import { say } from '../../sentences.js';

/** The last gate before any model may be asked: what a chat may cost in a day is a number in the configuration. */
export const modelCap: TurnGate = {
  name: 'model_cap',
  async decide(turn) {
    const { business, limits } = turn.tenant.configuration;
    const calls = await countModelCalls(turn.scope, {
      chatId: turn.chat.chatId,
      since: startOfDay(business),
    });
    if (calls < limits.modelCallsPerChatAndDay) return undefined;
    return {
      kind: 'handOff',
      text: say(turn.tenant, 'modelCapReached'),
      because: `${calls} model calls today`,
    };
  },
};
