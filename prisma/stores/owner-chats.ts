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
  // A chat of somebody who had this number before is theirs, and no longer found by it.
  await tx.$executeRaw`
    update chats set address_hmac = sha256(convert_to('left/' || id, 'UTF8'))
    where account_id = ${account.id}::uuid and address_hmac = ${where.addressHmac} and contact_id <> ${contactId}::uuid`;
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
  const known = await tx.contactAlias.findFirst({ where: alias });
  if (known?.retiredAt === null) return known.contactId;
  const contactId = randomUUID();
  await tx.contact.create({ data: { id: contactId, tenantId, kind: 'person' } });
  const key = await content.keyOfContact(tx, tenantId, contactId);
  const id = known?.id ?? randomUUID();
  const place = { table: 'contact_aliases', column: 'address_cipher', rowId: id };
  const theirs = {
    contactId,
    addressCipher: content.sealText(key, { ...place, text: address }),
    keyId: key.id,
  };
  if (known) {
    // Somebody has left this number; whoever configuration means by it has it now. The way in makes the same of it.
    const data = { ...theirs, retiredAt: null, createdAt: new Date() };
    await tx.contactAlias.updateMany({ where: { id, retiredAt: { not: null } }, data });
  } else {
    await tx.contactAlias.createMany({ data: [{ id, tenantId, ...alias, ...theirs }], skipDuplicates: true });
  }
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

/**
 * Which request a notice of ours asked about. Undefined: this message of this chat, or of another chat with the same person on
 * the account, is no notice.
 */
export async function approvalOfNotice(
  scope: Scope,
  notice: { chatId: string; externalId: string },
): Promise<string | undefined> {
  const { chatId, externalId } = notice;
  const isOurs = UUID.test(externalId);
  const { accountId, contactId } = await scope.tx.chat.findUniqueOrThrow({
    where: { id: chatId },
    select: { accountId: true, contactId: true },
  });
  const chats = await scope.tx.chat.findMany({ where: { accountId, contactId }, select: { id: true } });
  const row = await scope.tx.outbox.findFirst({
    where: {
      chatId: { in: chats.map(({ id }) => id) },
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

/** Where what we said last in a chat comes from, and when it was out. Undefined: we have said nothing. */
export async function lastOutgoing(
  scope: Scope,
  chatId: string,
): Promise<{ originKind: string; originId: string; sentAt: Date } | undefined> {
  const row = await scope.tx.outbox.findFirst({
    where: { chatId, state: 'sent', sequence: { not: null } },
    orderBy: { sequence: 'desc' },
    select: { originKind: true, originId: true, settledAt: true, plannedAt: true },
  });
  if (!row) return undefined;
  const { originKind, originId, settledAt, plannedAt } = row;
  return { originKind, originId, sentAt: settledAt ?? plannedAt };
}

const details = z.object({
  payload: z.string().optional(),
  emoji: z.string().optional(),
  isForwarded: z.boolean().optional(),
});

/**
 * What a message holds beside its text that a command may lie in, and when it was written: by the platform's clock, or when it
 * came where the platform doesn't say. A row that nobody can read holds nothing.
 */
export async function commandDetails(
  scope: Scope,
  messageId: string,
): Promise<z.output<typeof details> & { kind: string; writtenAt: Date }> {
  const row = await scope.tx.inbox.findUniqueOrThrow({
    where: { id: messageId },
    select: { kind: true, keyId: true, detailsCipher: true, sentAt: true, receivedAt: true },
  });
  const text = await readable(scope, {
    table: 'inbox',
    column: 'details_cipher',
    rowId: messageId,
    keyId: row.keyId,
    cipher: row.detailsCipher,
  });
  const known = { kind: row.kind, writtenAt: row.sentAt ?? row.receivedAt };
  return { ...known, ...(text === undefined ? {} : details.parse(JSON.parse(text))) };
}
