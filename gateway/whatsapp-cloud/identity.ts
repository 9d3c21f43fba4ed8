// Who a message is from, in all the names that the platform gives: a phone number, a user id of this business, one of the
// business's parent. Any of them is enough. An address is kept as it came: WhatsApp's digits aren't what people dial in every
// country, so none is ever put together or tidied up.
import type { Identity } from '../incoming-message.js';
import type { WireContact, WireMessage } from './wire.js';

export interface Party {
  /** The address for replies first, with its kind. */
  identities: readonly [Identity, ...Identity[]];
  profileName?: string | undefined;
}

interface Names {
  phone?: string | undefined;
  bsuid?: string | undefined;
  parent?: string | undefined;
}

const KINDS = ['phone', 'bsuid', 'parent'] as const;

/** Whom the chat is with: the sender, or of an echo the one it went to. Undefined: nobody is named. */
export function partyOf(
  message: WireMessage,
  { isEcho, contacts }: { isEcho: boolean; contacts: readonly WireContact[] },
): Party | undefined {
  const named: Names = isEcho
    ? { phone: message.to, bsuid: message.to_user_id, parent: message.to_parent_user_id }
    : { phone: message.from, bsuid: message.from_user_id, parent: message.from_parent_user_id };
  const contact = contactOf(named, contacts);
  const live = isChange(message)
    ? movedNames(message, named)
    : { now: withContact(named, contact), left: {} };
  const [first, ...rest] = [
    ...KINDS.flatMap((kind) => identity(kind, live.now[kind])),
    ...KINDS.flatMap((kind) => identity(kind, live.left[kind], true)),
  ];
  if (!first || first.isRetired) return undefined;
  return { identities: [first, ...rest], profileName: contact?.profile?.name };
}

function identity(kind: Identity['kind'], address: string | undefined, isRetired?: true): Identity[] {
  return address === undefined ? [] : [{ kind, address, ...(isRetired && { isRetired }) }];
}

/** The entry that is about this person. Where the message names nobody, a single entry can only be the sender's. */
function contactOf(named: Names, contacts: readonly WireContact[]): WireContact | undefined {
  if (KINDS.every((kind) => named[kind] === undefined))
    return contacts.length === 1 ? contacts[0] : undefined;
  return contacts.find(
    ({ wa_id: phone, user_id: bsuid, parent_user_id: parent }) =>
      isSame(phone, named.phone) || isSame(bsuid, named.bsuid) || isSame(parent, named.parent),
  );
}

function isSame(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one === other;
}

function withContact(named: Names, contact: WireContact | undefined): Names {
  return {
    phone: named.phone ?? contact?.wa_id,
    bsuid: named.bsuid ?? contact?.user_id,
    parent: named.parent ?? contact?.parent_user_id,
  };
}

const CHANGES = ['user_changed_number', 'customer_changed_number', 'user_changed_user_id'];

function isChange({ type, system }: WireMessage): boolean {
  return type === 'system' && CHANGES.includes(system?.type ?? '');
}

/** The person told the platform of a new number; it made new ids of it. What they had before they have left. */
function movedNames({ system }: WireMessage, before: Names): { now: Names; left: Names } {
  const fresh: Names = {
    phone: system?.wa_id ?? system?.new_wa_id,
    bsuid: system?.user_id,
    parent: system?.parent_user_id,
  };
  const known: Names = { ...before, bsuid: before.bsuid ?? system?.previous_user_id };
  const now: Names = {};
  const left: Names = {};
  for (const kind of KINDS) {
    now[kind] = fresh[kind] ?? known[kind];
    if (fresh[kind] !== undefined && fresh[kind] !== known[kind]) left[kind] = known[kind];
  }
  return { now, left };
}
