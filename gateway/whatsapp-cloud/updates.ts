// A webhook taken apart into its updates, in their order: every entry, every change, every message, status, echo and event.
// What has no form that we know becomes an event, so that nothing that came is lost.
import {
  changeShape,
  contactShape,
  entryShape,
  eventShape,
  metadataShape,
  webhookShape,
  type WireContact,
} from './wire.js';

export interface Origin {
  /** Which number of ours it is about; absent: the business account as a whole. */
  phoneNumberId?: string | undefined;
  displayNumber?: string | undefined;
  businessAccountId?: string | undefined;
  field: string;
}

export type Update = Origin &
  (
    | { what: 'message'; raw: unknown; isEcho: boolean; contacts: WireContact[] }
    | { what: 'status'; raw: unknown; contacts: WireContact[] }
    | { what: 'event'; kind: string; raw: unknown; code?: string | undefined; at?: Date | undefined }
  );

/** Keys of a value that are looked into, or that only say where it belongs. */
const KNOWN_KEYS = new Set([
  'messaging_product',
  'metadata',
  'contacts',
  'messages',
  'message_echoes',
  'statuses',
  'errors',
]);
/** Lists of events, each a thing of its own. */
const EVENT_LISTS = ['calls', 'groups', 'user_preferences', 'user_id_update', 'history', 'state_sync'];

/** Deeper than anything that means something, and far from where writing it again would fail. */
const DEEPEST = 100;

/** All updates of a body. Never throws. */
export function updatesOf(body: unknown): Update[] {
  return partsOf(body).map((update) =>
    isDeeper(update.raw, DEEPEST)
      ? {
          field: update.field,
          phoneNumberId: update.phoneNumberId,
          what: 'event',
          kind: 'malformed',
          code: 'too_deep',
          raw: null,
        }
      : update,
  );
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

function partsOf(body: unknown): Update[] {
  const webhook = webhookShape.safeParse(body);
  if (!webhook.success) return [malformed({ field: 'unknown' }, body)];
  if (webhook.data.object !== 'whatsapp_business_account') {
    return [{ what: 'event', field: codeLike(webhook.data.object), kind: 'other_object', raw: body }];
  }
  if (webhook.data.entry.length === 0) return [malformed({ field: 'unknown' }, body)];
  return webhook.data.entry.flatMap(updatesOfEntry);
}

function updatesOfEntry(raw: unknown): Update[] {
  const entry = entryShape.safeParse(raw);
  if (!entry.success) return [malformed({ field: 'unknown' }, raw)];
  const { id, time, changes } = entry.data;
  return changes.flatMap((change) => updatesOfChange(change, { businessAccountId: id, time }));
}

function updatesOfChange(
  raw: unknown,
  entry: { businessAccountId: string | undefined; time: Date | undefined },
): Update[] {
  const { businessAccountId, time } = entry;
  const change = changeShape.safeParse(raw);
  if (!change.success) return [malformed({ businessAccountId, field: 'unknown' }, raw)];
  const { value } = change.data;
  const metadata = metadataShape.safeParse(value['metadata']).data;
  const origin: Origin = {
    businessAccountId,
    field: codeLike(change.data.field),
    phoneNumberId: metadata?.phone_number_id,
    displayNumber: metadata?.display_phone_number,
  };
  const contacts = listOf(value['contacts']).flatMap((contact): WireContact[] => {
    const { data } = contactShape.safeParse(contact);
    return data ? [data] : [];
  });
  const message = (isEcho: boolean) => (one: unknown) => ({
    ...origin,
    what: 'message' as const,
    raw: one,
    isEcho,
    contacts,
  });
  const updates: Update[] = [
    ...listOf(value['messages']).map(message(origin.field.endsWith('message_echoes'))),
    ...listOf(value['message_echoes']).map(message(true)),
    ...listOf(value['statuses']).map((status) =>
      // What becomes of calls is told in the same form.
      origin.field === 'messages'
        ? { ...origin, what: 'status' as const, raw: status, contacts }
        : eventOf(origin, status, time),
    ),
    ...EVENT_LISTS.flatMap((key) => listOf(value[key])).map((event) => eventOf(origin, event, time)),
    ...listOf(value['errors']).map((error) => ({ ...eventOf(origin, error, time), kind: 'error' })),
  ];
  const rest = Object.entries(value).filter(([key]) => !KNOWN_KEYS.has(key) && !EVENT_LISTS.includes(key));
  if (rest.length > 0) updates.push(eventOf(origin, Object.fromEntries(rest), time));
  // A list of another form, or nothing in it at all.
  if (updates.length === 0) updates.push({ ...origin, what: 'event', kind: 'empty', raw: value, at: time });
  return updates;
}

function eventOf(origin: Origin, raw: unknown, at: Date | undefined): Update & { what: 'event' } {
  const event = eventShape.safeParse(raw).data;
  return {
    ...origin,
    what: 'event',
    kind: codeLike(event?.event ?? event?.type ?? origin.field),
    raw,
    code: event?.code ?? event?.errors?.[0]?.code,
    at: event?.timestamp ?? at,
  };
}

function malformed(origin: Origin, raw: unknown): Update {
  return { ...origin, what: 'event', kind: 'malformed', raw };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What is kept in the open has to be a code: words of the platform's, never words of people. */
export function codeLike(text: string): string {
  const code = text.toLowerCase();
  return /^[a-z0-9_.-]{1,64}$/.test(code) ? code : 'unknown';
}
