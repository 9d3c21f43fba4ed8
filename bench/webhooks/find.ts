// Finds webhooks in any JSON: one alone, a map of named ones, at any depth; and the bare `value` of a change, which is put into
// an envelope.
export interface Found {
  /** Where in the file: names of keys, joined by dots; empty: the file is it. */
  place: string;
  webhook: Record<string, unknown>;
}

const OBJECT = 'whatsapp_business_account';

/** Every webhook of a parsed file, in its order. What stands inside of one belongs to it. */
export function webhooksIn(json: unknown, path: string[] = []): Found[] {
  if (typeof json !== 'object' || json === null) return [];
  const record: Record<string, unknown> = { ...json };
  if (record['object'] === OBJECT && Array.isArray(record['entry'])) {
    const { object, entry, ...others } = record;
    // Beside its own two keys a map may hold further ones.
    return [{ place: path.join('.'), webhook: { object, entry } }, ...webhooksIn(others, path)];
  }
  if (isValue(record)) {
    const change = { field: fieldOf(record), value: record };
    return [{ place: path.join('.'), webhook: { object: OBJECT, entry: [{ id: '0', changes: [change] }] } }];
  }
  return Object.entries(json).flatMap(([key, child]) => webhooksIn(child, [...path, key]));
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
  const look = (json: unknown): void => {
    if (typeof json !== 'object' || json === null) return;
    for (const [key, child] of Object.entries(json)) {
      if (key === 'phone_number_id' && typeof child === 'string') numbers.add(child);
      look(child);
    }
  };
  look(webhooks);
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
