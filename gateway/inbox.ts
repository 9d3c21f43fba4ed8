// The one way in. Every channel hands its messages to `acceptMessage`: checked, encrypted under the sender's key, stored
// in one round trip, and only then rung for. When it has resolved, the platform may be told that we have the message.
import { randomUUID } from 'node:crypto';
import type { Logger } from '../config/logger.js';
import type { ContentCipher } from '../prisma/content.js';
import type { Database } from '../prisma/database.js';
import { accept, type AcceptOutcome } from '../prisma/functions.js';
import type { DataKey, WrappedKey } from '../prisma/keys.js';
import type { Conversations } from './conversations.js';
import { textProblem } from './message-text.js';
import { Problem } from './problems.js';

export interface IncomingMessage {
  channel: 'web' | 'whatsapp-cloud' | 'whatsapp-web';
  accountKey: string;
  /** Whom the chat is with. In a direct chat it is the sender's address too. */
  chatAddress: string;
  /** The platform's id of the message, unique within the account. */
  externalId: string;
  kind: 'text';
  text: string;
  quotedExternalId?: string | undefined;
  sentAt?: Date | undefined;
}

export interface AcceptedMessage {
  messageId: string;
  tenantId: string;
  chatId: string;
  sequence: number;
  /** `duplicate`: it was here already, with the same text. `stored`: kept and left (a blocked contact). */
  outcome: 'accepted' | 'stored' | 'duplicate';
}

export interface Inbox {
  /** Throws a Problem: 400 or 413 for a text that can't be accepted, 409 for an id that was used for something else. */
  acceptMessage(message: IncomingMessage): Promise<AcceptedMessage>;
}

const ADDRESS_KIND: Record<IncomingMessage['channel'], string> = {
  web: 'web',
  'whatsapp-cloud': 'phone',
  'whatsapp-web': 'phone',
};

/** A key can turn out wrong twice (a first message raced, an erasure); more often is a fault of ours. */
const ATTEMPTS = 5;
const WARM_KEYS = 5_000;

interface OwnKey {
  dataKey: DataKey;
  wrappedKey: WrappedKey;
}

export function createInbox(deps: {
  database: Database;
  content: ContentCipher;
  conversations: Conversations;
  logger: Logger;
}): Inbox {
  const { database, content, conversations, logger } = deps;
  const warm = createWarmKeys(WARM_KEYS);

  function send(message: IncomingMessage, { dataKey, wrappedKey }: OwnKey): Promise<AcceptOutcome> {
    const [messageId, contactId, aliasId, chatId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const address = content.hmacAddress(message.chatAddress);
    const addressCipherFor = (table: string, rowId: string) =>
      content.sealText(dataKey, { table, column: 'address_cipher', rowId, text: message.chatAddress });
    return accept(database.prisma, {
      channel: message.channel,
      accountKey: message.accountKey,
      addressKind: ADDRESS_KIND[message.channel],
      chatHmac: address,
      contactHmac: address,
      chatKind: 'direct',
      messageId,
      externalId: message.externalId,
      kind: message.kind,
      arrival: 'turn',
      contentCipher: content.sealText(dataKey, {
        table: 'inbox',
        column: 'content_cipher',
        rowId: messageId,
        text: message.text,
      }),
      contentHmac: content.hmacContent(message.text),
      quotedExternalId: message.quotedExternalId,
      sentAt: message.sentAt,
      contactId,
      keyId: wrappedKey.keyId,
      keyWrapped: wrappedKey.wrapped,
      masterVersion: wrappedKey.masterVersion,
      aliasId,
      aliasCipher: addressCipherFor('contact_aliases', aliasId),
      chatId,
      chatCipher: addressCipherFor('chats', chatId),
    });
  }

  return {
    async acceptMessage(message) {
      const problem = textProblem(message.text);
      if (problem)
        throw new Problem(
          problem.status,
          problem.status === 413 ? 'too_large' : 'bad_request',
          problem.message,
        );

      const name = `${message.channel}|${message.accountKey}|${message.chatAddress}`;
      let key = warm.get(name) ?? content.keyring.createDataKey();
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const result = await send(message, key);
        switch (result.outcome) {
          case 'unknown_account':
            throw new Problem(
              404,
              'not_found',
              'This business has no such channel, or the channel is switched off.',
            );
          case 'wrong_key':
            key = keyFrom(result) ?? content.keyring.createDataKey();
            continue;
          case 'conflict':
            throw new Problem(
              409,
              'conflict',
              `The id was used before, for another message. Use a new one for each.`,
            );
          case 'accepted':
          case 'stored':
          case 'duplicate': {
            warm.set(name, key);
            const { messageId, tenantId, chatId, sequence, outcome } = result;
            logger.event('message.accepted', {
              tenantId,
              chatId,
              correlationId: messageId,
              sequence,
              outcome,
            });
            // Rung for a duplicate too: whoever sends again may have seen no answer. The ring isn't waited for.
            if (outcome !== 'stored') void conversations.ring({ tenantId, chatId, upTo: sequence });
            return { messageId, tenantId, chatId, sequence, outcome };
          }
        }
      }
      throw new Error(`no key fitted in ${ATTEMPTS} attempts`);
    },
  };

  function keyFrom(result: AcceptOutcome & { outcome: 'wrong_key' }): OwnKey | undefined {
    if (!result.key) return undefined;
    const { keyId, masterVersion } = result.key;
    const wrapped = new Uint8Array(result.key.wrapped);
    const wrappedKey = { keyId, wrapped, masterVersion };
    return { dataKey: content.keyring.unwrap(wrappedKey), wrappedKey };
  }
}

/**
 * The keys of contacts who wrote lately, so that their next message takes one round trip. A stale one does no harm: the
 * database refuses it. The oldest entry goes first.
 */
function createWarmKeys(size: number) {
  const keys = new Map<string, OwnKey>();
  return {
    get: (name: string): OwnKey | undefined => keys.get(name),
    set(name: string, key: OwnKey): void {
      keys.delete(name);
      keys.set(name, key);
      const oldest = keys.keys().next();
      if (keys.size > size && !oldest.done) keys.delete(oldest.value);
    },
  };
}
