// Messages sorted into what is stored together: those of one chat, in their order, so many at once.
import type { AddressKind, Identity, IncomingMessage } from './incoming-message.js';
import { wellFormed } from './message-text.js';

/** Rows of one call: a chat's lock is held that long, and its conversation waits. */
const ROWS_AT_ONCE = 100;
const USUAL_KIND: Record<IncomingMessage['channel'], AddressKind> = {
  web: 'web',
  'whatsapp-cloud': 'phone',
  'whatsapp-web': 'phone',
};

export type Batch = readonly [IncomingMessage, ...IncomingMessage[]];

/** Who a chat is with, by all of its messages together: one may say more than another. */
export function identitiesOf(batch: Batch): readonly [Identity, ...Identity[]] {
  const [{ channel, chatAddress, identities }] = batch;
  const [first, ...rest] = identities ?? [{ kind: USUAL_KIND[channel], address: chatAddress }];
  const named = new Map<string, Identity>();
  for (const identity of [first, ...rest, ...batch.flatMap((message) => message.identities ?? [])]) {
    const name = `${identity.kind}|${identity.address}`;
    const known = named.get(name);
    named.set(name, known?.isRetired ? known : identity);
  }
  return [first, ...[...named.values()].filter((identity) => !isSame(identity, first))];
}

function isSame(one: Identity, other: Identity): boolean {
  return one.kind === other.kind && one.address === other.address;
}

/** What is stored together, and which places it had among all. */
export interface PlacedBatch {
  places: number[];
  messages: Batch;
}

/** For each chat its batches, in their order. */
export function batchesOf(messages: readonly IncomingMessage[]): PlacedBatch[][] {
  return placesByChat(messages).map((places) => inBatches(places, messages));
}

function placesByChat(messages: readonly IncomingMessage[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [place, { channel, accountKey, chatKind = 'direct', chatAddress }] of messages.entries()) {
    const name = [channel, accountKey, chatKind, chatAddress].join('|');
    const group = groups.get(name);
    if (group) group.push(place);
    else groups.set(name, [place]);
  }
  return [...groups.values()];
}

function inBatches(places: readonly number[], messages: readonly IncomingMessage[]): PlacedBatch[] {
  const batches = [];
  for (let from = 0; from < places.length; from += ROWS_AT_ONCE) {
    const own = places.slice(from, from + ROWS_AT_ONCE);
    const [first, ...rest] = own.flatMap((place) => {
      const message = messages[place];
      return message ? [{ ...message, text: wellFormed(message.text) }] : [];
    });
    if (first) batches.push({ places: own, messages: [first, ...rest] as const });
  }
  return batches;
}
