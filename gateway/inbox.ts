// The one way in. Every channel hands its messages here in one form: sealed under the sender's key, stored in one round trip
// for each chat, and only then rung for. When it has resolved, the platform may be told that we have them.
import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import type { Logger } from '../config/logger.js';
import { accept, type AcceptedRow, type AcceptMessage, type AcceptOutcome } from '../prisma/accept.js';
import type { ContentCipher } from '../prisma/content.js';
import type { Database } from '../prisma/database.js';
import type { DataKey, WrappedKey } from '../prisma/keys.js';
import { applyEdits } from '../prisma/stores/edits.js';
import { createInScope } from '../prisma/stores/scope.js';
import { batchesOf, identitiesOf, type Batch } from './chat-batches.js';
import type { Conversations } from './conversations.js';
import type { Identity, IncomingMessage } from './incoming-message.js';
import { textProblem } from './message-text.js';
import { isDatabaseAway, isDataRefused, isLostRace, Problem, sqlStateOf } from './problems.js';

export interface AcceptedMessage {
  messageId: string;
  tenantId: string;
  chatId: string;
  sequence: number;
  /** `duplicate`: it was here already, with the same text. `stored`: kept and settled (see `Arrival`). */
  outcome: 'accepted' | 'stored' | 'duplicate';
}

/**
 * `echo`: words of our own that came back. `refused`: not stored, and the same again would not be either. `conflict`: its id
 * belongs to another message. `unknown_account`: nobody's, or switched off. Else a code of Postgres about the data.
 */
export type Intake =
  AcceptedMessage | { outcome: 'echo'; outboxId: string } | { outcome: 'refused'; code: string };

export interface Inbox {
  /** Throws a Problem: 400 or 413 for a text that can't be accepted, 409 for an id that was used for something else. */
  acceptMessage(message: IncomingMessage): Promise<AcceptedMessage>;
  /**
   * Any number of messages of any chats, each chat's in their order; one outcome for each. One that can't be stored takes no
   * other with it. Rejects where the database can't be reached: some may be stored then, and all may be handed over again.
   */
  acceptMessages(messages: readonly IncomingMessage[]): Promise<Intake[]>;
  /** Takes note of new addresses of somebody who is known. */
  noteIdentities(change: {
    channel: IncomingMessage['channel'];
    accountKey: string;
    identities: readonly [Identity, ...Identity[]];
    at: Date;
  }): Promise<'noted' | 'nobody'>;
}

/** What we believe can turn out wrong more than once (a first message raced, an erasure, a merge); more often is a fault of ours. */
const ATTEMPTS = 6;
const WARM_CHATS = 5_000;
/** Chats of one batch at once: more would take every connection from those who wait for an answer. */
const CHATS_AT_ONCE = 4;
/** Longer than a busy database takes, shorter than whoever hands us messages waits. */
const STORE_WITHIN_MS = 8_000;

interface Warm {
  dataKey: DataKey;
  wrappedKey: WrappedKey;
  /** Absent: not known yet. */
  chatId?: string | undefined;
}

export function createInbox(deps: {
  database: Database;
  content: ContentCipher;
  conversations: Conversations;
  logger: Logger;
}): Inbox {
  const { database, content, conversations, logger } = deps;
  const inScope = createInScope(database, content);
  const warm = createWarmChats(WARM_CHATS);

  /** Seals and sends until what we believe of key and chat is right. */
  async function store(batch: Batch, knownOnly?: { at: Date }): Promise<AcceptOutcome> {
    const [first] = batch;
    const name = `${first.channel}|${first.accountKey}|${first.chatAddress}`;
    let believed: Warm = warm.get(name) ?? content.keyring.createDataKey();
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const result = await send(batch, believed, knownOnly);
      if (result.outcome !== 'again') {
        if (result.outcome === 'done' && result.keyId === believed.wrappedKey.keyId) {
          warm.set(name, { ...believed, chatId: result.chatId });
        }
        return result;
      }
      const key = result.key && { dataKey: content.keyring.unwrap(result.key), wrappedKey: result.key };
      believed = { ...(key ?? content.keyring.createDataKey()), chatId: result.chatId };
    }
    throw new Error(`nothing fitted in ${ATTEMPTS} attempts`);
  }

  function send(
    batch: Batch,
    { dataKey, wrappedKey, chatId = randomUUID() }: Warm,
    knownOnly: { at: Date } | undefined,
  ): Promise<AcceptOutcome> {
    const [first] = batch;
    const sealed = (table: string, id: string, { kind, address }: Identity) => ({
      id,
      kind,
      hmac: content.hmacAddress(address),
      cipher: content.sealText(dataKey, { table, column: 'address_cipher', rowId: id, text: address }),
    });
    const identities = identitiesOf(batch);
    const chatIdentity = { kind: identities[0].kind, address: first.chatAddress };
    return accept(database.prisma, {
      channel: first.channel,
      accountKey: first.accountKey,
      contactId: randomUUID(),
      aliases: identities.map(({ isRetired, ...identity }) => ({
        ...sealed('contact_aliases', randomUUID(), identity),
        isRetired,
      })),
      chat: { ...sealed('chats', chatId, chatIdentity), chatKind: first.chatKind ?? 'direct' },
      key: wrappedKey,
      leaseMs: batch.find(({ leaseMs }) => leaseMs !== undefined)?.leaseMs,
      messages: knownOnly ? [] : batch.map((message) => sealMessage(dataKey, message)),
      knownOnly,
    });
  }

  function sealMessage(dataKey: DataKey, message: IncomingMessage): AcceptMessage {
    const messageId = randomUUID();
    const seal = (column: string, text: string) =>
      content.sealText(dataKey, { table: 'inbox', column, rowId: messageId, text });
    const { details } = message;
    return {
      messageId,
      externalId: message.externalId,
      kind: message.kind,
      arrival: message.arrival ?? 'turn',
      speaker: message.speaker ?? 'customer',
      content: seal('content_cipher', message.text),
      contentHmac: content.hmacContent(message.text),
      details: details && seal('details_cipher', JSON.stringify(details)),
      quotedExternalId: message.quotedExternalId,
      sentAt: message.sentAt,
      refs: message.refs,
      takesNothing: message.takesNothing,
      isForNoticesOnly: message.isForNoticesOnly,
      media: details?.media && { mimeType: details.media.mimeType, sha256: details.media.sha256 },
    };
  }

  /** Stores what belongs to one chat. What Postgres refuses as data is found by storing one by one. */
  async function acceptBatch(batch: Batch): Promise<Intake[]> {
    try {
      const result = await patiently(() => store(batch));
      if (result.outcome === 'unknown_account')
        return batch.map(() => ({ outcome: 'refused', code: 'unknown_account' }));
      if (result.outcome !== 'done') throw new Error(`accept answered ${result.outcome} to messages`);
      return await finish(batch, result);
    } catch (error) {
      if (!isDataRefused(error)) throw error;
      if (batch.length === 1) return [{ outcome: 'refused', code: sqlStateOf(error) ?? 'unstorable' }];
      const outcomes: Intake[] = [];
      for (const message of batch) outcomes.push(...(await acceptBatch([message])));
      return outcomes;
    }
  }

  /** The rows are committed: edits are applied, bells rung. Bells aren't waited for. */
  async function finish(
    batch: Batch,
    { tenantId, rows, isTaken, chatId }: AcceptOutcome & { outcome: 'done' },
  ): Promise<Intake[]> {
    const outcomes: Intake[] = [];
    const upTo = new Map<string, number>();
    for (const [place, row] of rows.entries()) {
      const message = batch[place];
      if (!message) throw new Error('accept answered more rows than there were messages');
      const intake = intakeOf(tenantId, row);
      outcomes.push(intake);
      if (!('messageId' in row) || !('messageId' in intake)) continue;
      const target = message.kind === 'edit' ? message.quotedExternalId : message.externalId;
      if ((message.kind === 'edit' || row.isEdited) && target !== undefined)
        await inScope(tenantId, (scope) => applyEdits(scope, { chatId: row.chatId, externalId: target }));
      logger.event('message.accepted', {
        tenantId,
        chatId: row.chatId,
        correlationId: row.messageId,
        sequence: row.sequence,
        outcome: row.outcome,
        arrival: row.arrival,
      });
      // Rung for a duplicate too: whoever sends again may have seen no answer.
      if (row.outcome !== 'stored') upTo.set(row.chatId, Math.max(row.sequence, upTo.get(row.chatId) ?? 0));
    }
    for (const [id, sequence] of upTo)
      void conversations.ring({ tenantId, chatId: id, upTo: sequence, channel: batch[0].channel });
    if (isTaken && chatId !== undefined) void conversations.deskChanged({ tenantId, chatId });
    return outcomes;
  }

  async function storeAll(messages: readonly IncomingMessage[]): Promise<Intake[]> {
    const outcomes: Intake[] = [];
    const limit = pLimit(CHATS_AT_ONCE);
    await Promise.all(
      batchesOf(messages).map((batches) =>
        limit(async () => {
          for (const { places, messages: batch } of batches) {
            const intakes = await acceptBatch(batch);
            for (const [index, intake] of intakes.entries()) outcomes[places[index] ?? -1] = intake;
          }
        }),
      ),
    );
    return outcomes;
  }

  const acceptMessages = (messages: readonly IncomingMessage[]): Promise<Intake[]> =>
    conversations.whileStoring(inTime(storeAll(messages)));

  return {
    acceptMessages,
    async acceptMessage(message) {
      const problem = textProblem(message.text);
      if (problem)
        throw new Problem(
          problem.status,
          problem.status === 413 ? 'too_large' : 'bad_request',
          problem.message,
        );
      const [intake] = await acceptMessages([message]);
      if (intake && 'messageId' in intake) return intake;
      if (intake?.outcome === 'refused' && intake.code === 'unknown_account')
        throw new Problem(
          404,
          'not_found',
          'This business has no such channel, or the channel is switched off.',
        );
      throw new Problem(
        409,
        'conflict',
        'The id was used before, for another message. Use a new one for each.',
      );
    },
    async noteIdentities({ identities, at, ...account }) {
      const [{ address }] = identities;
      const nothing = { externalId: '', kind: 'system', text: '' } as const;
      const result = await patiently(() =>
        store([{ ...account, chatAddress: address, identities, ...nothing }], { at }),
      );
      return result.outcome === 'done' ? 'noted' : 'nobody';
    },
  };
}

/**
 * A database that stands still keeps its connections open and says nothing. Whoever waits is told so; what was under way may
 * still be stored, and is found when it comes again.
 */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(standingStill()), STORE_WITHIN_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function standingStill(): Problem {
  return new Problem(
    503,
    'unavailable',
    'Our database does not answer just now. Send the message again under the same id: it is stored once.',
  );
}

/** Two who were in each other's way: one of them was sent off, and may simply come again. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 4; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !isLostRace(error) || isDatabaseAway(error)) throw error;
    }
  }
}

function intakeOf(tenantId: string, row: AcceptedRow): Intake {
  if (row.outcome === 'echo') return row;
  if (row.outcome === 'conflict') return { outcome: 'refused', code: 'conflict' };
  const { messageId, chatId, sequence, outcome } = row;
  return { messageId, tenantId, chatId, sequence, outcome };
}

/**
 * Keys and ids of chats in which somebody wrote lately, so that their next message takes one round trip. A stale one does no
 * harm: the database refuses it. The oldest entry goes first.
 */
function createWarmChats(size: number) {
  const chats = new Map<string, Warm>();
  return {
    get: (name: string): Warm | undefined => chats.get(name),
    set(name: string, chat: Warm): void {
      chats.delete(name);
      chats.set(name, chat);
      const oldest = chats.keys().next();
      if (chats.size > size && !oldest.done) chats.delete(oldest.value);
    },
  };
}
