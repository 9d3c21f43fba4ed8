import { firstMatch, phrasesOf } from '../../../config/phrases.js';
import type { TurnGate } from '../turn-context.js';
import { say } from '../../sentences.js';
import { modelCap } from './model-cap.js';
import { offeredTo } from './offered-to.js';

/**
 * Payments, fees, balances and due dates are never answered from chat memory. Only tools marked as private data, and
 * allowed to this speaker, may be candidates; where there is none a person takes over.
 */
export const privateAccount: TurnGate = {
  name: 'private_account',
  async decide(turn) {
    const { phrases, tools } = turn.tenant.configuration;
    const phrase = firstMatch(turn.text, phrasesOf(phrases, 'privateAccount'));
    if (phrase === undefined) return undefined;
    const own = tools.filter((tool) => tool.privateData).map((tool) => tool.name);
    const candidates = offeredTo(turn, own);
    const because = `asks about a private account: "${phrase}"`;
    if (candidates.length === 0)
      return { kind: 'handOff', text: say(turn.tenant, 'privateAccount'), because };
    // This gate stands before the cap, and its tools need a planner: they would pass it by.
    return (await modelCap.decide(turn)) ?? { kind: 'tools', candidates, contextIds: [], because };
  },
};
