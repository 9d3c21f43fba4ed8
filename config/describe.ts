// The configuration on one screen: what somebody wants to see after a start. Holds no secret, because configuration doesn't.
import { WEEKDAYS } from './calendar.js';
import type { Configuration, PolicyRule, TenantConfiguration } from './configuration.js';

/** A summary in words, one block per tenant. */
export function describeConfiguration({ tenants }: Configuration): string {
  return [...tenants.values()].map(describeTenant).join('\n\n');
}

function describeTenant(tenant: TenantConfiguration): string {
  const { business, assistant, models, policy, owners } = tenant;
  const rows: [string, string][] = [
    ['open', openingHoursInWords(tenant)],
    ['languages', `${assistant.languages.join(', ')} (first: ${business.language})`],
    [
      'models',
      `${models.chat.name} (chat), ${models.planner.name} (plans), ${models.summarizer.name} (summaries)`,
    ],
    ['tools', toolsInWords(tenant)],
    ['policy', policy.rules.map(ruleInWords).join('; ')],
    [
      'owners',
      `${owners.map(({ name }) => name).join(', ')}, by ${policy.surfaces.join(', ')}, within ${policy.approvalMinutes} min`,
    ],
    ['limits', `${tenant.limits.modelCallsPerChatAndDay} model calls per chat and day`],
    ['version', tenant.hash.slice(0, 12)],
  ];
  const heading = `${business.name} (${tenant.slug}, ${business.timeZone})`;
  return [heading, ...rows.map(([label, value]) => `  ${label.padEnd(10)} ${value}`)].join('\n');
}

/** Neighbouring days with the same hours are said together: "monday–friday 09:00–18:00". */
function openingHoursInWords({ business }: TenantConfiguration): string {
  const groups: { first: string; last: string; hours: string }[] = [];
  for (const day of WEEKDAYS) {
    const hours = business.openingHours[day].map(({ from, to }) => `${from}–${to}`).join(' ') || 'closed';
    const current = groups.at(-1);
    if (current?.hours === hours) current.last = day;
    else groups.push({ first: day, last: day, hours });
  }
  return groups
    .map(({ first, last, hours }) => `${first === last ? first : `${first}–${last}`} ${hours}`)
    .join(', ');
}

function toolsInWords({ tools }: TenantConfiguration): string {
  if (tools.length === 0) return 'none';
  return tools.map(({ name, effect, enabled }) => `${name} (${enabled ? effect : 'disabled'})`).join(', ');
}

function ruleInWords({ name, then }: PolicyRule): string {
  return `${name} → ${then}`;
}
