import type { TurnGate } from '../turn-context.js';

/** A question of ours is open: the next message goes to the planner with that tool, whatever the detector says (A4a). */
export const openQuestion: TurnGate = {
  name: 'open_question',
  decide({ question, tenant }) {
    if (!question) return undefined;
    const { tool, questionId } = question;
    const candidates =
      tool === null
        ? tenant.configuration.tools.filter((each) => each.enabled).map((each) => each.name)
        : [tool];
    return {
      kind: 'tools',
      candidates: candidates.slice(0, tenant.configuration.limits.maxCandidates),
      contextIds: [],
      questionId,
      because: 'a question of ours is open',
    };
  },
};
