// Edits of messages that came. As long as nobody has taken a message up, what its writer made of it is what counts; the words
// before are kept with it. Later the edit is a row of its own and nothing more: what was answered stays as it was answered.
import type { MessageDetails } from '../../workflows/domain/incoming.js';
import { isJsonObject } from '../json.js';
import { openOptional, readable, type Scope } from './scope.js';

/**
 * Applies the newest edit of a message of this chat. `left`: it has been taken up, revoked or erased. `nothing`: there is no
 * such message yet, no edit, or none newer than the one it has. Asked again it changes nothing. Locks the chat.
 */
export async function applyEdits(
  scope: Scope,
  { chatId, externalId }: { chatId: string; externalId: string },
): Promise<'applied' | 'left' | 'nothing'> {
  const { tx, tenantId, content } = scope;
  // Whoever claims a turn holds this lock: either they see the new words, or we see that it is too late.
  await tx.$queryRaw`select 1 from chats where id = ${chatId}::uuid for update`;
  const message = await tx.inbox.findFirst({
    where: { chatId, externalId, arrival: { notIn: ['edit', 'revoke'] } },
  });
  if (!message) return 'nothing';
  const edit = await tx.inbox.findFirst({
    where: {
      chatId,
      quotedExternalId: externalId,
      arrival: 'edit',
      speaker: message.speaker,
      revokedAt: null,
    },
    orderBy: [{ sentAt: { sort: 'desc', nulls: 'last' } }, { sequence: 'desc' }],
  });
  if (!edit) return 'nothing';
  const editedAt = edit.sentAt ?? edit.receivedAt;
  if (message.editedAt !== null && message.editedAt >= editedAt) return 'nothing';
  if (message.turnId !== null || message.revokedAt !== null || message.keyId === null) return 'left';

  const text = await readable(scope, place('content_cipher', edit, edit.contentCipher));
  const before = await readable(scope, place('content_cipher', message, message.contentCipher));
  if (text === undefined || before === undefined) return 'left';
  const stored = await openOptional(scope, place('details_cipher', message, message.detailsCipher));
  const details = readDetails(stored);
  const edited: MessageDetails = {
    ...details,
    earlier: [...(details.earlier ?? []), { text: before, until: editedAt.toISOString() }],
  };
  const key = await content.dataKeyById(tx, tenantId, message.keyId);
  const seal = (column: string, plain: string) =>
    content.sealText(key, { table: 'inbox', column, rowId: message.id, text: plain });
  await tx.inbox.update({
    where: { id: message.id },
    data: {
      contentCipher: seal('content_cipher', text),
      contentHmac: content.hmacContent(text),
      detailsCipher: seal('details_cipher', JSON.stringify(edited)),
      editedAt,
    },
  });
  return 'applied';
}

/** What a message holds beside its text. Undefined: nothing, or nobody can read it any more. */
export async function messageDetails(scope: Scope, messageId: string): Promise<MessageDetails | undefined> {
  const row = await scope.tx.inbox.findUniqueOrThrow({
    where: { id: messageId },
    select: { id: true, keyId: true, detailsCipher: true },
  });
  const stored = await readable(scope, place('details_cipher', row, row.detailsCipher));
  return stored === undefined ? undefined : readDetails(stored);
}

function place(column: string, row: { id: string; keyId: string | null }, cipher: Uint8Array | null) {
  return { table: 'inbox', column, rowId: row.id, keyId: row.keyId, cipher };
}

/** The column holds what the gateway sealed, in this project's own form. */
function readDetails(json: string | undefined): MessageDetails {
  const value: unknown = json === undefined ? {} : JSON.parse(json);
  if (!isJsonObject(value)) throw new TypeError('stored details are no JSON object');
  return value;
}
