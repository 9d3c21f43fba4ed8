// What the platform said that is no message, and what came as a message and could not be stored as one. Every event is kept
// once: nothing that was acknowledged is forgotten.
import { randomUUID } from 'node:crypto';
import type { DataKey } from '../keys.js';
import { liveContactOf, type Address } from './contacts.js';
import type { Scope } from './scope.js';

export interface PlatformEvent {
  /** The platform's name for the kind of thing: `messages`, `account_update`. */
  field: string;
  kind: string;
  /** Of an error; or why it could not be stored. */
  code?: string | undefined;
  /** Of what happened to a message: the platform's id of it. */
  externalId?: string | undefined;
  outboxId?: string | undefined;
  happenedAt?: Date | undefined;
  /** As it came. */
  payload: unknown;
  /** Whom it is about, where it names somebody: what is said of a person lies under their key. */
  about?: Address[] | undefined;
}

/** Keeps events of one account. Answers how many of them were new. */
export async function keepEvents(
  scope: Scope,
  { accountId, channel, events }: { accountId: string; channel: string; events: readonly PlatformEvent[] },
): Promise<number> {
  const keyFor = createKeyChoice(scope, channel);
  const rows = [];
  for (const event of events) {
    const id = randomUUID();
    const key = await keyFor(event.about ?? []);
    const payload = JSON.stringify(event.payload);
    const place = { table: 'platform_events', column: 'payload_cipher', rowId: id };
    rows.push({
      id,
      tenantId: scope.tenantId,
      accountId,
      field: event.field,
      kind: event.kind,
      digest: eventDigest(scope, event),
      externalId: event.externalId === undefined ? null : storable(event.externalId),
      outboxId: event.outboxId ?? null,
      code: event.code ?? null,
      payloadCipher: scope.content.sealText(key, { ...place, text: payload }),
      keyId: key.id,
      happenedAt: event.happenedAt ?? null,
    });
  }
  const { count } = await scope.tx.platformEvent.createMany({ data: rows, skipDuplicates: true });
  return count;
}

/** The same for the same event; says nothing about its content to whoever has no master key. */
export function eventDigest(
  { content }: Pick<Scope, 'content'>,
  { field, kind, payload }: Pick<PlatformEvent, 'field' | 'kind' | 'payload'>,
): Uint8Array<ArrayBuffer> {
  return content.hmacContent(JSON.stringify([field, kind, payload]));
}

/** Text columns take no NUL. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

/** Their own key for people that we know; the business's for the rest. Looked up once for each person. */
function createKeyChoice(scope: Scope, channel: string): (about: readonly Address[]) => Promise<DataKey> {
  const keys = new Map<string, Promise<DataKey>>();
  const remembered = (name: string, make: () => Promise<DataKey>): Promise<DataKey> => {
    const known = keys.get(name) ?? make();
    keys.set(name, known);
    return known;
  };
  return (about) =>
    remembered(about.map(({ kind, address }) => `${kind}|${address}`).join('|'), async () => {
      const contactId =
        about.length > 0 ? await liveContactOf(scope, { channel, addresses: about }) : undefined;
      return contactId === undefined
        ? remembered('', () => scope.content.tenantKey(scope.tx, scope.tenantId))
        : remembered(contactId, () => scope.content.keyOfContact(scope.tx, scope.tenantId, contactId));
    });
}
