// People and groups behind addresses. One contact has many: a phone number, ids of the platform's own. Which contact a message
// belongs to is decided where it is accepted (prisma/accept.ts); this is for looking.
import type { Scope } from './scope.js';

export interface Address {
  /** As in contact_aliases.kind. */
  kind: string;
  address: string;
}

/** Who is reached at one of these addresses now: the contact that has been known longest. Undefined: nobody we know. */
export async function liveContactOf(
  scope: Scope,
  { channel, addresses }: { channel: string; addresses: readonly Address[] },
): Promise<string | undefined> {
  const alias = await scope.tx.contactAlias.findFirst({
    where: {
      channel,
      retiredAt: null,
      OR: addresses.map(({ kind, address }) => ({
        kind,
        addressHmac: scope.content.hmacAddress(address),
      })),
    },
    orderBy: { contact: { createdAt: 'asc' } },
    select: { contactId: true },
  });
  return alias?.contactId;
}
