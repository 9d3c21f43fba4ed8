// What was said in one chat, both sides, in the order both saw it. No other chat is ever read.
import { Prisma } from '../generated/client.js';
import { REQUEST_ORIGINS } from './operator-requests.js';
import { NOTICE_ORIGINS } from './owner-chats.js';
import { contentOf, inOrder, type Scope } from './scope.js';

/**
 * What the runtime shows to owners and operators about other chats. It holds words of customers, and was never said by the
 * assistant: no model may read it as its own.
 */
const ABOUT_OTHERS = [
  ...Object.values(NOTICE_ORIGINS),
  'unknown_notice',
  'hand_off_notice',
  REQUEST_ORIGINS.question,
  REQUEST_ORIGINS.reminder,
  REQUEST_ORIGINS.tooLate,
];

/** A long message was cut: its parts are what the first of them is. */
const OUTBOX = Prisma.sql`from outbox o left join outbox f on o.origin_kind = 'part' and f.id = o.origin_id
  left join turns t on t.id = o.turn_id`;

/** Told unasked, or the answer to a command. */
const IS_NOTICE = Prisma.sql`(coalesce(f.origin_kind, o.origin_kind) in (${Prisma.join(ABOUT_OTHERS)})
  or (coalesce(f.origin_kind, o.origin_kind) = 'gate' and t.gate in ('owner_command', 'operator_reply')))`;

export interface Utterance {
  sequence: number;
  /** `notice`: shown by the runtime, with words of another chat in it. Only ever quoted. */
  author: 'customer' | 'assistant' | 'human' | 'notice';
  text: string;
  isTainted: boolean;
  externalId?: string;
}

/** The newest `limit` messages before a sequence, oldest first, without those of the turn that is being answered. */
export async function recentUtterances(
  scope: Scope,
  { chatId, turnId, before, limit }: { chatId: string; turnId: string; before: number; limit: number },
): Promise<Utterance[]> {
  const newestFirst = { orderBy: { sequence: 'desc' }, take: limit } as const;
  const came = await scope.tx.inbox.findMany({
    // What a platform reports was said by nobody, and what was taken back is not to be remembered.
    where: {
      chatId,
      sequence: { lt: before },
      kind: 'text',
      speaker: { not: 'platform' },
      revokedAt: null,
      NOT: { turnId },
    },
    ...newestFirst,
  });
  const own = await scope.tx.$queryRaw<{ id: string }[]>`
    select o.id ${OUTBOX} where o.chat_id = ${chatId}::uuid and o.state = 'sent' and o.sequence < ${before}
      and not ${IS_NOTICE} order by o.sequence desc limit ${limit}`;
  const went = await scope.tx.outbox.findMany({ where: { id: { in: own.map(({ id }) => id) } } });
  const received = await inOrder(came, async (row): Promise<Utterance> => ({
    sequence: row.sequence,
    author: authorOf(row),
    text: (await contentOf(scope, 'inbox', row)) ?? '',
    isTainted: false,
    externalId: row.externalId,
  }));
  const fromUs = await inOrder(went, async (row): Promise<Utterance> => ({
    sequence: row.sequence ?? 0,
    author: row.author === 'human' ? 'human' : 'assistant',
    text: (await contentOf(scope, 'outbox', row)) ?? '',
    isTainted: row.tainted,
    ...(row.externalId !== null && { externalId: row.externalId }),
  }));
  // What was erased is not part of the memory any more.
  const all = [...received, ...fromUs].filter(({ text }) => text !== '');
  return all.sort((one, other) => one.sequence - other.sequence).slice(-limit);
}

/** The message somebody quoted: their own, or one of ours (quoted by its outbox id or the platform's id). */
export async function quotedUtterance(
  scope: Scope,
  { chatId, externalId }: { chatId: string; externalId: string },
): Promise<Utterance | undefined> {
  const own = await scope.tx.inbox.findFirst({ where: { chatId, externalId } });
  if (own) {
    const text = (await contentOf(scope, 'inbox', own)) ?? '';
    return { sequence: own.sequence, author: authorOf(own), text, isTainted: false, externalId };
  }
  const isRowId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(externalId);
  const ours = await scope.tx.outbox.findFirst({
    where: { chatId, state: 'sent', OR: [{ externalId }, ...(isRowId ? [{ id: externalId }] : [])] },
  });
  if (!ours) return undefined;
  const text = (await contentOf(scope, 'outbox', ours)) ?? '';
  const notice = await scope.tx.$queryRaw<unknown[]>`
    select 1 ${OUTBOX} where o.id = ${ours.id}::uuid and ${IS_NOTICE}`;
  const isNotice = notice.length > 0;
  const author = isNotice ? 'notice' : ours.author === 'human' ? 'human' : 'assistant';
  // Whoever quotes it brings words into the prompt that somebody else has written.
  return { sequence: ours.sequence ?? 0, author, text, isTainted: ours.tainted || isNotice, externalId };
}

/** What somebody of the business has written from their phone came in as well, and was not said by the customer. */
function authorOf({ speaker }: { speaker: string }): Utterance['author'] {
  return speaker === 'business' ? 'human' : 'customer';
}
