// A message in the one form of all channels: what a channel makes of its wire format, and the inbox stores.
import type { Arrival, MessageDetails, MessageKind, Speaker } from '../workflows/domain/incoming.js';
import type { ChatKind } from '../workflows/domain/tool.js';

/** As in contact_aliases.kind. A platform may name one person by several of them. */
export type AddressKind = 'phone' | 'bsuid' | 'parent' | 'group' | 'web';

export interface Identity {
  kind: AddressKind;
  /** As the platform gave it; never put together from digits. */
  address: string;
  /** The person has left it for another one that is named beside it. */
  isRetired?: boolean | undefined;
}

export interface IncomingMessage {
  channel: 'web' | 'whatsapp-cloud' | 'whatsapp-web';
  accountKey: string;
  /** Absent: direct. */
  chatKind?: ChatKind | undefined;
  /** Whom the chat is with, and where replies go: a person, or a group. */
  chatAddress: string;
  /** All that the platform says of who that is, with the kind of `chatAddress` first. Absent: the address alone. */
  identities?: readonly [Identity, ...Identity[]] | undefined;
  /** The platform's id of the message, unique within the account. */
  externalId: string;
  kind: MessageKind;
  /** What a person would read of it. */
  text: string;
  details?: MessageDetails | undefined;
  /** The message that it quotes, reacts to, edits or revokes. */
  quotedExternalId?: string | undefined;
  sentAt?: Date | undefined;
  /** Absent: the customer. */
  speaker?: Speaker | undefined;
  /** What the arrival gates made of it. Absent: a turn. */
  arrival?: Arrival | undefined;
  /** Of a person at the shop's own phone: how long they keep the chat. Absent: until it is given back. */
  leaseMs?: number | undefined;
  /** Written long ago, or to somebody of the business: it doesn't take the chat over. */
  takesNothing?: boolean | undefined;
  /** REFs that such a person wrote. */
  refs?: string[] | undefined;
  /** An owner's command only if it reacts to a notice of ours. */
  isForNoticesOnly?: boolean | undefined;
}
