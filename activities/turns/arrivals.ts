// Messages that aren't the assistant's: what the arrival gates have recognised as an owner's command or an operator's reply is
// answered by others, inside the turn's transaction and before any turn gate (spec A1).
import type { TurnMessage } from '../../prisma/stores/turns.js';
import type { Tenant } from '../tenants.js';
import type { GateOutcome, TurnContext } from './turn-context.js';

/** Answers in the turn's transaction. Undefined: it is none of theirs, and goes on to the turn gates. */
export type ArrivalHandler = (turn: TurnContext) => Promise<GateOutcome | undefined>;

/** By `inbox.arrival`. Absent: nobody answers these, and the turn gates do. */
export interface ArrivalHandlers {
  owner_command?: ArrivalHandler;
  operator_reply?: ArrivalHandler;
}

/** The name under which the decision of a handler is stored, and its outcome. Undefined: the gates decide. */
export async function decideByArrival(
  turn: TurnContext,
  handlers: ArrivalHandlers,
): Promise<{ gate: string; outcome: GateOutcome } | undefined> {
  const arrival = turn.messages[0]?.arrival;
  if (arrival !== 'owner_command' && arrival !== 'operator_reply') return undefined;
  if (arrival === 'owner_command' && !turn.messages.every((message) => isOwner(turn.tenant, message)))
    return undefined;
  const outcome = await handlers[arrival]?.(turn);
  return outcome && { gate: arrival, outcome };
}

/** The gateway said so when the message came in; whoever has left the configuration since is an owner no more. */
export function isOwner({ configuration }: Pick<Tenant, 'configuration'>, { speaker }: TurnMessage): boolean {
  return configuration.owners.some(({ id }) => speaker === `owner:${id}`);
}
