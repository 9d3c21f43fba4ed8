// The accounts of a business, and which numbers a chat follows: the profile that its account names.
import type { TenantConfiguration } from './configuration.js';
import type { Profile } from '../workflows/domain/turn.js';

type Configured = Pick<TenantConfiguration, 'channels' | 'profiles'>;

export interface Account {
  channel: 'web' | 'whatsapp-cloud';
  /** The platform's public id of the account; for the web chat a name of ours. */
  accountKey: string;
}

export function accountsOf({ channels }: Pick<Configured, 'channels'>): Account[] {
  return [
    { channel: 'web', accountKey: channels.web.accountKey },
    ...channels.whatsapp.map(({ accountKey }) => ({ channel: 'whatsapp-cloud' as const, accountKey })),
  ];
}

/** The profile of an account; an account that configuration no longer names follows the web chat's. */
export function profileOf(
  { channels, profiles }: Configured,
  account: { channel: string; accountKey: string },
): Profile {
  const name =
    account.channel === 'web'
      ? channels.web.profile
      : channels.whatsapp.find(({ accountKey }) => accountKey === account.accountKey)?.profile;
  const profile = profiles[name ?? channels.web.profile];
  if (!profile) throw new Error('an account names a profile that is not there; the loader refuses that');
  return profile;
}
