// Our numbers on the Cloud API, of all businesses. A webhook belongs to an app; the app's secret decides for which of the
// numbers it may speak: one app may serve many numbers and several businesses, and two apps never speak for one another.
import type { TenantConfiguration, WhatsappAccount } from '../../config/configuration.js';
import type { Secrets } from '../../config/secrets.js';
import { isSameSecret, isSignedBy } from './signature.js';

export interface CloudAccount {
  business: TenantConfiguration;
  account: WhatsappAccount;
}

/** The accounts that the secret of a webhook speaks for, by the platform's phone number id. */
export type SignedFor = ReadonlyMap<string, CloudAccount>;

export interface AccountBook {
  /** Whether this is the word that we gave the platform for this number, or for any of ours. */
  isVerifyToken(token: string, accountKey?: string): boolean;
  /**
   * Undefined: no secret of these accounts signed it. With a key it has to be a secret of that account, and the answer still
   * holds all that the same app speaks for.
   */
  signedFor(signed: { body: Uint8Array; signature: Buffer }, accountKey?: string): SignedFor | undefined;
  /** Accounts that are configured, whoever signs for them. */
  isOurs(accountKey: string): boolean;
}

/** A rotated secret counts within this time; files aren't read for every webhook. */
const SECRETS_LAST_MS = 5_000;

export function createAccountBook(deps: {
  businesses: () => Iterable<TenantConfiguration>;
  secrets: Secrets;
  now?: () => number;
}): AccountBook {
  const secretOf = keptFor(SECRETS_LAST_MS, (name) => deps.secrets.get(name), deps.now ?? Date.now);

  const accounts = (): CloudAccount[] =>
    [...deps.businesses()].flatMap((business) =>
      business.channels.whatsapp.map((account) => ({ business, account })),
    );
  const find = (accountKey: string) => accounts().find(({ account }) => account.accountKey === accountKey);
  const secretsOf = ({ account }: CloudAccount): string[] =>
    account.appSecrets.flatMap((name) => secretOf(name) ?? []);

  return {
    isOurs: (accountKey) => find(accountKey) !== undefined,
    isVerifyToken(token, accountKey) {
      const asked = accounts().filter(
        ({ account }) => accountKey === undefined || account.accountKey === accountKey,
      );
      // All are compared, so that the time tells nothing.
      const same = asked.map(({ account }) => isSameSecret(token, secretOf(account.verifyToken) ?? ''));
      return same.includes(true);
    },
    signedFor(signed, accountKey) {
      const all = accounts();
      const asked = all.filter(
        ({ account }) => accountKey === undefined || account.accountKey === accountKey,
      );
      const candidates = new Set(asked.flatMap(secretsOf));
      const fitting = new Set([...candidates].filter((secret) => isSignedBy(secret, signed)));
      if (fitting.size === 0) return undefined;
      return new Map(
        all
          .filter((one) => secretsOf(one).some((secret) => fitting.has(secret)))
          .map((one) => [one.account.accountKey, one]),
      );
    },
  };
}

function keptFor(
  lastMs: number,
  read: (name: string) => string | undefined,
  now: () => number,
): (name: string) => string | undefined {
  const kept = new Map<string, { value: string | undefined; until: number }>();
  return (name) => {
    const known = kept.get(name);
    if (known && known.until > now()) return known.value;
    const value = read(name);
    kept.set(name, { value, until: now() + lastMs });
    return value;
  };
}
