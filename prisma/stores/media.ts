// Media of messages: what the platform keeps for us (`remote`), what we have fetched, under the person's key (`stored`), and
// what could not be had (`failed`). One row per message, written with it.
import type { MessageDetails } from '../../workflows/domain/incoming.js';
import { isJsonObject } from '../json.js';
import type { Bytes } from '../keys.js';
import { openOptional, type Scope } from './scope.js';

export type MediaState = 'remote' | 'stored' | 'failed';

export interface MediaRow {
  mediaId: string;
  chatId: string;
  state: MediaState;
  mimeType: string | undefined;
  /** As the platform named it: hex or base64. */
  sha256: string | undefined;
  bytes: number | undefined;
  code: string | undefined;
}

export async function mediaOfMessage(scope: Scope, messageId: string): Promise<MediaRow | undefined> {
  const row = await scope.tx.media.findFirst({
    where: { messageId },
    select: {
      id: true,
      chatId: true,
      state: true,
      mimeType: true,
      sha256: true,
      bytes: true,
      code: true,
    },
  });
  if (!row) return undefined;
  return {
    mediaId: row.id,
    chatId: row.chatId,
    state: stateOf(row.state),
    mimeType: row.mimeType ?? undefined,
    sha256: row.sha256 ?? undefined,
    bytes: row.bytes ?? undefined,
    code: row.code ?? undefined,
  };
}

/** Where the platform keeps a message's media, and by which of our accounts it can be had. */
export async function whereMediaLie(
  scope: Scope,
  messageId: string,
): Promise<{ channel: string; accountKey: string; media: NonNullable<MessageDetails['media']> } | undefined> {
  const row = await scope.tx.inbox.findUnique({
    where: { id: messageId },
    select: { accountId: true, channel: true, keyId: true, detailsCipher: true },
  });
  if (!row) return undefined;
  const details = await openOptional(scope, {
    table: 'inbox',
    column: 'details_cipher',
    rowId: messageId,
    keyId: row.keyId,
    cipher: row.detailsCipher,
  });
  const media = details === undefined ? undefined : mediaIn(JSON.parse(details));
  if (!media) return undefined;
  const { accountKey } = await scope.tx.channelAccount.findUniqueOrThrow({ where: { id: row.accountId } });
  return { channel: row.channel, accountKey, media };
}

/** The column holds `MessageDetails`, in this project's own form. */
function mediaIn(details: unknown): NonNullable<MessageDetails['media']> | undefined {
  if (!isJsonObject(details) || !isJsonObject(details['media'])) return undefined;
  const { id, mimeType, sha256, fileName } = details['media'];
  if (typeof id !== 'string') return undefined;
  return {
    id,
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(typeof sha256 === 'string' && { sha256 }),
    ...(typeof fileName === 'string' && { fileName }),
  };
}

/** Keeps what was fetched, under the key of the person who sent it. Kept already: nothing changes. */
export async function storeMedia(
  scope: Scope,
  media: { messageId: string; content: Uint8Array; mimeType: string; sha256: string },
): Promise<void> {
  const { contactId } = await scope.tx.inbox.findUniqueOrThrow({
    where: { id: media.messageId },
    select: { contactId: true },
  });
  const row = await scope.tx.media.findFirst({
    where: { messageId: media.messageId, state: { not: 'stored' } },
    select: { id: true },
  });
  if (!row) return;
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, contactId);
  const place = { table: 'media', column: 'content_cipher', rowId: row.id };
  await scope.tx.media.update({
    where: { id: row.id },
    data: {
      contentCipher: scope.content.seal(key, { ...place, bytes: media.content }),
      keyId: key.id,
      mimeType: media.mimeType,
      sha256: media.sha256,
      bytes: media.content.byteLength,
      state: 'stored',
      code: null,
      fetchedAt: new Date(),
    },
  });
}

/** It could not be had, and the code says why. What is stored stays. */
export async function failMedia(scope: Scope, media: { messageId: string; code: string }): Promise<void> {
  await scope.tx.media.updateMany({
    where: { messageId: media.messageId, state: 'remote' },
    data: { state: 'failed', code: media.code },
  });
}

/** What was stored of a message's media. Throws where its key was destroyed. */
export async function mediaContent(
  scope: Scope,
  messageId: string,
): Promise<{ content: Bytes; mimeType: string } | undefined> {
  const row = await scope.tx.media.findFirst({ where: { messageId, state: 'stored' } });
  if (!row?.contentCipher || row.keyId === null) return undefined;
  const place = { table: 'media', column: 'content_cipher', rowId: row.id };
  const content = await scope.content.open(scope.tx, scope.tenantId, {
    ...place,
    keyId: row.keyId,
    cipher: row.contentCipher,
  });
  return { content, mimeType: row.mimeType ?? 'application/octet-stream' };
}

function stateOf(state: string): MediaState {
  if (state === 'remote' || state === 'stored' || state === 'failed') return state;
  throw new Error('media are in a state that the migration does not allow');
}
