// A message of the Cloud API in the one form of all channels, with what the arrival gates make of it.
import { profileOf } from '../../config/accounts.js';
import type { TenantConfiguration } from '../../config/configuration.js';
import { createSystemMessageCheck, labelsFor, type Labels } from '../../config/system-messages.js';
import { isJsonObject } from '../../prisma/json.js';
import { refsIn } from '../../workflows/domain/approval.js';
import type { MessageDetails, Speaker } from '../../workflows/domain/incoming.js';
import { createCommandCheck } from '../arrival/commands.js';
import { arrivalOf } from '../arrival/gates.js';
import { createPeople, digitsOf } from '../arrival/people.js';
import type { IncomingMessage } from '../incoming-message.js';
import type { CloudAccount } from './accounts.js';
import { contentOf, type Content } from './content.js';
import { partyOf, type Party } from './identity.js';
import type { Update } from './updates.js';
import { messageShape, type WireMessage } from './wire.js';

/** What is made once of a business's configuration: patterns are compiled, people are looked up by number. */
export interface BusinessTools {
  labels: Labels;
  isSystemText: (text: string) => boolean;
  personOf: (digits: string) => Speaker | undefined;
  isCommand: (text: string) => boolean;
}

const made = new WeakMap<TenantConfiguration, BusinessTools>();

/** A configuration is frozen, and replaced as a whole: its tools last as long as it does. */
export function toolsOf(business: TenantConfiguration): BusinessTools {
  const known = made.get(business);
  if (known) return known;
  const tools = {
    labels: labelsFor(business.systemMessages, business.business.language),
    isSystemText: createSystemMessageCheck(business.systemMessages),
    personOf: createPeople(business),
    isCommand: createCommandCheck(business.phrases),
  };
  made.set(business, tools);
  return tools;
}

/** `unreadable`: no message that we could store; the code says why. */
export type Normalized =
  { message: IncomingMessage } | { unreadable: 'malformed' | 'no_sender' | 'no_target' | 'fault' };

const HOUR_MS = 3_600_000;

export function normalize(
  update: Update & { what: 'message' },
  { business, account }: CloudAccount,
  now: Date,
): Normalized {
  const parsed = messageShape.safeParse(update.raw);
  if (!parsed.success) return { unreadable: 'malformed' };
  const message = parsed.data;
  const ourNumbers = [account.accountKey, digitsOf(account.displayNumber), update.displayNumber];
  const isEcho = update.isEcho || (message.from !== undefined && ourNumbers.includes(message.from));
  const tools = toolsOf(business);
  const party = partyOf(message, { isEcho, contacts: update.contacts });
  const content = contentOf(message, tools.labels);
  const isChange = content.kind === 'edit' || content.kind === 'revoke';
  if (isChange && content.about === undefined) return { unreadable: 'no_target' };
  const chat = chatOf(message, party);
  if (!chat) return { unreadable: 'no_sender' };

  const person = isEcho ? undefined : personOf(chat.sender, tools);
  const { speaker, arrival, ...decision } = arrive({
    message,
    content,
    chat,
    person,
    isEcho,
    ourNumbers,
    tools,
    staleAfterMs: business.limits.staleAfterHours * HOUR_MS,
    now,
  });
  const { leaseMs } = profileOf(business, { channel: 'whatsapp-cloud', ...account });
  return {
    message: {
      channel: 'whatsapp-cloud',
      accountKey: account.accountKey,
      chatKind: chat.kind,
      chatAddress: chat.identities[0].address,
      identities: chat.identities,
      externalId: message.id,
      kind: content.kind,
      text: content.text,
      details: detailsOf(content, chat, update.raw),
      quotedExternalId: content.about,
      sentAt: message.timestamp,
      speaker,
      arrival,
      ...decision,
      // A word to an owner or operator takes no chat over: what waits for them would be held back from them.
      ...(isEcho && personOf(chat.sender, tools) && { takesNothing: true }),
      ...(isEcho && { leaseMs, refs: refsIn(content.text).map(({ ref }) => ref) }),
    },
  };
}

interface Chat {
  kind: 'direct' | 'group';
  identities: Party['identities'];
  sender: Party | undefined;
}

/** A group is whom the chat is with; who wrote in it is said beside. */
function chatOf({ group_id: groupId }: WireMessage, party: Party | undefined): Chat | undefined {
  if (groupId !== undefined)
    return { kind: 'group', identities: [{ kind: 'group', address: groupId }], sender: party };
  return party && { kind: 'direct', identities: party.identities, sender: party };
}

/** By the number that the platform has verified. Whoever hides theirs is nobody we know. */
function personOf(sender: Party | undefined, tools: BusinessTools): Speaker | undefined {
  const phone = sender?.identities.find(({ kind, isRetired }) => kind === 'phone' && !isRetired);
  return phone && tools.personOf(phone.address);
}

function arrive(facts: {
  message: WireMessage;
  content: Content;
  chat: Chat;
  person: Speaker | undefined;
  isEcho: boolean;
  ourNumbers: readonly (string | undefined)[];
  tools: BusinessTools;
  staleAfterMs: number;
  now: Date;
}): Pick<IncomingMessage, 'arrival' | 'isForNoticesOnly' | 'takesNothing'> & { speaker: Speaker } {
  const { message, content, chat, person, isEcho, ourNumbers, tools, staleAfterMs, now } = facts;
  const isSystem = content.isSystem === true || (content.kind === 'text' && tools.isSystemText(content.text));
  const isFromPlatform = isSystem || content.kind === 'system';
  const said = isFromPlatform ? 'platform' : isEcho ? 'business' : (person ?? 'customer');
  const decision = arrivalOf({
    chatKind: chat.kind,
    kind: content.kind,
    speaker: said,
    isEcho,
    isSystem,
    isReadable: content.isReadable,
    isAddressedToUs: isAddressedTo(ourNumbers, message, content),
    isQuoting: message.context?.id !== undefined,
    hasRef: refsIn(content.text).some(({ isCertain }) => isCertain),
    isCommand: tools.isCommand(content.text),
    sentAt: message.timestamp,
    now,
    staleAfterMs,
  });
  return { ...decision, speaker: said };
}

/** In a group: a mention of our number, an answer to a message of ours, a button of ours. */
function isAddressedTo(
  ourNumbers: readonly (string | undefined)[],
  { context }: WireMessage,
  { kind, text }: Content,
): boolean {
  if (kind === 'button' || kind === 'list' || kind === 'form') return true;
  if (context?.from !== undefined && ourNumbers.includes(context.from)) return true;
  return ourNumbers.some((number) => number !== undefined && text.includes(`@${number}`));
}

function detailsOf({ details }: Content, { kind, sender }: Chat, raw: unknown): MessageDetails {
  const [identity] = sender?.identities ?? [];
  return {
    ...details,
    ...(sender?.profileName !== undefined && { profileName: sender.profileName }),
    ...(kind === 'group' && identity && { sender: { kind: identity.kind, address: identity.address } }),
    ...(isJsonObject(raw) && { raw }),
  };
}
