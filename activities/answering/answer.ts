// Normal chat (spec A17): this chat's memory and no tool, not even the word.
import { appendAudit } from '../../prisma/functions.js';
import { quotedUtterance, recentUtterances } from '../../prisma/stores/history.js';
import { findByOrigin, planMessage } from '../../prisma/stores/outbox.js';
import type { Scope } from '../../prisma/stores/scope.js';
import {
  messagesOfTurn,
  taintTurn,
  turnById,
  type TurnMessage,
  type TurnRow,
} from '../../prisma/stores/turns.js';
import type { AnswerActivities } from '../../workflows/activity-ports.js';
import { askModel, uselessReply } from '../claude/ask.js';
import type { ActivityDeps } from '../deps.js';
import type { Tenant } from '../tenants.js';
import { planApology } from './apology.js';
import { answerPrompt, type AnswerPrompt } from './prompt.js';

/** A token budget cuts this further; more messages than this no budget of ours holds. */
const HISTORY_MESSAGES = 80;

export function createAnswerActivities(deps: ActivityDeps): AnswerActivities {
  return {
    async answer({ tenantId, turnId }) {
      const tenant = await deps.tenants.byId(tenantId);
      const begun = await deps.inScope(tenantId, (scope) => begin(scope, tenant, turnId));
      if ('known' in begun) return begun.known;
      const { turn, messages, prompt } = begun;
      const reply = await askModel(
        deps,
        { tenantId, chatId: turn.chatId, turnId, purpose: 'answer' },
        { use: tenant.configuration.models.chat, system: prompt.system, messages: prompt.messages },
      );
      if (reply.text === '' || reply.stopReason !== 'end_turn') {
        await deps.inScope(tenantId, (scope) => auditUseless(scope, turn, reply.stopReason));
        throw uselessReply(`the model gave no whole answer (${reply.stopReason})`);
      }
      return deps.inScope(tenantId, (scope) =>
        planMessage(scope, {
          chatId: turn.chatId,
          contactId: turn.contactId,
          turnId,
          origin: { kind: 'answer', id: turnId },
          kind: 'answer',
          text: tenant.scrubber.scrubText(reply.text).text,
          isTainted: prompt.isTainted,
          answersMessageId: messages.at(-1)?.messageId,
        }),
      );
    },

    async apologize({ tenantId, turnId, reason }) {
      const tenant = await deps.tenants.byId(tenantId);
      deps.log.warn('turn.apologized', { tenantId, turnId, why: reason });
      return deps.inScope(tenantId, (scope) => planApology(scope, tenant, { turnId, reason }));
    },
  };
}

async function begin(
  scope: Scope,
  tenant: Tenant,
  turnId: string,
): Promise<
  { known: { outboxId: string } } | { turn: TurnRow; messages: TurnMessage[]; prompt: AnswerPrompt }
> {
  const known = await findByOrigin(scope, { kind: 'answer', id: turnId });
  if (known) return { known: { outboxId: known.outboxId } };
  const turn = await turnById(scope, turnId);
  const messages = await messagesOfTurn(scope, turnId);
  const quotedId = messages.at(-1)?.quotedExternalId;
  const { chatId } = turn;
  const prompt = answerPrompt({
    configuration: tenant.configuration,
    conversation: {
      history: await recentUtterances(scope, {
        chatId,
        turnId,
        before: turn.firstSequence,
        limit: HISTORY_MESSAGES,
      }),
      current: messages,
      quoted:
        quotedId === undefined ? undefined : await quotedUtterance(scope, { chatId, externalId: quotedId }),
    },
  });
  if (prompt.isTainted) await taintTurn(scope, turnId);
  return { turn, messages, prompt };
}

/** The stop reason is the provider's own word: one that is no code is not kept. */
async function auditUseless(scope: Scope, { turnId, chatId }: TurnRow, stopReason: string): Promise<void> {
  const code = /^[a-z_]{1,40}$/.test(stopReason) ? stopReason : 'unknown';
  await appendAudit(scope.tx, {
    stream: chatId,
    event: 'answer_unusable',
    subjectId: turnId,
    actor: 'assistant',
    facts: { code },
  });
}
