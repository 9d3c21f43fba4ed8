// One chat as owners read it: everything that came and everything that was to go, with what became of it. What was never
// sent has no place in the chat's numbering; it stands after what had been said when it was written.
import { readableTogether, type Scope } from '../scope.js';

export type TranscriptLine = {
  /** The id of its row. */
  id: string;
  /** Where it stands: its own number in the chat, or that of what came before it. */
  place: number;
  at: Date;
  /** Undefined: erased. */
  text: string | undefined;
  /** The run behind it. */
  runId: string | undefined;
} & (Incoming | Outgoing);

export interface Incoming {
  direction: 'in';
  /** `customer`, `owner:<id>`, `operator:<id>`, `business` (somebody on our phone), `platform`. */
  speaker: string;
  /** As in `MESSAGE_KINDS`. */
  kind: string;
  state: string;
  reason: string | undefined;
  isEdited: boolean;
  isRevoked: boolean;
}

export interface Outgoing {
  direction: 'out';
  author: 'assistant' | 'human';
  /** What it comes from: a plan, an operator's answer, a notice … */
  origin: string;
  state: string;
  code: string | undefined;
  /** The highest status that the platform has reported. */
  delivery: string | undefined;
}

export interface Transcript {
  /** In the order of the chat. */
  lines: TranscriptLine[];
  /** Where older messages end: hand it in as `before`. Undefined: there are none. */
  older: number | undefined;
}

interface Row {
  id: string;
  place: number;
  at: Date;
  cipher: Uint8Array | null;
  keyId: string | null;
  runId: string | null;
  direction: 'in' | 'out';
  who: string;
  kind: string;
  state: string;
  reason: string | null;
  isEdited: boolean;
  isRevoked: boolean;
  delivery: string | null;
}

/** So many unsent ones of one page are shown; a chat has more only where sending fails again and again. */
const UNSENT = 50;

/**
 * The newest `limit` messages that stand before `before` (absent: of all), and what was not sent among them. Three round trips.
 */
export async function transcriptOf(
  scope: Scope,
  { chatId, before, limit }: { chatId: string; before?: number | undefined; limit: number },
): Promise<Transcript> {
  const end = before ?? 2_147_483_647;
  const numbered = await scope.tx.$queryRaw<Row[]>`
    select m.*, r.turn_id as "runId" from (
      (select i.id, i.sequence as place, i.received_at as at, i.content_cipher as cipher, i.key_id as "keyId", i.turn_id,
        'in' as direction, i.speaker as who, i.kind, i.state, i.reason, i.edited_at is not null as "isEdited",
        i.revoked_at is not null as "isRevoked", null as delivery
      from inbox i where i.chat_id = ${chatId}::uuid and i.sequence < ${end}::int order by i.sequence desc limit ${limit + 1}::int)
      union all
      (select o.id, o.sequence, coalesce(o.settled_at, o.planned_at), o.content_cipher, o.key_id, o.turn_id,
        'out', o.author, o.origin_kind, o.state, o.code, false, false, o.delivery_status
      from outbox o where o.chat_id = ${chatId}::uuid and o.sequence < ${end}::int order by o.sequence desc limit ${limit + 1}::int)
    ) m left join tool_runs r on r.turn_id = m.turn_id order by m.place desc limit ${limit + 1}::int`;
  const shown = numbered.slice(0, limit);
  const isMore = numbered.length > limit;
  const begin = isMore ? (shown.at(-1)?.place ?? 0) : 0;
  const unsent = await scope.tx.$queryRaw<Row[]>`
    select u.*, r.turn_id as "runId" from (
      select o.id, coalesce(greatest(
          (select i.sequence from inbox i where i.chat_id = o.chat_id and i.received_at <= o.planned_at
            order by i.sequence desc limit 1),
          (select s.sequence from outbox s where s.chat_id = o.chat_id and s.sequence is not null and s.settled_at <= o.planned_at
            order by s.sequence desc limit 1)), 0) as place,
        o.planned_at as at, o.content_cipher as cipher, o.key_id as "keyId", o.turn_id, 'out' as direction, o.author as who,
        o.origin_kind as kind, o.state, o.code as reason, false as "isEdited", false as "isRevoked", o.delivery_status as delivery
      from outbox o where o.chat_id = ${chatId}::uuid and o.sequence is null
    ) u left join tool_runs r on r.turn_id = u.turn_id
    where u.place >= ${begin}::int and u.place < ${end}::int order by u.place desc, u.at desc, u.id limit ${UNSENT}::int`;
  const rows = [
    ...shown.map((row) => ({ ...row, isUnsent: 0 })),
    ...unsent.map((row) => ({ ...row, isUnsent: 1 })),
  ].sort(
    (one, other) =>
      one.place - other.place || one.isUnsent - other.isUnsent || one.at.getTime() - other.at.getTime(),
  );
  const texts = await readableTogether(
    scope,
    rows.map((row) => ({
      table: row.direction === 'in' ? 'inbox' : 'outbox',
      column: 'content_cipher',
      rowId: row.id,
      keyId: row.keyId,
      cipher: row.cipher,
    })),
  );
  return {
    lines: rows.map((row, index) => lineOf(row, texts[index])),
    older: isMore ? begin : undefined,
  };
}

function lineOf(row: Row, text: string | undefined): TranscriptLine {
  const { id, place, at, state } = row;
  const line = { id, place, at, text, runId: row.runId ?? undefined };
  if (row.direction === 'in') {
    return {
      ...line,
      direction: 'in',
      speaker: row.who,
      kind: row.kind,
      state,
      reason: row.reason ?? undefined,
      isEdited: row.isEdited,
      isRevoked: row.isRevoked,
    };
  }
  return {
    ...line,
    direction: 'out',
    author: row.who === 'human' ? 'human' : 'assistant',
    origin: row.kind,
    state,
    code: row.reason ?? undefined,
    delivery: row.delivery ?? undefined,
  };
}
