import { firstMatch, phrasesOf } from '../../../config/phrases.js';
import type { TurnGate } from '../turn-context.js';
import { say } from '../../sentences.js';

/** A payment, refund or order that went wrong is a person's matter: no model, no promise. */
export const transactionalSupport: TurnGate = {
  name: 'transactional_support',
  decide(turn) {
    const phrase = firstMatch(
      turn.text,
      phrasesOf(turn.tenant.configuration.phrases, 'transactionalSupport'),
    );
    if (phrase === undefined) return undefined;
    return {
      kind: 'handOff',
      text: say(turn.tenant, 'transactionalSupport'),
      because: `went wrong: "${phrase}"`,
    };
  },
};
