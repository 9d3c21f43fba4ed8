// The configuration on one screen: what somebody wants to see after a start. Holds no secret, because configuration doesn't.
import { WEEKDAYS, type TimeWindow, type Weekday } from './calendar.js';
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
    ['channels', channelsInWords(tenant)],
    ...(tenant.operators.length === 0
      ? []
      : [['operators', tenant.operators.map(({ name }) => name).join(', ')] satisfies [string, string]]),
    ...(tenant.shift.enabled ? [['staffed', shiftInWords(tenant)] satisfies [string, string]] : []),
    ['limits', `${tenant.limits.modelCallsPerChatAndDay} model calls per chat and day`],
    ['version', tenant.hash.slice(0, 12)],
  ];
  const heading = `${business.name} (${tenant.slug}, ${business.timeZone})`;
  return [heading, ...rows.map(([label, value]) => `  ${label.padEnd(10)} ${value}`)].join('\n');
}

function channelsInWords({ channels }: TenantConfiguration): string {
  const numbers = channels.whatsapp.map(
    ({ displayNumber, profile }) => `WhatsApp ${displayNumber} (${profile})`,
  );
  return [`web (${channels.web.profile})`, ...numbers].join(', ');
}

function openingHoursInWords({ business }: TenantConfiguration): string {
  return weekInWords((day) => windowsInWords(business.openingHours[day]) || 'closed');
}

/** When people are at the desk; a day that isn't named is the assistant's. */
function shiftInWords({ shift }: TenantConfiguration): string {
  return weekInWords((day) => windowsInWords(shift.staffed[day] ?? []) || 'nobody');
}

function windowsInWords(windows: readonly TimeWindow[]): string {
  return windows.map(({ from, to }) => `${from}–${to}`).join(' ');
}

/** Neighbouring days with the same hours are said together: "monday–friday 09:00–18:00". */
function weekInWords(hoursOf: (day: Weekday) => string): string {
  const groups: { first: string; last: string; hours: string }[] = [];
  for (const day of WEEKDAYS) {
    const hours = hoursOf(day);
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
