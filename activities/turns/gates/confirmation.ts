import { isOnly, phrasesOf } from '../../../config/phrases.js';
import { decideOwn } from '../../../prisma/stores/approvals.js';
import { closeQuestion } from '../../../prisma/stores/questions.js';
import type { TurnGate } from '../turn-context.js';

/**
 * A plain yes or no to a confirmation of ours (spec D2). Decided by words of the phrase files, never by a model; anything
 * else is no answer and goes on to the planner. In a group anybody could say it, so nobody's word is taken there.
 */
export const confirmation: TurnGate = {
  name: 'confirmation',
  async decide({ question, text, tenant, scope, chat }) {
    if (question?.kind !== 'confirm' || chat.kind === 'group') return undefined;
    const { phrases } = tenant.configuration;
    const isYes = isOnly(text, phrasesOf(phrases, 'yes'));
    if (!isYes && !isOnly(text, phrasesOf(phrases, 'no'))) return undefined;
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
