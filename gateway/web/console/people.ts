// The people of the business by the names that configuration gives them.
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { ChatLabel } from '../../../prisma/stores/views/chat-labels.js';
import { createPeople } from '../../arrival/people.js';

export interface People {
  /** "Deniz (owner)", "Dr. Kaya (operator)", "somebody on our phone", "the customer". */
  nameOf: (speaker: string) => string;
  /** The same at the head of what they wrote: "Customer", "Somebody on our phone". */
  called: (speaker: string) => string;
  operator: (operatorId: string) => string;
  /** Who of them writes from this address; undefined: none of them. */
  at: (address: string | undefined) => string | undefined;
  /** Whose own chat beside the console it is: "Deniz (your own chat)", "Deniz (owner)"; undefined: it is none. */
  ownChat: (chat: Pick<ChatLabel, 'channel' | 'address'>) => string | undefined;
}

/** `viewerId`: the owner who looks; absent: an owner's chat is nobody's own. */
export function peopleOf(
  { owners, operators }: Pick<TenantConfiguration, 'owners' | 'operators'>,
  viewerId?: string,
): People {
  const atAddress = createPeople({ owners, operators });
  const named = (people: readonly { id: string; name: string }[], id: string): string =>
    people.find((one) => one.id === id)?.name ?? id;
  const nameOf = (speaker: string): string => {
    const id = speaker.slice(speaker.indexOf(':') + 1);
    if (speaker.startsWith('owner:')) return `${named(owners, id)} (owner)`;
    if (speaker.startsWith('operator:')) return `${named(operators, id)} (operator)`;
    return PLAIN[speaker] ?? speaker;
  };
  return {
    nameOf,
    called: (speaker) => {
      const name = nameOf(speaker).replace(/^the /, '');
      return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    },
    operator: (operatorId) => named(operators, operatorId),
    at: (address) => {
      const speaker = address === undefined ? undefined : atAddress(address);
      return speaker === undefined ? undefined : nameOf(speaker);
    },
    ownChat: ({ channel, address }) => {
      // Visitors and programs can't have such an address (own-chat-routes.tsx).
      if (channel !== 'web' || !address?.startsWith('owner:')) return undefined;
      const id = address.slice('owner:'.length);
      return id === viewerId ? `${named(owners, id)} (your own chat)` : nameOf(address);
    },
  };
}

const PLAIN: Record<string, string> = {
  customer: 'the customer',
  business: 'somebody on our phone',
  platform: 'the platform',
  assistant: 'the assistant',
  human: 'a person',
};
