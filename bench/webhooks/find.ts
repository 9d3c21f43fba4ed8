// Finds webhooks in any JSON: one alone, a map of named ones, at any depth, or written as text inside of it (recorded calls hold
// their bodies so); and the bare `value` of a change, which is put into an envelope.
export interface Found {
  /** Where in the file: names of keys, joined by dots; empty: the file is it. */
  place: string;
  webhook: Record<string, unknown>;
}

const OBJECT = 'whatsapp_business_account';
/** Deeper than anything that somebody wrote, and far from where a call for each level would fail. */
const DEEPEST = 500;

/** Every webhook of a parsed file, in its order, whatever its entries look like. What stands inside of one belongs to it. */
export function webhooksIn(json: unknown, path: string[] = []): Found[] {
  if (typeof json === 'string') return webhooksInText(json, path);
  if (typeof json !== 'object' || json === null || path.length > DEEPEST) return [];
  const record: Record<string, unknown> = { ...json };
  if (record['object'] === OBJECT) {
    const { object, entry, ...others } = record;
    const webhook = 'entry' in record ? { object, entry } : { object };
    // Beside its own two keys a map may hold further ones.
    return [{ place: path.join('.'), webhook }, ...webhooksIn(others, path)];
  }
  if (isValue(record)) {
    const change = { field: fieldOf(record), value: record };
    return [{ place: path.join('.'), webhook: { object: OBJECT, entry: [{ id: '0', changes: [change] }] } }];
  }
  return Object.entries(json).flatMap(([key, child]) => webhooksIn(child, [...path, key]));
}

function webhooksInText(text: string, path: string[]): Found[] {
  if (!text.includes(OBJECT) || !/^\s*[[{]/.test(text)) return [];
  try {
    return webhooksIn(JSON.parse(text), path);
  } catch {
    return [];
  }
}

function isValue(record: Record<string, unknown>): boolean {
  return record['messaging_product'] === 'whatsapp' && typeof record['metadata'] === 'object';
}

function fieldOf(value: Record<string, unknown>): string {
  if ('message_echoes' in value) return 'smb_message_echoes';
  return 'calls' in value ? 'calls' : 'messages';
}

/** Ids of the numbers that webhooks are about. */
export function numbersIn(webhooks: readonly Found[]): Set<string> {
  const numbers = new Set<string>();
  const look = (json: unknown, depth: number): void => {
    if (typeof json !== 'object' || json === null || depth > DEEPEST) return;
    for (const [key, child] of Object.entries(json)) {
      const isId = typeof child === 'string' || typeof child === 'number';
      if (key === 'phone_number_id' && isId) numbers.add(String(child));
      look(child, depth + 1);
    }
  };
  look(webhooks, 0);
  return numbers;
}

/** How many messages and reports they hold, echoes among the messages. */
export function countsOf(webhooks: readonly Found[]): { messages: number; statuses: number } {
  const counts = { messages: 0, statuses: 0 };
  for (const value of valuesOf(webhooks)) {
    for (const key of ['messages', 'message_echoes']) counts.messages += lengthOf(value[key]);
    counts.statuses += lengthOf(value['statuses']);
  }
  return counts;
}

/** The platform's ids of the messages in them. */
export function idsIn(webhooks: readonly Found[]): string[] {
  const ids = valuesOf(webhooks)
    .flatMap((value) => [...listOf(value['messages']), ...listOf(value['message_echoes'])])
    .map((message) => memberOf(message, 'id'))
    .filter((id): id is string => typeof id === 'string');
  return [...new Set(ids)];
}

function valuesOf(webhooks: readonly Found[]): Record<string, unknown>[] {
  return webhooks
    .flatMap(({ webhook }) => listOf(webhook['entry']))
    .flatMap((entry) => listOf(memberOf(entry, 'changes')))
    .flatMap((change) => {
      const value = memberOf(change, 'value');
      return typeof value === 'object' && value !== null ? [{ ...value }] : [];
    });
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function lengthOf(value: unknown): number {
  return listOf(value).length;
}
