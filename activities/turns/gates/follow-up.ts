import type { TurnGate } from '../turn-context.js';
import { offeredTo } from './offered-to.js';

/**
 * "What about Sunday?" means the tool that has just answered, if one has, and nothing in particular if none has. Which of
 * several older results is meant is a later issue's work: this gate knows only the newest one.
 */
export const followUp: TurnGate = {
  name: 'follow_up',
  decide(turn) {
    const [newest] = turn.contexts;
    if (!newest) return undefined;
    const phrase = turn.tenant.detector.followUpIn(turn.text);
    if (phrase === undefined) return undefined;
    const candidates = offeredTo(turn, [newest.tool]);
    if (candidates.length === 0) return undefined;
    return {
      kind: 'tools',
      candidates,
      contextIds: [newest.contextId],
      because: `"${phrase}" follows up on a recent result`,
    };
  },
};
