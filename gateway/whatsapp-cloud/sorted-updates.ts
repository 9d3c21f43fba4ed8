// The updates of one webhook by what has to be done with them, and the account of what became of them.
import type { ContentCipher } from '../../prisma/content.js';
import { eventDigest, type PlatformEvent } from '../../prisma/stores/platform-events.js';
import type { StatusReport } from '../../prisma/stores/statuses.js';
import type { IncomingMessage } from '../incoming-message.js';
import type { CloudAccount, SignedFor } from './accounts.js';
import { normalize, type Normalized } from './normalize.js';
import type { Update } from './updates.js';
import { eventShape, statusShape } from './wire.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface Taken {
  /** Stored and waiting for a turn; stored and settled; here already. */
  accepted: number;
  stored: number;
  duplicates: number;
  /** Words of ours that came back. */
  echoes: number;
  /** Messages that could not be stored as such, by code. Each is kept as an event. */
  refused: Record<string, number>;
  statuses: number;
  /** Of them, about messages that are not ours. */
  statusesUnmatched: number;
  events: number;
  /** Updates of numbers that nobody here has, where several businesses share the app: not kept, and not acknowledged. */
  unattributed: number;
}

export class SortedUpdates {
  readonly messages: {
    message: IncomingMessage;
    update: Update & { what: 'message' };
    account: CloudAccount;
  }[] = [];
  readonly reports = new Map<CloudAccount, { report: StatusReport; update: Update }[]>();
  readonly events = new Map<CloudAccount, PlatformEvent[]>();
  readonly #signedFor: SignedFor;
  readonly #taken: Taken;
  readonly #content: ContentCipher;
  readonly #now = new Date();

  constructor(signedFor: SignedFor, taken: Taken, content: ContentCipher) {
    this.#signedFor = signedFor;
    this.#taken = taken;
    this.#content = content;
  }

  add(update: Update): void {
    const named = update.phoneNumberId === undefined ? undefined : this.#signedFor.get(update.phoneNumberId);
    if (!named) return this.#addUnnamed(update);
    switch (update.what) {
      case 'message': {
        const normalized = this.#normalize(update, named);
        if ('message' in normalized) this.messages.push({ ...normalized, update, account: named });
        else this.refuse(named, update, normalized.unreadable);
        return;
      }
      case 'status':
        return this.#addStatus(named, update);
      case 'event':
        return this.event(named, update, {});
    }
  }

  /** A fault of ours with one message must not cost the others. */
  #normalize(update: Update & { what: 'message' }, account: CloudAccount): Normalized {
    try {
      return normalize(update, account, this.#now);
    } catch {
      return { unreadable: 'fault' };
    }
  }

  report(account: CloudAccount, report: StatusReport, update: Update): void {
    push(this.reports, account, { report, update });
  }

  /** Kept as an event: the code says why it is no message of the inbox. */
  refuse(account: CloudAccount, update: Update, code: string, message?: IncomingMessage): void {
    this.#taken.refused[code] = (this.#taken.refused[code] ?? 0) + 1;
    const about = message?.identities?.filter(({ isRetired }) => !isRetired);
    this.event(account, update, {
      kind: 'message',
      code,
      externalId: message?.externalId,
      ...(about && { about }),
    });
  }

  event(account: CloudAccount, update: Update, known: Partial<PlatformEvent>): void {
    const { kind, code, at } =
      update.what === 'event' ? update : { kind: update.what, code: undefined, at: undefined };
    const shape = eventShape.safeParse(update.raw).data;
    const named = [shape?.wa_id, shape?.from, shape?.recipient_id].flatMap((address) =>
      address === undefined ? [] : [{ kind: 'phone', address }],
    );
    const users = shape?.user_id === undefined ? [] : [{ kind: 'bsuid', address: shape.user_id }];
    push(this.events, account, {
      field: update.field,
      kind,
      code,
      externalId: shape?.id,
      happenedAt: shape?.timestamp ?? at,
      payload: update.raw,
      about: [...named, ...users],
      ...known,
    });
  }

  #addStatus(account: CloudAccount, update: Update & { what: 'status' }): void {
    const status = statusShape.safeParse(update.raw).data;
    if (!status) return this.event(account, update, { code: 'unknown_status' });
    const ownId = status.biz_opaque_callback_data;
    const code = status.status === 'failed' ? (status.errors?.[0]?.code ?? 'failed') : undefined;
    this.report(
      account,
      {
        externalId: status.id,
        outboxId: ownId !== undefined && UUID.test(ownId) ? ownId : undefined,
        status: status.status,
        at: status.timestamp,
        code,
        digest: eventDigest(
          { content: this.#content },
          { field: update.field, kind: 'status', payload: update.raw },
        ),
      },
      update,
    );
  }

  /** About the business account as a whole, or about a number that nobody here has. */
  #addUnnamed(update: Update): void {
    const accounts = [...this.#signedFor.values()];
    const [first] = accounts;
    const isOneBusiness = accounts.every(({ business }) => business === first?.business);
    if (!first || !isOneBusiness) {
      this.#taken.unattributed += 1;
      return;
    }
    if (update.what === 'event' && update.phoneNumberId === undefined) return this.event(first, update, {});
    if (update.what === 'message') return this.refuse(first, update, 'unknown_number');
    return this.event(first, update, { code: 'unknown_number' });
  }
}

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
