// A provider that forgives nothing: every call is one more line in a file, written at once and whole, whatever key it bears.
// What was done is what stands there, also after the process that did it was killed.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { hashOfCall } from '../../../activities/call-hash.js';
import type { ProviderRegistry, ToolCall } from '../../../activities/tools/provider.js';
import type { TenantConfiguration } from '../../../config/configuration.js';

export const TOOL = 'reserve_slot';

const entrySchema = z.object({ stepId: z.string(), key: z.string(), argumentsHash: z.string() });
export type Entry = z.infer<typeof entrySchema>;

export function entriesOf(file: string): Entry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => entrySchema.parse(JSON.parse(line)));
}

/** `pass`: asked right before and right after an entry is made; a worker that is to be killed there never comes back. */
export function withLedger(
  providers: ProviderRegistry,
  { file, pass = () => undefined }: { file: string; pass?: (point: 'before' | 'after') => void },
): ProviderRegistry {
  const { bookings } = providers;
  if (!bookings) throw new Error('the shipped configuration books');
  const result = { status: 'reserved', when: 'then', summary: 'Booked for then.' };
  const reserveSlot = {
    async call({ stepId, idempotencyKey: key, arguments: values }: ToolCall) {
      pass('before');
      const entry: Entry = { stepId, key, argumentsHash: hashOfCall(TOOL, values) };
      appendFileSync(file, `${JSON.stringify(entry)}\n`);
      pass('after');
      return result;
    },
    didItHappen: async ({ idempotencyKey }: ToolCall) =>
      entriesOf(file).some(({ key }) => key === idempotencyKey) ? result : (false as const),
  };
  return { ...providers, bookings: { ...bookings, operations: { ...bookings.operations, reserveSlot } } };
}

/** Whoever writes this note has asked for something to which two owners have to agree. */
export const NOTE_FOR_TWO = 'for two';

/** Ada and Bo are asked; Cyd is an owner too, and isn't. */
export function ownersDecide(shipped: TenantConfiguration): TenantConfiguration {
  const owner = (id: string): TenantConfiguration['owners'][number] => ({
    id,
    name: id,
    addresses: { whatsapp: [] },
    groups: [],
  });
  const asked = { then: 'approve', approvers: ['ada', 'bo'], expiresAfterMinutes: 60 } as const;
  const rules: TenantConfiguration['policy']['rules'] = [
    {
      name: 'two-have-to-agree',
      when: { tools: [TOOL], arguments: [{ path: 'note', equals: NOTE_FOR_TWO }] },
      ...asked,
      approvers: [...asked.approvers],
      needed: 2,
    },
    { name: 'ada-or-bo', when: { tools: [TOOL] }, ...asked, approvers: [...asked.approvers] },
  ];
  return {
    ...shipped,
    owners: ['ada', 'bo', 'cyd'].map(owner),
    policy: { ...shipped.policy, rules: [...rules, ...shipped.policy.rules] },
  };
}
