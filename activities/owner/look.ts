// LIST, SHOW and HELP: looking changes nothing, but a code that is nobody's counts as one that was tried.
import { auditRefusal, isGuessing, noteWrongCode } from '../../prisma/stores/approval-refusals.js';
import type { ApprovalKey } from '../../prisma/stores/approvals.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { unknownSteps } from '../../prisma/stores/views/unknown-steps.js';
import { isAsked } from '../../workflows/domain/approval.js';
import { requestPart, toolInWords, untilOf, whoOf } from '../approvals/render-request.js';
import { renderCall } from '../validation/render-call.js';
import { say } from '../sentences.js';
import { tooManyCodes, viewOf } from './decide.js';
import { approverOf, reply, type OwnerMessage, type OwnerReply, type Words } from './owner-message.js';
import { listed, openRequests } from './which-request.js';

/** What waits for this owner, and the effects of which nobody knows whether they happened. */
export async function listRequests(scope: Scope, tenant: Words, message: OwnerMessage): Promise<OwnerReply> {
  const open = await openRequests(scope, approverOf(message));
  const unknown = await unknownSteps(scope, { limit: 20 });
  const texts: string[] = [];
  if (open.length > 0) texts.push(say(tenant, 'ownerList', listed(tenant, open)));
  if (unknown.length > 0) {
    const lines = unknown.map((step) =>
      [step.ref, toolInWords(step.tool), whoOf(step), untilOf(tenant, step.finishedAt)].join(' · '),
    );
    texts.push(say(tenant, 'ownerListUnknown', { list: lines.join('\n') }));
  }
  return reply(texts.length > 0 ? texts.join('\n\n') : say(tenant, 'ownerNothingOpen'));
}

export async function showRequest(
  scope: Scope,
  tenant: Words,
  { key, message, part }: { key: ApprovalKey; message: OwnerMessage; part: number },
): Promise<OwnerReply> {
  const approver = approverOf(message);
  const stream = message.chat.chatId;
  if ('ref' in key && (await isGuessing(scope, approver))) {
    await auditRefusal(scope, { stream, approver, decision: 'show', outcome: 'too_many_codes' });
    return reply(tooManyCodes(tenant));
  }
  const view = await viewOf(scope, key);
  if (view) {
    const { approvalId, ref, chatId } = view;
    if (!isAsked(view, approver)) {
      const refusal = { stream: chatId, approvalId, ref, approver, decision: 'show' } as const;
      await auditRefusal(scope, { ...refusal, outcome: 'not_asked' });
      return reply(say(tenant, 'ownerNotAsked', { ref }));
    }
    return reply(requestPart(tenant, view, part));
  }
  const ref = 'ref' in key ? key.ref : '—';
  const [step] = 'ref' in key ? await unknownSteps(scope, { ref, limit: 1 }) : [];
  if (step) {
    const tool = tenant.configuration.tools.find(({ name }) => name === step.tool);
    const what =
      tool && step.arguments ? renderCall(tool, step.arguments, tenant.configuration.business) : step.tool;
    return reply(say(tenant, 'ownerListUnknown', { list: [`${ref} · ${whoOf(step)}`, what].join('\n') }));
  }
  if ('ref' in key) await noteWrongCode(scope, { stream, approver, decision: 'show' });
  return reply(say(tenant, 'ownerUnknownRef', { ref }));
}

export function help(tenant: Words): OwnerReply {
  return reply(say(tenant, 'ownerHelp'));
}
