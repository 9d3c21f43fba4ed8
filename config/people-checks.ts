// Who is who: a number, an account or an id that two people or two desks share would make the assistant take one for the
// other, so each is one's own.
import type { TenantConfiguration } from './configuration.js';
import { APPROVAL_SURFACES } from '../workflows/domain/approval.js';
import { accountsOf } from './accounts.js';
import type { Explained } from './schema/explain.js';
import type { ReadSections } from './schema/sections.js';

type Place = (string | number)[];

interface Claim {
  path: Place;
  /** What is claimed, such as a number. */
  key: string;
  /** Who claims it, as a message calls them. */
  by: string;
}

/** Problems among the owners, operators and numbers of one tenant. */
export function peopleProblems(sections: ReadSections): Explained[] {
  return [
    ...idProblems(sections),
    ...reservedProblems(sections),
    ...numberProblems(sections),
    ...accountKeyProblems(sections),
  ];
}

function idProblems({ owners = [], operators = [] }: ReadSections): Explained[] {
  const ids = (section: string, people: { id: string }[]): Claim[] =>
    people.map(({ id }, index) => ({
      path: [section, index, 'id'],
      key: id,
      by: `the ${kindOf(section)} ${id}`,
    }));
  return [
    ...taken(ids('owners', owners)).map(({ path }) => ({
      path,
      wrong: 'another owner has this id',
      right: 'an id of its own: decisions are signed with it',
    })),
    ...taken(ids('operators', operators)).map(({ path }) => ({
      path,
      wrong: 'another operator has this id',
      right: 'an id of its own: questions are addressed to it',
    })),
    ...taken([...ids('owners', owners), ...ids('operators', operators)])
      .filter(({ path, earlier }) => path[0] === 'operators' && earlier.path[0] === 'owners')
      .map(({ path, key }) => ({
        path,
        wrong: `an owner has the id "${key}" already`,
        right: 'an id of its own: whoever is both is listed as an owner only',
      })),
  ];
}

/**
 * Approvals and the audit sign with these where no person is meant, and a list of approvers means a surface by its name:
 * somebody called so would pass for it.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...APPROVAL_SURFACES,
  'chat',
  'assistant',
  'business',
  'clock',
  'customer',
  'gateway',
  'group',
  'human',
  'operator',
  'owner',
  'platform',
  'shift',
  'superseded',
  'system',
  'worker',
]);

function reservedProblems({ owners = [], operators = [] }: ReadSections): Explained[] {
  const names = [
    ...owners.flatMap(({ id, groups }, person) => [
      { path: ['owners', person, 'id'], name: id, is: 'an owner' },
      ...groups.map((name, index) => ({
        path: ['owners', person, 'groups', index],
        name,
        is: 'a group of owners',
      })),
    ]),
    ...operators.map(({ id }, person) => ({
      path: ['operators', person, 'id'],
      name: id,
      is: 'an operator',
    })),
  ];
  return names
    .filter(({ name }) => RESERVED.has(name))
    .map(({ path, name, is }) => ({
      path,
      wrong: `"${name}" is the name of a part of the desk itself, so ${is} can't be called so`,
      right: 'another name: approvals and the audit are signed with it',
    }));
}

/** A number is one person's: what arrives from it is theirs. The desk's own number is nobody's. */
function numberProblems({ owners = [], operators = [], channels }: ReadSections): Explained[] {
  const accounts = (channels?.whatsapp ?? []).map(({ displayNumber }, index): Claim => ({
    path: ['channels', 'whatsapp', index, 'displayNumber'],
    key: displayNumber,
    by: 'an account of the desk itself',
  }));
  const numbers = (section: string, people: typeof operators): Claim[] =>
    people.flatMap(({ id, addresses }, person) =>
      addresses.whatsapp.map((key, index) => ({
        path: [section, person, 'addresses', 'whatsapp', index],
        key,
        by: `the ${kindOf(section)} ${id}`,
      })),
    );
  return taken([...accounts, ...numbers('owners', owners), ...numbers('operators', operators)]).map(
    ({ path, earlier }) => ({
      path,
      wrong: `${earlier.by} has this number already`,
      right: isOperatorWhoOwns(path, earlier.path)
        ? 'another number; whoever is both is listed as an owner only'
        : 'a number of its own',
    }),
  );
}

function isOperatorWhoOwns(path: Place, earlier: Place): boolean {
  return path[0] === 'operators' && earlier[0] === 'owners';
}

function accountKeyProblems({ channels }: ReadSections): Explained[] {
  const claims = (channels?.whatsapp ?? []).map(({ accountKey }, index): Claim => ({
    path: ['channels', 'whatsapp', index, 'accountKey'],
    key: accountKey,
    by: 'another account',
  }));
  return taken(claims).map(({ path, key }) => ({
    path,
    wrong: `another account of this tenant has the key "${key}" already`,
    right: 'a key of its own',
  }));
}

/** Two tenants behind one account: an arriving message couldn't be told apart. */
export function sharedAccountProblems(
  tenant: TenantConfiguration,
  others: Iterable<TenantConfiguration>,
): Explained[] {
  const owners = new Map(
    [...others].flatMap((other) =>
      accountsOf(other).map((account) => [nameOf(account), other.slug] as const),
    ),
  );
  return accountsOf(tenant).flatMap((account, index): Explained[] => {
    const slug = owners.get(nameOf(account));
    if (slug === undefined) return [];
    // The web chat comes first among a tenant's accounts.
    const path = account.channel === 'web' ? ['channels', 'web'] : ['channels', 'whatsapp', index - 1];
    return [
      {
        path: [...path, 'accountKey'],
        wrong: `the tenant ${slug} has the account key "${account.accountKey}" already`,
        right: 'a key of its own',
      },
    ];
  });
}

function nameOf({ channel, accountKey }: { channel: string; accountKey: string }): string {
  return `${channel}/${accountKey}`;
}

function kindOf(section: string): string {
  return section === 'owners' ? 'owner' : 'operator';
}

/** The claims of something that an earlier one has, with that one. */
function taken(claims: readonly Claim[]): (Claim & { earlier: Claim })[] {
  return claims.flatMap((claim, index) => {
    const earlier = claims.slice(0, index).find(({ key }) => key === claim.key);
    return earlier === undefined ? [] : [{ ...claim, earlier }];
  });
}
