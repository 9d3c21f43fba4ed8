// Fixed sentences in the language of the tenant. The words lie in the phrase files; code knows their names.
import { sentence, type PhraseBook, type SentenceKey, type ValuesArgument } from '../config/phrases.js';
import type { Tenant } from './tenants.js';

/** A sentence of the phrase files, its values filled in. */
export function say<K extends SentenceKey>(
  tenant: Pick<Tenant, 'configuration'>,
  key: K,
  ...values: ValuesArgument<K>
): string {
  return sentence(bookOf(tenant), key, ...values);
}

function bookOf({ configuration }: Pick<Tenant, 'configuration'>): PhraseBook {
  const book = configuration.phrases[configuration.business.language];
  if (!book) throw new Error('the tenant has no phrases of its own language');
  return book;
}
