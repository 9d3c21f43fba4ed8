// Owners' commands as turns: answered inside the turn's transaction, before any turn gate (spec A1).
import { commandDetails } from '../../prisma/stores/owner-chats.js';
import type { ArrivalHandler } from '../turns/arrivals.js';
import type { TurnContext } from '../turns/turn-context.js';
import { handleOwnerMessage } from './handle-message.js';
import type { DeskCommands, OwnerMessage } from './owner-message.js';
import { parseCommand } from './parse-command.js';

/** `desk` makes what carries commands about the desk out, for one turn. Absent: nobody does. */
export function createOwnerCommands(desk?: (turn: TurnContext) => DeskCommands): ArrivalHandler {
  return async (turn) => {
    const { scope, tenant } = turn;
    const message = await messageOf(turn);
    if (!message) return undefined;
    // A bare yes or no answers the question that we have asked its writer here; it is no owner's word about anybody else.
    if (turn.question !== undefined && isBare(message, turn)) return undefined;
    const { text, bells, isUnderstood } = await handleOwnerMessage(scope, tenant, message, desk?.(turn));
    if (!isUnderstood) return undefined;
    const because = 'a command of an owner';
    return { kind: 'fixed', as: 'answer', text, because, ...(bells.length > 0 && { bells }) };
  };
}

/** Undefined: not written by an owner whom the configuration knows. */
async function messageOf({ scope, tenant, chat, messages }: TurnContext): Promise<OwnerMessage | undefined> {
  const message = messages.at(-1);
  const ownerId = message?.speaker?.startsWith('owner:') ? message.speaker.slice('owner:'.length) : undefined;
  const isKnown = tenant.configuration.owners.some(({ id }) => id === ownerId);
  if (!message || ownerId === undefined || !isKnown) return undefined;
  const { kind, writtenAt, payload, emoji, isForwarded } = await commandDetails(scope, message.messageId);
  return {
    ownerId,
    chat: { chatId: chat.chatId, channel: chat.channel, kind: chat.kind },
    text: message.text,
    writtenAt,
    quotedExternalId: message.quotedExternalId,
    button: payload,
    emoji: kind === 'reaction' ? (emoji ?? '') : undefined,
    isForwarded,
  };
}

/** A yes or no that doesn't say by itself what it is about. */
function isBare(message: OwnerMessage, { tenant }: TurnContext): boolean {
  const { text, quotedExternalId, button, emoji } = message;
  if (quotedExternalId !== undefined || button !== undefined || emoji !== undefined) return false;
  const command = parseCommand(text, tenant.configuration.phrases, () => false);
  return (command.kind === 'approve' || command.kind === 'reject') && command.ref === undefined;
}
