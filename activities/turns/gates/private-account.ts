import { firstMatch, phrasesOf } from '../../../config/phrases.js';
import type { TurnGate } from '../turn-context.js';
import { say } from '../../sentences.js';

/**
 * Payments, fees, balances and due dates are never answered from chat memory. Only tools marked as private data, and
 * allowed to this speaker, may be candidates; where there is none a person takes over.
 */
export const privateAccount: TurnGate = {
  name: 'private_account',
  decide(turn) {
    const { configuration } = turn.tenant;
    const phrase = firstMatch(turn.text, phrasesOf(configuration.phrases, 'privateAccount'));
    if (phrase === undefined) return undefined;
    const candidates = configuration.tools
      .filter((tool) => tool.enabled && tool.privateData && tool.actors.includes(turn.actor))
      .filter((tool) => tool.chatKinds.includes(turn.chat.kind))
      .map((tool) => tool.name);
    const because = `asks about a private account: "${phrase}"`;
    return candidates.length > 0
      ? { kind: 'tools', candidates, contextIds: [], because }
      : { kind: 'handOff', text: say(turn.tenant, 'privateAccount'), because };
  },
};
