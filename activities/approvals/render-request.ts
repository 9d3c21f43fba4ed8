// What an owner reads before they decide: rendered by the runtime from the rows, never a model's words. Hidden characters are
// made visible; what is too long for a message is cut, says so, and can be had in full.
import { DateTime } from 'luxon';
import { phrasesOf } from '../../config/phrases.js';
import type { ApprovalView } from '../../prisma/stores/views/approvals.js';
import type { UnknownStep } from '../../prisma/stores/views/unknown-steps.js';
import type { ToolDefinition } from '../../workflows/domain/tool.js';
import { CONTINUATION, onOneLine, withHiddenShown } from '../../workflows/domain/visible-text.js';
import { say } from '../sentences.js';
import type { Tenant } from '../tenants.js';
import { renderCall, valuesInWords } from '../validation/render-call.js';
import { settableNames } from './read-changes.js';

/** WhatsApp takes 1,024 characters beside buttons. */
const NOTICE_CHARACTERS = 1_000;
/** WhatsApp takes 4,096 characters in a message without them. */
const MESSAGE_CHARACTERS = 4_000;
/** Of a request in parts; a part has words of its own around it. */
const PART_CHARACTERS = 3_000;
/** Of the values of a request in a list; SHOW has them in full. */
const VALUES_CHARACTERS = 80;
/** Nobody has so long an address or name. */
const WHO_CHARACTERS = 120;

type Words = Pick<Tenant, 'configuration'>;

/** The request as a message with buttons; `spare` characters are left for what stands around it. */
export function requestText(tenant: Words, view: ApprovalView, spare = 0): string {
  const most = NOTICE_CHARACTERS - spare;
  const what = callText(tenant, view);
  const whole = filled(tenant, view, what);
  if (whole.length <= most) return whole;
  const cut = say(tenant, 'ownerCut', { ref: view.ref });
  const room = most - filled(tenant, view, `\n${cut}`).length;
  return filled(tenant, view, `${firstCharacters(what, room)}\n${cut}`);
}

function filled(tenant: Words, view: ApprovalView, what: string): string {
  const { ref, rule, needed, onExpiry, isTainted, replaces } = view;
  return say(tenant, 'ownerRequest', {
    ref,
    what,
    who: whoOf(view),
    rule,
    until: untilOf(tenant, view.expiresAt),
    silence: say(tenant, onExpiry === 'handOff' ? 'ownerSilenceHandsOff' : 'ownerSilenceRefuses'),
    tainted: isTainted ? say(tenant, 'ownerTainted') : undefined,
    quorum: needed > 1 ? say(tenant, 'ownerQuorum', { needed: String(needed) }) : undefined,
    replaces,
    change: editExample(tenant, view),
  });
}

/** The request in full, in as many parts as it takes; `part` counts from 1, and beyond the last one it is the last. */
export function requestPart(tenant: Words, view: ApprovalView, part: number): string {
  const text = callText(tenant, view);
  const whole = filled(tenant, view, text);
  if (whole.length <= MESSAGE_CHARACTERS) return whole;
  const parts = partsOf(text);
  const number = Math.min(Math.max(1, part), parts.length);
  const isLast = number === parts.length;
  const { ref } = view;
  const shown = say(tenant, 'ownerPart', {
    ref,
    part: String(number),
    parts: String(parts.length),
    text: parts[number - 1] ?? '',
    next: isLast ? undefined : `${wordFor(tenant, 'ownerShow')} ${ref} ${number + 1}`,
  });
  // Who asked, why and until when stand with the last part.
  return isLast ? `${shown}\n\n${filled(tenant, view, '…')}` : shown;
}

/** One line of a list: code, what, with which values, for whom, until when. */
export function requestLine(tenant: Words, view: ApprovalView): string {
  const { ref, tool: name, expiresAt } = view;
  const { tools, business } = tenant.configuration;
  const tool = tools.find((one) => one.name === name);
  const values = tool && view.arguments ? valuesInWords(tool, view.arguments, business) : '';
  const shown = values.length > VALUES_CHARACTERS ? `${firstCharacters(values, VALUES_CHARACTERS)}…` : values;
  const what = [toolInWords(name), shown].filter((part) => part !== '').join(' · ');
  return say(tenant, 'ownerListLine', { ref, what, who: whoOf(view), until: untilOf(tenant, expiresAt) });
}

/** An effect of which nobody knows whether it happened, as its owner hears of it. */
export function unknownText(tenant: Words, step: UnknownStep): string {
  const what = firstCharacters(callText(tenant, step), NOTICE_CHARACTERS);
  return say(tenant, 'ownerUnknownNotice', { ref: step.ref, what, who: whoOf(step) });
}

/** How a change of this request is typed, with the names that can be changed. */
export function editExample(tenant: Words, view: Pick<ApprovalView, 'ref' | 'tool'>): string | undefined {
  const tool = tenant.configuration.tools.find(({ name }) => name === view.tool);
  const names = tool ? settableNames(tool) : [];
  if (names.length === 0) return undefined;
  return `${wordFor(tenant, 'ownerEdit')} ${view.ref} ${names.map((name) => `${name}=…`).join(' ')}`;
}

/** The first word of a list of commands in the tenant's language, as it is shown to owners. */
export function wordFor(tenant: Words, list: 'ownerEdit' | 'ownerShow'): string {
  const { phrases, business } = tenant.configuration;
  const own = phrases[business.language];
  const [word = ''] = own?.lists[list] ?? phrasesOf(phrases, list);
  return word.toLocaleUpperCase(business.language);
}

export function toolInWords(name: string): string {
  return name.replaceAll('_', ' ');
}

/** The requester's address in full; a number as people dial it. */
export function whoOf({ chat, channel }: Pick<ApprovalView, 'chat' | 'channel'>): string {
  if (chat === undefined) return '—';
  const address = channel.startsWith('whatsapp') && /^\d+$/.test(chat) ? `+${chat}` : chat;
  return firstCharacters(onOneLine(address), WHO_CHARACTERS);
}

/** A moment in the business's time zone and language. */
export function untilOf({ configuration: { business } }: Words, at: Date): string {
  return DateTime.fromJSDate(at, { zone: business.timeZone })
    .setLocale(business.language)
    .toFormat('ccc d LLL HH:mm');
}

function callText({ configuration }: Words, view: Pick<ApprovalView, 'tool' | 'arguments'>): string {
  const tool: ToolDefinition | undefined = configuration.tools.find(({ name }) => name === view.tool);
  const lines = [toolInWords(view.tool)];
  // Another company's server would do it: which one stands in front of everything else.
  if (tool?.mcp) lines.push(onOneLine(tool.mcp.server));
  if (tool && view.arguments) lines.push(renderCall(tool, view.arguments, configuration.business));
  else lines.push(view.arguments ? withHiddenShown(JSON.stringify(view.arguments)) : '—');
  return lines.join('\n');
}

function partsOf(text: string): string[] {
  const parts: string[] = [];
  let left = [...text];
  while (left.length > 0) {
    // A part may begin within a value.
    parts.push((parts.length > 0 ? CONTINUATION : '') + left.slice(0, PART_CHARACTERS).join(''));
    left = left.slice(PART_CHARACTERS);
  }
  return parts.length > 0 ? parts : [''];
}

/** At most so many UTF-16 units, and no half of a character. */
function firstCharacters(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, Math.max(0, most));
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
