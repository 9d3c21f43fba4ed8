// Follows one chat for a page or a program: first what is new to the reader, then every message that comes or changes.
import type { ContentCipher } from '../prisma/content.js';
import type { Database } from '../prisma/database.js';
import type { Scope } from '../prisma/stores/scope.js';
import {
  findChat,
  messagesOfChat,
  progressOf,
  type ChatMessage,
  type ChatProgress,
} from '../prisma/stores/views/chat.js';
import type { Changes } from './changes.js';

export interface ChatAddress {
  tenantId: string;
  channel: string;
  accountKey: string;
  address: string;
}

export interface ChatFollower {
  /** In order of the sequence; a changed message is told again. `cursor` resumes after it. */
  message(message: ChatMessage, cursor: string): void;
  progress?(progress: ChatProgress): void;
  failed(error: unknown): void;
}

/** `7` or `7.1764530000000`: everything after sequence 7, and what has changed since that time (epoch milliseconds). */
export interface ChatCursor {
  after: number;
  changedSince?: Date;
}

/** Commits become visible after the time that their rows carry, and clocks of processes differ a little. */
const OVERLAP_MS = 60_000;
const AT_ONCE = 500;

/** Reads a cursor that we gave out; anything else starts from the beginning. */
export function parseCursor(text: string | undefined): ChatCursor {
  const [, sequence, at] = /^(\d{1,9})(?:\.(\d{13}))?$/.exec(text ?? '') ?? [];
  if (sequence === undefined) return { after: 0 };
  return {
    after: Number(sequence),
    ...(at !== undefined && { changedSince: new Date(Number(at)) }),
  };
}

/** Starts following; the returned function ends it. */
export function followChat(
  deps: { database: Database; content: ContentCipher; changes: Changes },
  chat: ChatAddress,
  from: ChatCursor,
  follower: ChatFollower,
): () => void {
  const { database, content, changes } = deps;
  const known = new Map<number, string>();
  let chatId: string | undefined;
  let highest = from.after;
  let lookedAt: number | undefined;
  let progress: ChatProgress | undefined;
  let isLooking = false;
  let mustLookAgain = false;
  let ended = false;

  async function read(
    scope: Scope,
    since: number,
  ): Promise<{ messages: ChatMessage[]; progress: ChatProgress }> {
    chatId ??= await findChat(scope, chat);
    if (chatId === undefined) return { messages: [], progress: 'idle' };
    const changedSince = new Date(since - OVERLAP_MS);
    const messages = await messagesOfChat(scope, { chatId, after: highest, limit: AT_ONCE, changedSince });
    return { messages, progress: await progressOf(scope, chatId) };
  }

  async function lookOnce(): Promise<void> {
    const startedAt = Date.now();
    // Who resumes by a bare sequence knows all up to it as it is now.
    const isBaseline = lookedAt === undefined && from.changedSince === undefined;
    const since = lookedAt ?? from.changedSince?.getTime() ?? startedAt;
    const found = await database.inTenant(chat.tenantId, (tx) =>
      read({ tx, tenantId: chat.tenantId, content }, since),
    );
    lookedAt = startedAt;
    if (ended) return;
    let told = 0;
    for (const message of found.messages) {
      if (known.get(message.sequence) === message.state) continue;
      known.set(message.sequence, message.state);
      if (isBaseline && message.sequence <= from.after) continue;
      highest = Math.max(highest, message.sequence);
      follower.message(message, `${highest}.${startedAt}`);
      told += 1;
    }
    if (told > 0 && found.messages.length === AT_ONCE) mustLookAgain = true;
    if (found.progress === progress) return;
    progress = found.progress;
    follower.progress?.(progress);
  }

  /** One look at a time; what happens meanwhile is seen by the next. */
  async function look(): Promise<void> {
    if (isLooking) {
      mustLookAgain = true;
      return;
    }
    isLooking = true;
    try {
      do {
        mustLookAgain = false;
        await lookOnce();
      } while (mustLookAgain && !ended);
    } catch (error) {
      if (!ended) follower.failed(error);
    } finally {
      isLooking = false;
    }
  }

  const unsubscribe = changes.subscribe({ tenantId: chat.tenantId }, (change) => {
    if (chatId !== undefined && change.chatId !== undefined && change.chatId !== chatId) return;
    if (change.what !== 'approval') void look();
  });
  void look();
  return () => {
    ended = true;
    unsubscribe();
  };
}
