// HAPPENED and NOT: an owner has found out whether an effect happened of which nobody knew.
import { auditRefusal, isGuessing, noteWrongCode } from '../../prisma/stores/approval-refusals.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { stepOfUnknownRef } from '../../prisma/stores/unknown-steps.js';
import { settleFinding } from '../approvals/settle-finding.js';
import { say } from '../sentences.js';
import type { Tenant } from '../tenants.js';
import { tooManyCodes } from './decide.js';
import { approverOf, reply, type OwnerMessage, type OwnerReply } from './owner-message.js';

/** Settles it once; the customer, who was told that somebody looks into it, gets an honest word. */
export async function settleEffect(
  scope: Scope,
  tenant: Tenant,
  message: OwnerMessage,
  { ref, finding }: { ref: string; finding: 'happened' | 'notHappened' },
): Promise<OwnerReply> {
  const approver = approverOf(message);
  const stream = message.chat.chatId;
  if (await isGuessing(scope, approver)) {
    await auditRefusal(scope, { stream, approver, decision: finding, outcome: 'too_many_codes' });
    return reply(tooManyCodes(tenant));
  }
  const stepId = await stepOfUnknownRef(scope, ref);
  if (stepId === undefined) {
    const isRequest = (await scope.tx.approval.count({ where: { ref } })) > 0;
    if (!isRequest) {
      await noteWrongCode(scope, { stream, approver, decision: finding });
      return reply(say(tenant, 'ownerUnknownRef', { ref }));
    }
    await auditRefusal(scope, { stream, ref, approver, decision: finding, outcome: 'not_unknown' });
    return reply(say(tenant, 'ownerNotUnknown', { ref }));
  }
  const settled = await settleFinding(scope, tenant, { stepId, finding, approver, stream, ref });
  if (settled.outcome !== 'settled') return reply(say(tenant, 'ownerNotUnknown', { ref }));
  const text = say(tenant, finding === 'happened' ? 'ownerSettledHappened' : 'ownerSettledNotHappened', {
    ref,
  });
  const { turnId, chatId, outboxId } = settled;
  if (outboxId === undefined) return reply(text);
  return reply(text, { kind: 'say', chatId, turnId, outboxId, sayKind: 'answer', final: true });
}
