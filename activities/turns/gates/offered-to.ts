// Which tools a turn may be offered. Every gate that sends a turn to the planner asks here: a tool of the owner's must not
// be laid before a customer's planner, though the checks after it would refuse the call.
import type { TurnContext } from '../turn-context.js';

/**
 * The names, in their order, of tools that are enabled and open to this speaker in this kind of chat: at most
 * `limits.maxCandidates`. Without `names` the whole catalogue is meant.
 */
export function offeredTo(
  { tenant, actor, chat }: Pick<TurnContext, 'tenant' | 'actor' | 'chat'>,
  names: readonly string[] = tenant.configuration.tools.map((tool) => tool.name),
): string[] {
  return names
    .filter((name) => {
      const tool = tenant.tool(name);
      return tool?.enabled === true && tool.actors.includes(actor) && tool.chatKinds.includes(chat.kind);
    })
    .slice(0, tenant.configuration.limits.maxCandidates);
}
