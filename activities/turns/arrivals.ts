// Messages that aren't the assistant's: what the arrival gates have recognised as an owner's command or an operator's reply is
// answered by others, inside the turn's transaction and before any turn gate (spec A1).
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
  const outcome = await handlers[arrival]?.(turn);
  return outcome && { gate: arrival, outcome };
}
