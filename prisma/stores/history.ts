// What was said in one chat, both sides, in the order both saw it. No other chat is ever read.
import { inOrder, readable, type Scope } from './scope.js';

export interface Utterance {
  sequence: number;
  author: 'customer' | 'assistant' | 'human';
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
  const went = await scope.tx.outbox.findMany({
    where: { chatId, state: 'sent', sequence: { lt: before } },
    ...newestFirst,
  });
  const received = await inOrder(came, async (row): Promise<Utterance> => ({
    sequence: row.sequence,
    author: authorOf(row),
    text: (await open(scope, 'inbox', row)) ?? '',
    isTainted: false,
    externalId: row.externalId,
  }));
  const fromUs = await inOrder(went, async (row): Promise<Utterance> => ({
    sequence: row.sequence ?? 0,
    author: row.author === 'human' ? 'human' : 'assistant',
    text: (await open(scope, 'outbox', row)) ?? '',
    isTainted: row.tainted,
    ...(row.externalId !== null && { externalId: row.externalId }),
  }));
  // What was erased is not part of the memory any more.
  const all = [...received, ...fromUs].filter(({ text }) => text !== '');
  return all.sort((one, other) => one.sequence - other.sequence).slice(-limit);
}

/** The message a customer quoted: their own, or one of ours (quoted by its outbox id or the platform's id). */
export async function quotedUtterance(
  scope: Scope,
  { chatId, externalId }: { chatId: string; externalId: string },
): Promise<Utterance | undefined> {
  const own = await scope.tx.inbox.findFirst({ where: { chatId, externalId } });
  if (own) {
    const text = (await open(scope, 'inbox', own)) ?? '';
    return { sequence: own.sequence, author: authorOf(own), text, isTainted: false, externalId };
  }
  const isRowId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(externalId);
  const ours = await scope.tx.outbox.findFirst({
    where: { chatId, state: 'sent', OR: [{ externalId }, ...(isRowId ? [{ id: externalId }] : [])] },
  });
  if (!ours) return undefined;
  const text = (await open(scope, 'outbox', ours)) ?? '';
  const author = ours.author === 'human' ? 'human' : 'assistant';
  return { sequence: ours.sequence ?? 0, author, text, isTainted: ours.tainted, externalId };
}

/** What somebody of the business has written from their phone came in as well, and was not said by the customer. */
function authorOf({ speaker }: { speaker: string }): Utterance['author'] {
  return speaker === 'business' ? 'human' : 'customer';
}

function open(
  scope: Scope,
  table: 'inbox' | 'outbox',
  row: { id: string; keyId: string | null; contentCipher: Uint8Array | null },
): Promise<string | undefined> {
  return readable(scope, {
    table,
    column: 'content_cipher',
    rowId: row.id,
    keyId: row.keyId,
    cipher: row.contentCipher,
  });
}
