// A chat that a person has taken over (spec G5): while they have it, the assistant is silent. The row decides; whoever
// changes it tells the chat's conversation afterwards, by `deskChanged`.
import { appendAudit } from '../functions.js';
import { notify, type Scope } from './scope.js';

export interface Takeover {
  /** The speaker who has the chat: `owner:<id>`, `operator:<id>`, `business` (somebody on our phone). */
  by: string;
  since: Date;
  /** When it returns by itself. Absent: it has to be released. */
  until?: Date;
}

interface Row {
  pausedAt: Date | null;
  pausedUntil: Date | null;
  pausedBy: string | null;
}

/** What a row says at this moment: a lease whose time is over is none, also where nobody has cleared it yet. */
export function takeoverAt({ pausedAt, pausedUntil, pausedBy }: Row, now: Date): Takeover | undefined {
  if (pausedAt === null || (pausedUntil !== null && pausedUntil <= now)) return undefined;
  return { by: pausedBy ?? 'business', since: pausedAt, ...(pausedUntil && { until: pausedUntil }) };
}

/** Who has the chat now, if anybody. */
export async function takeoverOf(scope: Scope, chatId: string): Promise<Takeover | undefined> {
  return takeoverAt(await readRow(scope, chatId), new Date());
}

export async function isTakenOver(scope: Scope, chatId: string): Promise<boolean> {
  return (await takeoverOf(scope, chatId)) !== undefined;
}

/**
 * Hands the chat to a person until `until`, or until it is released where that is absent. Taken again it lasts longer, never
 * shorter. A new takeover, or one by somebody else, is audited. Locks the chat.
 */
export async function takeChat(
  scope: Scope,
  { chatId, by, until }: { chatId: string; by: string; until?: Date | undefined },
): Promise<{ outcome: 'taken' | 'extended'; takeover: Takeover }> {
  const now = new Date();
  const held = takeoverAt(await readRow(scope, chatId, 'for update'), now);
  const takeover: Takeover = { by, since: held?.since ?? now, ...laterOf(held, until) };
  await scope.tx.chat.update({
    where: { id: chatId },
    data: { pausedAt: takeover.since, pausedUntil: takeover.until ?? null, pausedBy: by },
  });
  await notify(scope, { chatId, what: 'run' });
  if (held?.by === by) return { outcome: 'extended', takeover };
  await appendAudit(scope.tx, {
    stream: chatId,
    event: 'chat_taken',
    subjectId: chatId,
    actor: by,
    facts: takeover.until ? { until: takeover.until.toISOString() } : {},
  });
  return { outcome: 'taken', takeover };
}

function laterOf(held: Takeover | undefined, until: Date | undefined): { until?: Date } {
  if (until === undefined || (held && held.until === undefined)) return {};
  return { until: held?.until && held.until > until ? held.until : until };
}

/** Gives the chat back to the assistant, and audits it. `by`: who did, or `clock` where its time was over. Locks the chat. */
export async function releaseChat(
  scope: Scope,
  { chatId, by }: { chatId: string; by: string },
): Promise<{ outcome: 'released' | 'not_taken' }> {
  const row = await readRow(scope, chatId, 'for update');
  if (row.pausedAt === null) return { outcome: 'not_taken' };
  await scope.tx.chat.update({
    where: { id: chatId },
    data: { pausedAt: null, pausedUntil: null, pausedBy: null },
  });
  await notify(scope, { chatId, what: 'run' });
  await appendAudit(scope.tx, {
    stream: chatId,
    event: 'chat_released',
    subjectId: chatId,
    actor: by,
    facts: { takenBy: row.pausedBy ?? 'business' },
  });
  return { outcome: 'released' };
}

async function readRow(scope: Scope, chatId: string, lock?: 'for update'): Promise<Row> {
  // All chats of their reader on this account: the lease is one (the trigger one_lease), and each has it in its row.
  if (lock) {
    await scope.tx.$queryRaw`
      select 1 from chats c join chats own on own.contact_id = c.contact_id and own.account_id = c.account_id
      where own.id = ${chatId}::uuid order by c.id for update of c`;
  }
  return scope.tx.chat.findUniqueOrThrow({
    where: { id: chatId },
    select: { pausedAt: true, pausedUntil: true, pausedBy: true },
  });
}
