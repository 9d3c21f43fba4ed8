import { auditRefusal, type Refusal } from '../../prisma/stores/approval-refusals.js';
import { say } from '../sentences.js';
import type { TurnGate } from '../turns/turn-context.js';
import { parseCommand, type OwnerCommand } from './parse-command.js';

/**
 * A customer who types a decision, or an owner who types one into a group: it never acts, is said to be nobody's to decide
 * here, and is audited. Approvals are never taken from the customer's chat (spec G2).
 */
export const foreignDecision: TurnGate = {
  name: 'foreign_decision',
  async decide({ scope, tenant, chat, messages }) {
    const { phrases } = tenant.configuration;
    for (const { text, speaker } of messages) {
      const decision = decisionOf(parseCommand(text, phrases, () => false));
      if (!decision) continue;
      const isOwner = speaker?.startsWith('owner:') === true;
      const surface = chat.channel === 'web' ? 'web' : 'whatsapp';
      await auditRefusal(scope, {
        stream: chat.chatId,
        approver: { surface, id: isOwner ? speaker.slice('owner:'.length) : chat.contactId },
        ...decision,
        outcome: isOwner ? 'in_a_group' : 'not_an_owner',
      });
      const words = say(tenant, isOwner ? 'ownerNotHere' : 'decisionNotYours');
      return { kind: 'fixed', as: 'refusal', text: words, because: 'a decision that is not theirs' };
    }
    return undefined;
  },
};

/** A word of command and a code. A plain "no" before a code may as well be talk about it, and acts nowhere. */
function decisionOf(command: OwnerCommand): Pick<Refusal, 'decision' | 'ref'> | undefined {
  switch (command.kind) {
    case 'several':
      return { decision: 'approve' };
    case 'reject':
      if (command.isPlain) return undefined;
      return command.ref === undefined ? undefined : { decision: 'reject', ref: command.ref };
    case 'approve':
    case 'edit':
    case 'happened':
    case 'notHappened':
      return command.ref === undefined ? undefined : { decision: command.kind, ref: command.ref };
    default:
      return undefined;
  }
}
