// Where owners are written to: their own chat on WhatsApp, made where they have never written, and the web chat in which they
// last wrote as themselves.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { notify, readable, type Scope } from './scope.js';

/**
 * The direct chat of an address on one of our accounts, made with its contact and key where there is none: nobody has
 * written there yet. Undefined: the account isn't registered, or is switched off.
 */
export async function chatOfPhone(
  scope: Scope,
  to: { channel: 'whatsapp-cloud'; accountKey: string; address: string },
): Promise<string | undefined> {
  const { tx, content } = scope;
  const account = await tx.channelAccount.findFirst({
    where: { channel: to.channel, accountKey: to.accountKey, disabledAt: null },
    select: { id: true },
  });
  if (!account) return undefined;
  const contactId = await contactOfPhone(scope, to.channel, to.address);
  const known = await tx.chat.findFirst({
    where: { accountId: account.id, contactId, kind: 'direct' },
    orderBy: [{ customerWroteAt: { sort: 'desc', nulls: 'last' } }, { createdAt: 'desc' }],
    select: { id: true },
  });
  if (known) return known.id;
  const where = { accountId: account.id, addressHmac: content.hmacAddress(to.address) };
  const key = await content.keyOfContact(tx, scope.tenantId, contactId);
  const id = randomUUID();
  // Their first message may arrive at this very moment and make the chat: then that one is it.
  await tx.chat.createMany({
    data: [
      {
        id,
        tenantId: scope.tenantId,
        contactId,
        kind: 'direct',
        ...where,
        addressKind: 'phone',
        addressCipher: content.sealText(key, {
          table: 'chats',
          column: 'address_cipher',
          rowId: id,
          text: to.address,
        }),
        keyId: key.id,
      },
    ],
    skipDuplicates: true,
  });
  const chat = await tx.chat.findFirstOrThrow({ where, select: { id: true } });
  await notify(scope, { chatId: chat.id, what: 'inbox' });
  return chat.id;
}

async function contactOfPhone(scope: Scope, channel: string, address: string): Promise<string> {
  const { tx, tenantId, content } = scope;
  const alias = { channel, kind: 'phone', addressHmac: content.hmacAddress(address) };
  const known = await tx.contactAlias.findFirst({ where: alias, select: { contactId: true } });
  if (known) return known.contactId;
  const contactId = randomUUID();
  await tx.contact.create({ data: { id: contactId, tenantId, kind: 'person' } });
  const key = await content.keyOfContact(tx, tenantId, contactId);
  const id = randomUUID();
  const place = { table: 'contact_aliases', column: 'address_cipher', rowId: id };
  await tx.contactAlias.createMany({
    data: [
      {
        id,
        tenantId,
        contactId,
        ...alias,
        addressCipher: content.sealText(key, { ...place, text: address }),
        keyId: key.id,
      },
    ],
    skipDuplicates: true,
  });
  const { contactId: found } = await tx.contactAlias.findFirstOrThrow({
    where: alias,
    select: { contactId: true },
  });
  return found;
}

/** The web chat in which an owner last wrote as themselves. Undefined: none. */
export async function webChatOfOwner(scope: Scope, ownerId: string): Promise<string | undefined> {
  const row = await scope.tx.inbox.findFirst({
    where: { speaker: `owner:${ownerId}`, channel: 'web' },
    orderBy: { receivedAt: 'desc' },
    select: { chatId: true },
  });
  return row?.chatId;
}

/** Which request a notice of ours asked about. Undefined: this message of this chat is no notice. */
export async function approvalOfNotice(
  scope: Scope,
  notice: { chatId: string; externalId: string },
): Promise<string | undefined> {
  const { chatId, externalId } = notice;
  const isOurs = UUID.test(externalId);
  const row = await scope.tx.outbox.findFirst({
    where: {
      chatId,
      originKind: { in: Object.values(NOTICE_ORIGINS) },
      // On a channel without ids of its own a message is named by the id of its row.
      OR: [{ externalId }, ...(isOurs ? [{ id: externalId }] : [])],
    },
    select: { originId: true },
  });
  return row?.originId;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What a message to an owner about an approval is about, as its origin. */
export const NOTICE_ORIGINS = {
  request: 'approval_notice',
  reminder: 'approval_reminder',
  expired: 'approval_expired',
} as const;
export type NoticeAbout = keyof typeof NOTICE_ORIGINS;

/** Which of these codes name something: a request, or an effect of which nobody knows whether it happened. */
export async function knownRefs(scope: Scope, refs: readonly string[]): Promise<Set<string>> {
  if (refs.length === 0) return new Set();
  const where = { ref: { in: [...refs] } };
  const select = { ref: true };
  const approvals = await scope.tx.approval.findMany({ where, select });
  const steps = await scope.tx.step.findMany({ where, select });
  return new Set([...approvals, ...steps].flatMap(({ ref }) => ref ?? []));
}

/** Where what we said last in a chat comes from. Undefined: we have said nothing. */
export async function lastOutgoing(
  scope: Scope,
  chatId: string,
): Promise<{ originKind: string; originId: string } | undefined> {
  const row = await scope.tx.outbox.findFirst({
    where: { chatId, state: 'sent', sequence: { not: null } },
    orderBy: { sequence: 'desc' },
    select: { originKind: true, originId: true },
  });
  return row ?? undefined;
}

const details = z.object({
  payload: z.string().optional(),
  emoji: z.string().optional(),
  isForwarded: z.boolean().optional(),
});

/** What a message holds beside its text that a command may lie in. A row that nobody can read holds nothing. */
export async function commandDetails(
  scope: Scope,
  messageId: string,
): Promise<z.output<typeof details> & { kind: string }> {
  const row = await scope.tx.inbox.findUniqueOrThrow({
    where: { id: messageId },
    select: { kind: true, keyId: true, detailsCipher: true },
  });
  const text = await readable(scope, {
    table: 'inbox',
    column: 'details_cipher',
    rowId: messageId,
    keyId: row.keyId,
    cipher: row.detailsCipher,
  });
  return { kind: row.kind, ...(text === undefined ? {} : details.parse(JSON.parse(text))) };
}
