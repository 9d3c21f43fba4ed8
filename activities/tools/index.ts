// The providers behind the tools, by the names that configuration gives them (config/schema/providers.ts lists the same).
import { join } from 'node:path';
import type { InScope } from '../../prisma/stores/scope.js';
import { createBookings } from './bookings/provider.js';
import { createBusiness } from './business.js';
import { createKnowledge } from './knowledge/provider.js';
import { createOperators } from './operators.js';
import type { ProviderRegistry } from './provider.js';

/** `configDirectory` holds `tenants/<slug>/knowledge/*.md`, the pages that a business answers from. */
export function createProviders({
  inScope,
  configDirectory,
}: {
  inScope: InScope;
  configDirectory: string;
}): ProviderRegistry {
  return {
    bookings: createBookings({ inScope }),
    business: createBusiness(),
    operators: createOperators({ inScope }),
    knowledge: createKnowledge({
      inScope,
      folderOf: (slug) => join(configDirectory, 'tenants', slug, 'knowledge'),
    }),
  };
}
