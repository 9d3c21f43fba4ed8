// How long a person has a chat (spec G5). A lease ends by its time, by hand, with the session that is resolved, or, where it
// has no time of its own, when the people at the desk leave it.
import { nextClosing, type DeskHours } from '../../config/shift.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { releaseChat, type Takeover } from '../../prisma/stores/takeover.js';
import type { ChatRow } from '../../prisma/stores/turns.js';
import type { Lease } from '../../workflows/domain/session.js';
import type { Tenant } from '../tenants.js';

export function hoursOf({ configuration }: Tenant): DeskHours {
  return { shift: configuration.shift, timeZone: configuration.business.timeZone };
}

/** The lease as a conversation sees it: with an end, where one is known. */
export function leaseOf(tenant: Tenant, takeover: Takeover): Lease {
  const until = takeover.until ?? nextClosing(hoursOf(tenant), takeover.since);
  return until ? { until: until.getTime() } : {};
}

/** The lease that holds now. One whose time is over is ended, and is none. Needs the chat's lock. */
export async function currentLease(scope: Scope, tenant: Tenant, chat: ChatRow): Promise<Lease | undefined> {
  const { takeover, chatId } = chat;
  if (!takeover) {
    // Says nothing where nobody had it; clears what the clock has ended.
    await releaseChat(scope, { chatId, by: 'clock' });
    return undefined;
  }
  const lease = leaseOf(tenant, takeover);
  if (lease.until === undefined || lease.until > Date.now()) return lease;
  await releaseChat(scope, { chatId, by: 'shift' });
  return undefined;
}
