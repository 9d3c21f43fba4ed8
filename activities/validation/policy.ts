// What policy says of one step. The same question is asked before a yes is asked for, after an owner has edited what they are
// asked, and right before the step is carried out.
import { decideByPolicy, type PolicyAnswer } from '../../config/policy.js';
import type { ChatRow, TurnRow } from '../../prisma/stores/turns.js';
import type { JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';
import type { Tenant } from '../tenants.js';

/** The policy of this tenant for a call that belongs to a turn. */
export function policyOfCall(
  { configuration }: Pick<Tenant, 'configuration'>,
  call: {
    tool: ToolDefinition;
    /** As proposed, or as edited: without what the runtime fills. */
    arguments: JsonObject;
    turn: Pick<TurnRow, 'decision' | 'isTainted'>;
    chat: Pick<ChatRow, 'channel' | 'kind'>;
    /** Absent: now. */
    at?: Date;
  },
): PolicyAnswer {
  const { tool, turn, chat, at = new Date() } = call;
  return decideByPolicy(configuration, {
    tool,
    arguments: call.arguments,
    actor: turn.decision.actor,
    roleId: turn.decision.roleId,
    channel: chat.channel,
    chatKind: chat.kind,
    isTainted: turn.isTainted,
    at,
  });
}
