// What people switch at run time. `effects` is the kill switch (spec G4): while it is off nothing that changes anything is
// started, whatever was approved.
import { randomUUID } from 'node:crypto';
import { appendAudit } from '../functions.js';
import type { Scope } from './scope.js';
import { takeoverAt } from './takeover.js';

export type EffectsSwitch = 'on' | 'off';

/** Switches effects of the whole tenant off or on again, and audits it. Switched already: nothing changes. */
export async function switchEffects(
  scope: Scope,
  { to, by }: { to: EffectsSwitch; by: string },
): Promise<{ changed: boolean }> {
  // Nobody has to switch on what was never off.
  if ((await effectsState(scope)).value === to) return { changed: false };
  const changed = await scope.tx.$executeRaw`
    insert into switches (id, tenant_id, name, value, changed_by)
    values (${randomUUID()}::uuid, ${scope.tenantId}::uuid, 'effects', ${to}, ${by})
    on conflict (tenant_id, name, coalesce(scope_id, '00000000-0000-0000-0000-000000000000'))
      do update set value = excluded.value, changed_by = excluded.changed_by, changed_at = now()
      where switches.value <> excluded.value`;
  if (changed === 0) return { changed: false };
  await appendAudit(scope.tx, {
    stream: 'tenant',
    event: `effects_switched_${to}`,
    actor: by,
    facts: {},
  });
  return { changed: true };
}

export interface EffectsState {
  value: EffectsSwitch;
  /** Absent: nobody has ever touched it. */
  changedBy?: string;
  changedAt?: Date;
}

export async function effectsState(scope: Scope): Promise<EffectsState> {
  const row = await scope.tx.switch.findFirst({ where: { name: 'effects', scopeId: null } });
  if (!row) return { value: 'on' };
  return { value: row.value === 'off' ? 'off' : 'on', changedBy: row.changedBy, changedAt: row.changedAt };
}

/** What keeps an effect of a chat from starting now: the kill switch, or a person who has the chat. */
export type Hold = { kind: 'off' } | { kind: 'taken'; until?: Date };

export async function holdOf(scope: Scope, chatId: string): Promise<Hold | undefined> {
  const [row] = await scope.tx.$queryRaw<
    { effects: string | null; pausedAt: Date | null; pausedUntil: Date | null; pausedBy: string | null }[]
  >`
    select (select value from switches where name = 'effects' and scope_id is null) as effects,
      paused_at as "pausedAt", paused_until as "pausedUntil", paused_by as "pausedBy"
    from chats where id = ${chatId}::uuid`;
  if (!row) throw new Error('the chat of this step is not there');
  if (row.effects === 'off') return { kind: 'off' };
  const takeover = takeoverAt(row, new Date());
  return takeover && { kind: 'taken', ...(takeover.until && { until: takeover.until }) };
}
