// Who the people of the business are, by the numbers that configuration gives them. A platform that has verified a number
// hands it over as digits; nothing that a message says of itself counts.
import type { TenantConfiguration } from '../../config/configuration.js';
import type { Speaker } from '../../workflows/domain/incoming.js';

/** Looks a verified number up: digits, as WhatsApp gives them. */
export function createPeople({
  owners,
  operators,
}: Pick<TenantConfiguration, 'owners' | 'operators'>): (digits: string) => Speaker | undefined {
  const known = new Map<string, Speaker>();
  const note = (kind: 'owner' | 'operator', people: typeof operators): void => {
    for (const { id, addresses } of people)
      for (const number of addresses.whatsapp) known.set(digitsOf(number), `${kind}:${id}`);
  };
  note('operator', operators);
  note('owner', owners);
  return (digits) => known.get(digits);
}

/** Only ever of the configured side: an address of the platform's is never changed. */
export function digitsOf(configured: string): string {
  return configured.replace(/^\+/, '');
}
