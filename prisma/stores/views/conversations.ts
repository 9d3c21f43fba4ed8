// Chats as owners see them: with whom, who has each of them now, what was said last, and what nobody has settled yet.
import { RESOLVED_BY, type ResolvedBy } from '../../../workflows/domain/session.js';
import { readableTogether, type Scope } from '../scope.js';
import { takeoverAt, type Takeover } from '../takeover.js';
import { windowAt } from '../windows.js';
import { chatLabels, type ChatLabel } from './chat-labels.js';

/** `taken`: a person has it. `asked`: an operator is being asked. `open`: a message in it has no outcome yet. */
export const CONVERSATION_FILTERS = ['all', 'taken', 'asked', 'open'] as const;
export type ConversationFilter = (typeof CONVERSATION_FILTERS)[number];

/** Where a list goes on: the last chat of the page before, as it stood then. */
export interface ConversationCursor {
  /** ISO 8601, to the microsecond. */
  at: string;
  chatId: string;
}

/** The session that is open; absent: none is. */
export type SessionState = { state: 'waiting'; graceUntil: Date } | { state: 'active' };

export interface ConversationLine extends ChatLabel {
  takeover: Takeover | undefined;
  session: SessionState | undefined;
  /** Until when an operator may answer; undefined: nobody is being asked. */
  askedUntil: Date | undefined;
  /** Messages without an outcome. */
  open: number;
  /** Messages of ours that may or may not have arrived. */
  unknown: number;
  last: { from: string; kind: string; text: string | undefined; at: Date } | undefined;
  cursor: ConversationCursor;
}

interface LineRow {
  chatId: string;
  movedAt: string;
  pausedAt: Date | null;
  pausedUntil: Date | null;
  pausedBy: string | null;
  open: number;
  unknown: number;
  sessionState: string | null;
  graceUntil: Date | null;
  askedUntil: Date | null;
  lastTable: string | null;
  lastId: string | null;
  lastFrom: string | null;
  lastKind: string | null;
  lastAt: Date | null;
  lastCipher: Uint8Array | null;
  lastKeyId: string | null;
}

/** Whose customer wrote last comes first. Three round trips. */
export async function listConversations(
  scope: Scope,
  {
    filter = 'all',
    before,
    limit,
  }: { filter?: ConversationFilter; before?: ConversationCursor | undefined; limit: number },
): Promise<ConversationLine[]> {
  const rows = await scope.tx.$queryRaw<LineRow[]>`
    with page as (
      select c.*, coalesce(c.customer_wrote_at, c.created_at) as moved_at from chats c
      where (${before?.at ?? null}::timestamptz is null
          or (coalesce(c.customer_wrote_at, c.created_at), c.id) < (${before?.at ?? null}::timestamptz, ${before?.chatId ?? null}::uuid))
        and case ${filter}
          when 'taken' then c.paused_at is not null and (c.paused_until is null or c.paused_until > now())
          when 'asked' then c.id in (select r.chat_id from operator_requests r where r.state = 'open' and r.expires_at > now())
          when 'open' then c.id in (select i.chat_id from inbox i where i.state = 'accepted')
          else true end
      order by moved_at desc, c.id desc limit ${limit}::int)
    select p.id as "chatId", to_char(p.moved_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "movedAt",
      p.paused_at as "pausedAt", p.paused_until as "pausedUntil", p.paused_by as "pausedBy", coalesce(o.open, 0)::int as open,
      coalesce(u.unknown, 0)::int as unknown,
      s.state as "sessionState", s.grace_until as "graceUntil", q.until as "askedUntil",
      l.source as "lastTable", l.id as "lastId", l.speaker as "lastFrom", l.kind as "lastKind", l.at as "lastAt",
      l.content_cipher as "lastCipher", l.key_id as "lastKeyId"
    from page p
    left join (select i.chat_id, count(*) as open from inbox i where i.state = 'accepted' group by i.chat_id) o on o.chat_id = p.id
    left join (select x.chat_id, count(*) as unknown from outbox x where x.state = 'unknown' group by x.chat_id) u on u.chat_id = p.id
    left join chat_sessions s on s.chat_id = p.id and s.tenant_id = p.tenant_id and s.state <> 'resolved'
    left join lateral (select max(r.expires_at) as until from operator_requests r
      where r.chat_id = p.id and r.state = 'open' and r.expires_at > now()) q on true
    left join lateral (select * from (
      (select 'inbox' as source, i.id, i.speaker, i.kind, i.received_at as at, i.content_cipher, i.key_id, i.sequence
        from inbox i where i.chat_id = p.id order by i.sequence desc limit 1)
      union all
      (select 'outbox', x.id, x.author, 'text', x.settled_at, x.content_cipher, x.key_id, x.sequence
        from outbox x where x.chat_id = p.id and x.sequence is not null order by x.sequence desc limit 1)) m
      order by m.sequence desc limit 1) l on true
    order by p.moved_at desc, p.id desc`;
  const labels = await chatLabels(
    scope,
    rows.map(({ chatId }) => chatId),
  );
  const texts = await readableTogether(
    scope,
    rows.map((row) => ({
      table: row.lastTable ?? '',
      column: 'content_cipher',
      rowId: row.lastId ?? '',
      keyId: row.lastKeyId,
      cipher: row.lastCipher,
    })),
  );
  const now = new Date();
  return rows.flatMap((row, index): ConversationLine[] => {
    const label = labels.get(row.chatId);
    if (!label) return [];
    return [
      {
        ...label,
        takeover: takeoverAt(row, now),
        session: sessionOf(row),
        askedUntil: row.askedUntil ?? undefined,
        open: row.open,
        unknown: row.unknown,
        last:
          row.lastFrom === null || row.lastAt === null
            ? undefined
            : { from: row.lastFrom, kind: row.lastKind ?? 'text', text: texts[index], at: row.lastAt },
        cursor: { at: row.movedAt, chatId: row.chatId },
      },
    ];
  });
}

function sessionOf({
  sessionState,
  graceUntil,
}: Pick<LineRow, 'sessionState' | 'graceUntil'>): SessionState | undefined {
  if (sessionState === 'waiting' && graceUntil) return { state: 'waiting', graceUntil };
  return sessionState === 'active' ? { state: 'active' } : undefined;
}

export interface Conversation extends ChatLabel {
  takeover: Takeover | undefined;
  /** The newest one. `resolved`: it is over. Undefined: the chat never had one. */
  session: SessionState | { state: 'resolved'; by: ResolvedBy; at: Date } | undefined;
  /** Until when free text may be sent; `closesAt` is absent where the channel has no such window, or nobody has written. */
  window: { isOpen: boolean; closesAt?: Date };
  isBlocked: boolean;
  open: number;
}

/** Undefined: this tenant has no such chat. */
export async function conversationOf(scope: Scope, chatId: string): Promise<Conversation | undefined> {
  const chat = await scope.tx.chat.findUnique({
    where: { id: chatId },
    include: { account: { select: { channel: true } }, contact: { select: { blockedAt: true } } },
  });
  const label = chat && (await chatLabels(scope, [chatId])).get(chatId);
  if (!label) return undefined;
  const session = await scope.tx.chatSession.findFirst({ where: { chatId }, orderBy: { openedAt: 'desc' } });
  const now = new Date();
  return {
    ...label,
    takeover: takeoverAt(chat, now),
    session: session
      ? session.state === 'resolved'
        ? { state: 'resolved', by: resolvedBy(session.resolvedBy), at: session.resolvedAt ?? now }
        : sessionOf({ sessionState: session.state, graceUntil: session.graceUntil })
      : undefined,
    window: windowAt({ channel: chat.account.channel, customerWroteAt: chat.customerWroteAt }, now),
    isBlocked: chat.contact.blockedAt !== null,
    open: await scope.tx.inbox.count({ where: { chatId, state: 'accepted' } }),
  };
}

function resolvedBy(stored: string | null): ResolvedBy {
  return RESOLVED_BY.find((one) => one === stored) ?? 'manual';
}
