import type { TurnGate } from '../turn-context.js';
import { offeredTo } from './offered-to.js';

/** A question of ours is open: the next message goes to the planner with that tool, whatever the detector says (A4a). */
export const openQuestion: TurnGate = {
  name: 'open_question',
  decide(turn) {
    const { question } = turn;
    if (!question) return undefined;
    const { tool, questionId } = question;
    const candidates = offeredTo(turn, tool === null ? undefined : [tool]);
    // The tool was switched off, or closed to this speaker, since we asked.
    if (candidates.length === 0) return undefined;
    return { kind: 'tools', candidates, contextIds: [], questionId, because: 'a question of ours is open' };
  },
};
