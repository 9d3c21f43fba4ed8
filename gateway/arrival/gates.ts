// The arrival gates (spec A1), pure: what a message is, decided while it is accepted, from verified identity and structure, in
// a fixed order. They never wait, never ask a model and never open anything. Three answers only the database has, in the
// transaction that stores the message: whether it is here already, whether a blocked contact wrote it, and whether an echo is
// of our own making (`human` says that it may be a person).
import type { Arrival, MessageKind, Speaker } from '../../workflows/domain/incoming.js';
import type { ChatKind } from '../../workflows/domain/tool.js';

export interface ArrivalFacts {
  chatKind: ChatKind;
  kind: MessageKind;
  speaker: Speaker;
  /** Sent from our own number. */
  isEcho: boolean;
  /** The platform says so by the structure of the message, or the text is one of those that it writes. */
  isSystem: boolean;
  /** There is something in it that a person could read or hear. */
  isReadable: boolean;
  /** Of a group: it names us, quotes us, or presses a button of ours. */
  isAddressedToUs: boolean;
  /** It quotes a message. */
  isQuoting: boolean;
  /** A REF stands in it for certain. */
  hasRef: boolean;
  /** It begins as commands of owners do, or is a thumb. */
  isCommand: boolean;
  sentAt: Date | undefined;
  now: Date;
  /** What is older when it comes is not answered as if it were fresh. */
  staleAfterMs: number;
}

export interface ArrivalDecision {
  arrival: Arrival;
  /** An owner's command only if it answers a notice of ours. */
  isForNoticesOnly?: true;
  /** Of a person at the shop's own phone: so long ago that it takes no chat over any more. */
  takesNothing?: true;
}

type Gate = (facts: ArrivalFacts) => ArrivalDecision | undefined;

const decided = (arrival: Arrival): ArrivalDecision => ({ arrival });
const when = (holds: boolean, arrival: Arrival): ArrivalDecision | undefined =>
  holds ? decided(arrival) : undefined;

/** Changes of messages are no messages, whoever makes them. */
const change: Gate = ({ kind }) => {
  if (kind === 'edit') return decided('edit');
  return when(kind === 'revoke', 'revoke');
};

const system: Gate = ({ isSystem, kind }) => when(isSystem || kind === 'system', 'system');

/** A mere sign from the shop's own phone takes no chat over: nobody has said anything. */
const echo: Gate = ({ isEcho, kind }) => when(isEcho, kind === 'reaction' ? 'reaction' : 'human');

const reaction: Gate = ({ kind, speaker, chatKind, isReadable }) => {
  if (kind !== 'reaction') return undefined;
  const isOwners = isOwner(speaker) && chatKind === 'direct' && isReadable;
  return isOwners ? { arrival: 'owner_command', isForNoticesOnly: true } : decided('reaction');
};

const unsupported: Gate = ({ kind, isReadable }) =>
  when(kind === 'unsupported' || !isReadable, 'unsupported');

const operator: Gate = ({ chatKind, speaker }) =>
  when(chatKind === 'direct' && isOperator(speaker), 'operator_reply');

const owner: Gate = ({ chatKind, speaker, kind, hasRef, isQuoting, isCommand }) => {
  if (chatKind !== 'direct' || !isOwner(speaker)) return undefined;
  if (isCommand || hasRef || kind === 'button' || kind === 'list') return decided('owner_command');
  return isQuoting ? { arrival: 'owner_command', isForNoticesOnly: true } : undefined;
};

const group: Gate = ({ chatKind, isAddressedToUs }) =>
  when(chatKind === 'group' && !isAddressedToUs, 'group_unaddressed');

const ORDER: readonly Gate[] = [system, change, echo, reaction, unsupported, operator, owner, group];

/** Always decides: what no gate keeps is a turn, unless it comes too late for one. */
export function arrivalOf(facts: ArrivalFacts): ArrivalDecision {
  for (const gate of ORDER) {
    const decision = gate(facts);
    if (!decision) continue;
    if (!isStale(facts)) return decision;
    if (decision.arrival === 'human') return { ...decision, takesNothing: true };
    return makesTurn(decision.arrival) ? decided('stale') : decision;
  }
  return decided(isStale(facts) ? 'stale' : 'turn');
}

function makesTurn(arrival: Arrival): boolean {
  return arrival === 'owner_command' || arrival === 'operator_reply';
}

function isStale({ sentAt, now, staleAfterMs }: ArrivalFacts): boolean {
  return sentAt !== undefined && now.getTime() - sentAt.getTime() > staleAfterMs;
}

function isOwner(speaker: Speaker): boolean {
  return speaker.startsWith('owner:');
}

function isOperator(speaker: Speaker): boolean {
  return speaker.startsWith('operator:');
}
