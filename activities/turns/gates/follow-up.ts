import { firstMatch, phrasesOf } from '../../../config/phrases.js';
import type { TurnGate } from '../turn-context.js';

/**
 * "What about Sunday?" means the tool that has just answered, if one has, and nothing in particular if none has. Which of
 * several older results is meant is a later issue's work: this gate knows only the newest one.
 */
export const followUp: TurnGate = {
  name: 'follow_up',
  decide({ contexts, text, tenant }) {
    const [newest] = contexts;
    if (!newest) return undefined;
    const phrase = firstMatch(text, phrasesOf(tenant.configuration.phrases, 'followUp'));
    if (phrase === undefined) return undefined;
    return {
      kind: 'tools',
      candidates: [newest.tool],
      contextIds: [newest.contextId],
      because: `"${phrase}" follows up on a recent result`,
    };
  },
};
