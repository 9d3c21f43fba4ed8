// Finds what somebody at the console has in hand: a number or an address, a name, a REF, or an id out of a log or of Temporal.
// Addresses are stored as keyed hashes, so a whole one is looked up everywhere; parts of one, and names, only among the chats
// that moved last, which are opened and read for it.
import { readableTogether, type Scope } from '../scope.js';
import { chatLabels, type ChatLabel } from './chat-labels.js';
import { listQuestions, type OperatorQuestion } from './operator-questions.js';
import { listRunCodes, type RunCodes } from './runs.js';

export interface FoundApproval {
  ref: string;
  tool: string;
  state: string;
  gate: string;
  askedAt: Date;
  runId: string;
}

export interface FoundMessage {
  messageId: string;
  direction: 'in' | 'out';
  chatId: string;
  with: ChatLabel | undefined;
  /** Undefined: it was never sent. */
  sequence: number | undefined;
  text: string | undefined;
  at: Date;
}

export interface Found {
  chats: ChatLabel[];
  approvals: FoundApproval[];
  questions: OperatorQuestion[];
  runs: RunCodes[];
  messages: FoundMessage[];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const REF = /^([A-Z])[-\s]*([A-Z0-9]{4})$/;
const WORKFLOW = /^(?:tool-run|conversation\/[^/]+)\//;
const AT_MOST = 20;

/** `recent`: how many chats are opened to look for names and parts of numbers. A bounded number of round trips. */
export async function search(
  scope: Scope,
  { text, recent }: { text: string; recent: number },
): Promise<Found> {
  const given = text.trim();
  const id = given.replace(WORKFLOW, '');
  const ids = UUID.test(id) ? await idsOf(scope, id) : { runs: [], chats: [], messages: [] };
  const ref = REF.exec(given.toUpperCase());
  const refs = ref ? await subjectsOfRef(scope, `${ref[1]}-${ref[2]}`) : undefined;
  const external = UUID.test(id) ? [] : await messagesOfPlatform(scope, given);
  const runIds = [...new Set([...ids.runs, ...(refs?.runs ?? [])])];
  const exact = await chatsOfAddress(scope, given);
  const known = [...ids.chats, ...exact];
  const alike = UUID.test(id) || ref?.[0].includes('-') ? [] : await chatsAlike(scope, given, recent);
  const labels = await chatLabels(scope, known);
  const chats = new Map(
    [...known.flatMap((chatId) => labels.get(chatId) ?? []), ...alike].map((one) => [one.chatId, one]),
  );
  return {
    chats: [...chats.values()].slice(0, AT_MOST),
    approvals: refs?.approvals ?? [],
    questions: refs?.questions ?? [],
    runs: runIds.length === 0 ? [] : await listRunCodes(scope.tx, { runIds, limit: AT_MOST }),
    messages: await openMessages(scope, [...ids.messages, ...external]),
  };
}

interface MessageRow {
  messageId: string;
  direction: 'in' | 'out';
  chatId: string;
  sequence: number | null;
  cipher: Uint8Array | null;
  keyId: string | null;
  at: Date;
}

/** Ids are random, so whatever has it is meant. A turn has the id of its first message: both are shown. */
async function idsOf(
  scope: Scope,
  id: string,
): Promise<{ runs: string[]; chats: string[]; messages: MessageRow[] }> {
  const rows = await scope.tx.$queryRaw<{ runId: string | null; chatId: string | null }[]>`
    select r.turn_id as "runId", null::uuid as "chatId" from tool_runs r where r.turn_id = ${id}::uuid
    union all select s.turn_id, null from steps s where s.id = ${id}::uuid
    union all select a.turn_id, null from approvals a where a.id = ${id}::uuid
    union all select o.turn_id, o.chat_id from operator_requests o where o.id = ${id}::uuid
    union all select null, c.id from chats c where c.id = ${id}::uuid`;
  const messages = await scope.tx.$queryRaw<MessageRow[]>`
    select i.id as "messageId", 'in' as direction, i.chat_id as "chatId", i.sequence, i.content_cipher as cipher,
      i.key_id as "keyId", i.received_at as at
    from inbox i where i.id = ${id}::uuid
    union all
    select o.id, 'out', o.chat_id, o.sequence, o.content_cipher, o.key_id, coalesce(o.settled_at, o.planned_at)
    from outbox o where o.id = ${id}::uuid`;
  return {
    runs: rows.flatMap(({ runId }) => runId ?? []),
    chats: rows.flatMap(({ chatId }) => chatId ?? []),
    messages,
  };
}

/** By the ids that channels give messages. */
function messagesOfPlatform(scope: Scope, externalId: string): Promise<MessageRow[]> {
  return scope.tx.$queryRaw<MessageRow[]>`
    select i.id as "messageId", 'in' as direction, i.chat_id as "chatId", i.sequence, i.content_cipher as cipher,
      i.key_id as "keyId", i.received_at as at
    from channel_accounts a join inbox i on i.tenant_id = a.tenant_id and i.channel = a.channel and i.account_id = a.id
      and i.external_id = ${externalId}
    union all
    select o.id, 'out', o.chat_id, o.sequence, o.content_cipher, o.key_id, coalesce(o.settled_at, o.planned_at)
    from outbox o where o.tenant_id = ${scope.tenantId}::uuid and o.external_id = ${externalId}
    limit ${AT_MOST}::int`;
}

async function openMessages(scope: Scope, rows: MessageRow[]): Promise<FoundMessage[]> {
  const labels = await chatLabels(
    scope,
    rows.map(({ chatId }) => chatId),
  );
  const texts = await readableTogether(
    scope,
    rows.map((row) => ({
      table: row.direction === 'in' ? 'inbox' : 'outbox',
      column: 'content_cipher',
      rowId: row.messageId,
      keyId: row.keyId,
      cipher: row.cipher,
    })),
  );
  return rows.map(({ messageId, direction, chatId, sequence, at }, index) => ({
    messageId,
    direction,
    chatId,
    with: labels.get(chatId),
    sequence: sequence ?? undefined,
    text: texts[index],
    at,
  }));
}

/** A code comes back into use after a while: all that it ever named, the newest first. */
async function subjectsOfRef(
  scope: Scope,
  ref: string,
): Promise<{ approvals: FoundApproval[]; questions: OperatorQuestion[]; runs: string[] }> {
  const approvals = await scope.tx.approval.findMany({
    where: { ref },
    orderBy: { askedAt: 'desc' },
    take: AT_MOST,
    select: { ref: true, tool: true, state: true, gate: true, askedAt: true, turnId: true },
  });
  const steps = await scope.tx.step.findMany({ where: { ref }, take: AT_MOST, select: { turnId: true } });
  return {
    approvals: approvals.map(({ turnId, ...row }) => ({ ...row, runId: turnId })),
    questions: await listQuestions(scope, { filter: { ref }, limit: AT_MOST }),
    runs: steps.map(({ turnId }) => turnId),
  };
}

/** By the whole address, as it was given or only its digits: WhatsApp writes numbers without signs. */
async function chatsOfAddress(scope: Scope, given: string): Promise<string[]> {
  const digits = given.replace(/\D/g, '');
  const spellings = [given, ...(digits.length >= 6 ? [digits] : [])];
  const hmacs = spellings.map((spelling) => scope.content.hmacAddress(spelling));
  const rows = await scope.tx.$queryRaw<{ chatId: string }[]>`
    select c.id as "chatId" from channel_accounts a join chats c on c.tenant_id = a.tenant_id and c.account_id = a.id
      and c.address_hmac = any (${hmacs}::bytea[])
    union
    select c.id from (values ('phone'), ('bsuid'), ('parent'), ('group'), ('web')) as k(kind)
      cross join (select distinct tenant_id, channel from channel_accounts) h
      join contact_aliases l on l.tenant_id = h.tenant_id and l.channel = h.channel and l.kind = k.kind
        and l.address_hmac = any (${hmacs}::bytea[])
      join chats c on c.contact_id = l.contact_id
    limit ${AT_MOST}::int`;
  return rows.map(({ chatId }) => chatId);
}

/** Parts of names and of addresses. */
async function chatsAlike(scope: Scope, given: string, recent: number): Promise<ChatLabel[]> {
  const wanted = plain(asShown(given));
  const digits = given.replace(/\D/g, '');
  if (wanted.length < 2) return [];
  const rows = await scope.tx.$queryRaw<{ id: string }[]>`
    select id from chats order by coalesce(customer_wrote_at, created_at) desc, id desc limit ${recent}::int`;
  const labels = await chatLabels(
    scope,
    rows.map(({ id }) => id),
  );
  return rows
    .flatMap(({ id }) => labels.get(id) ?? [])
    .filter(({ name, address }) => {
      if (name !== undefined && plain(name).includes(wanted)) return true;
      if (address === undefined) return false;
      return plain(address).includes(wanted) || (digits.length >= 3 && address.includes(digits));
    });
}

/** The console calls nameless chats so, with the beginning of their address. */
function asShown(given: string): string {
  return given.replace(/^web visitor\s+/i, '').replace(/…$/, '');
}

/** As people type it: without accents, in small letters. */
function plain(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ı', 'i');
}
