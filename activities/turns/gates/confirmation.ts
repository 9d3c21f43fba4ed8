import { isOnly, phrasesOf } from '../../../config/phrases.js';
import { decideOwn } from '../../../prisma/stores/approvals.js';
import { closeQuestion } from '../../../prisma/stores/questions.js';
import { turnById } from '../../../prisma/stores/turns.js';
import { isDecisionLive } from '../../../workflows/domain/turn.js';
import { say } from '../../sentences.js';
import type { TurnGate } from '../turn-context.js';

/**
 * A plain yes or no to a confirmation of ours (spec D2). Decided by words of the phrase files, never by a model; anything
 * else is no answer and goes on to the planner.
 */
export const confirmation: TurnGate = {
  name: 'confirmation',
  async decide({ question, text, tenant, scope, chat }) {
    if (question?.kind !== 'confirm') return undefined;
    const { phrases } = tenant.configuration;
    const isYes = isOnly(text, phrasesOf(phrases, 'yes'));
    if (!isYes && !isOnly(text, phrasesOf(phrases, 'no'))) return undefined;
    const asked = await turnById(scope, question.turnId);
    if (!isDecisionLive(asked.decision, Date.now())) {
      // A yes continues what was decided then, and that may not be right any more (spec C4). Its run hears of it by the sweep.
      await decideOwn(scope, { askedByTurnId: question.turnId, decision: 'reject', by: 'superseded' });
      await closeQuestion(scope, { questionId: question.questionId, by: 'dropped' });
      const text = say(tenant, 'confirmExpired');
      return {
        kind: 'fixed',
        as: 'refusal',
        text,
        because: 'what was to be confirmed was decided too long ago',
      };
    }
    const decided = await decideOwn(scope, {
      askedByTurnId: question.turnId,
      decision: isYes ? 'approve' : 'reject',
      by: { contactId: chat.contactId },
    });
    if (decided.outcome !== 'decided' || decided.approvalId === undefined) return undefined;
    await closeQuestion(scope, { questionId: question.questionId, by: 'answered' });
    const because = isYes ? 'the requester says yes' : 'the requester says no';
    return { kind: 'decided', approvalId: decided.approvalId, runId: question.turnId, because };
  },
};
