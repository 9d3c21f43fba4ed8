// What the platform tells beside messages about who somebody is: a user id that was made anew, and, with every report, which
// number and which user id are the same person. So that whoever hides their number later is still known.
import type { Inbox } from '../inbox.js';
import type { Identity } from '../incoming-message.js';
import type { SignedFor } from './accounts.js';
import type { Update } from './updates.js';
import { statusShape, userIdUpdateShape, type WireContact } from './wire.js';

export interface IdentityNotes {
  note(updates: readonly Update[], signedFor: SignedFor): Promise<void>;
}

const REMEMBERED = 10_000;
/** Each is a round trip; what is left over is told again with the next report. */
const MOST_AT_ONCE = 50;

export function createIdentityNotes(inbox: Inbox): IdentityNotes {
  /** Said with every report; once is enough. */
  const noted = new Set<string>();

  return {
    async note(updates, signedFor) {
      let left = MOST_AT_ONCE;
      for (const update of updates) {
        const { phoneNumberId: accountKey } = update;
        if (accountKey === undefined || !signedFor.has(accountKey)) continue;
        for (const { identities, at } of saidBy(update)) {
          const name = JSON.stringify([accountKey, identities]);
          if (noted.has(name) || left === 0) continue;
          left -= 1;
          await inbox.noteIdentities({ channel: 'whatsapp-cloud', accountKey, identities, at });
          noted.add(name);
          const [oldest] = noted;
          if (noted.size > REMEMBERED && oldest !== undefined) noted.delete(oldest);
        }
      }
    },
  };
}

interface Said {
  identities: readonly [Identity, ...Identity[]];
  at: Date;
}

function saidBy(update: Update): Said[] {
  switch (update.what) {
    case 'message':
      return [];
    case 'status':
      return contactsOf(update).flatMap(samePerson);
    case 'event':
      return update.field === 'user_id_update' ? changedIds(update.raw) : [];
  }
}

/** The entries that are about the person whom the report is about. */
function contactsOf({ raw, contacts }: Update & { what: 'status' }): WireContact[] {
  const status = statusShape.safeParse(raw).data;
  return contacts.filter(
    ({ wa_id: phone, user_id: bsuid }) =>
      (phone !== undefined && phone === status?.recipient_id) ||
      (bsuid !== undefined && bsuid === status?.recipient_user_id),
  );
}

function samePerson({ wa_id: phone, user_id: bsuid, parent_user_id: parent }: WireContact): Said[] {
  const [first, second, ...rest] = named({ phone, bsuid, parent });
  // One name alone says nothing new.
  return first && second ? [{ identities: [first, second, ...rest], at: new Date() }] : [];
}

function changedIds(raw: unknown): Said[] {
  const change = userIdUpdateShape.safeParse(raw).data;
  if (!change) return [];
  const { wa_id: phone, user_id: bsuid, parent_user_id: parent, timestamp } = change;
  const [first, ...rest] = [
    ...named({ phone, bsuid: bsuid?.current, parent: parent?.current }),
    ...named({ bsuid: bsuid?.previous, parent: parent?.previous }).map((identity) => ({
      ...identity,
      isRetired: true,
    })),
  ];
  return first && rest.length > 0 ? [{ identities: [first, ...rest], at: timestamp ?? new Date() }] : [];
}

function named(names: Partial<Record<'phone' | 'bsuid' | 'parent', string | undefined>>): Identity[] {
  return (['phone', 'bsuid', 'parent'] as const).flatMap((kind) => {
    const address = names[kind];
    return address === undefined ? [] : [{ kind, address }];
  });
}
