// What the door of a platform needs to know: whom it is a door of, and where their secrets lie.
import type { TenantConfiguration } from '../../config/configuration.js';
import type { Secrets } from '../../config/secrets.js';

export interface Webhooks {
  /** All businesses that this gateway serves, as they are configured now. */
  businesses: () => Iterable<TenantConfiguration>;
  secrets: Secrets;
}
