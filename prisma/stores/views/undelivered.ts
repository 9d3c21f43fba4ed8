// What went out and did not, or perhaps not, arrive: for whoever has to find out, or to say it again themselves.
import { readableTogether, type Scope } from '../scope.js';
import { chatLabels, type ChatLabel } from './chat-labels.js';

export interface UndeliveredLine {
  outboxId: string;
  chatId: string;
  /** Whom it was for; undefined where nobody can read it any more. */
  chat: string | undefined;
  with: ChatLabel | undefined;
  kind: string;
  /** `unknown` can be settled by a person (`settleByPerson`); `failed` is over. */
  state: 'unknown' | 'failed';
  /** The platform's code, or a word of ours: `window_closed`, `no_answer`, `interrupted` … */
  code: string | undefined;
  text: string | undefined;
  turnId: string | undefined;
  plannedAt: Date;
  attemptedAt: Date | undefined;
}

/** Unknown ones first, then the newest. */
export async function listUndelivered(
  scope: Scope,
  { limit, only }: { limit: number; only?: 'unknown' | 'failed' | undefined },
): Promise<UndeliveredLine[]> {
  const rows = await scope.tx.outbox.findMany({
    where: { state: only ?? { in: ['unknown', 'failed'] } },
    orderBy: [{ state: 'desc' }, { plannedAt: 'desc' }, { id: 'asc' }],
    take: limit,
  });
  const labels = await chatLabels(
    scope,
    rows.map((row) => row.chatId),
  );
  const texts = await readableTogether(
    scope,
    rows.map((row) => ({
      table: 'outbox',
      column: 'content_cipher',
      rowId: row.id,
      keyId: row.keyId,
      cipher: row.contentCipher,
    })),
  );
  return rows.map((row, index): UndeliveredLine => ({
    outboxId: row.id,
    chatId: row.chatId,
    chat: labels.get(row.chatId)?.address,
    with: labels.get(row.chatId),
    kind: row.kind,
    state: row.state === 'unknown' ? 'unknown' : 'failed',
    code: row.code ?? undefined,
    text: texts[index],
    turnId: row.turnId ?? undefined,
    plannedAt: row.plannedAt,
    attemptedAt: row.sendingAt ?? undefined,
  }));
}
