// What didn't arrive for good needs a person: every owner hears of it once, in their own chat, with the channel's code. A fault of
// the whole account (a token, a payment) isn't told message by message: nothing of ours would arrive, and the console shows it.
import { planMessage } from '../../prisma/stores/outbox.js';
import { readable, type Scope } from '../../prisma/stores/scope.js';
import { accountOfChat } from '../../prisma/stores/turns.js';
import { addressesOf } from '../../prisma/stores/views/addresses.js';
import { withHiddenShown } from '../../workflows/domain/visible-text.js';
import { chatsOfOwners } from '../desk/owner-chats.js';
import { say } from '../sentences.js';
import type { Tenant } from '../tenants.js';
import { GRAPH_ERRORS } from '../whatsapp-cloud/errors.js';

export interface PlannedNotice {
  chatId: string;
  outboxId: string;
}

type ConfiguredTenant = Pick<Tenant, 'configuration'>;

/** A few lines tell what it was; the rest is in the chat. */
const SHOWN_CHARACTERS = 400;

/** Writes to owners about a question that never reached an operator. Asked again it is the same. */
export async function planUnreachedNotices(
  scope: Scope,
  tenant: ConfiguredTenant,
  request: {
    requestId: string;
    chatId: string;
    contactId: string;
    ref: string;
    operator: string;
    code: string;
  },
): Promise<PlannedNotice[]> {
  const { requestId: aboutId, chatId, contactId, ref, operator, code } = request;
  const text = say(tenant, 'operatorUndelivered', { ref, who: await whoOf(scope, chatId), operator, code });
  return planNotices(scope, tenant, { aboutId, chatId, contactId, text });
}

/** The same about words of ours that never reached a customer. None: a fault of the account, or no owner has a chat. */
export async function planUndeliveredNotices(
  scope: Scope,
  tenant: ConfiguredTenant,
  outboxId: string,
): Promise<PlannedNotice[]> {
  const row = await scope.tx.outbox.findUnique({ where: { id: outboxId } });
  if (row?.state !== 'failed' || isKnownToOwners(row.code)) return [];
  const { chatId, keyId, contentCipher: cipher, tainted: isTainted } = row;
  const { contactId } = await scope.tx.chat.findUniqueOrThrow({
    where: { id: chatId },
    select: { contactId: true },
  });
  const said = await readable(scope, {
    table: 'outbox',
    column: 'content_cipher',
    rowId: outboxId,
    keyId,
    cipher,
  });
  const text = say(tenant, 'answerUndelivered', {
    who: await whoOf(scope, chatId),
    code: row.code ?? '—',
    text: said === undefined ? undefined : [...withHiddenShown(said)].slice(0, SHOWN_CHARACTERS).join(''),
  });
  return planNotices(scope, tenant, { aboutId: outboxId, chatId, contactId, text, isTainted });
}

/** A person has found it out, or it is the account's and not this message's. */
function isKnownToOwners(code: string | null): boolean {
  return code === 'not_sent' || GRAPH_ERRORS[Number(code ?? Number.NaN)]?.fault === 'account';
}

async function whoOf(scope: Scope, chatId: string): Promise<string> {
  const who = (await addressesOf(scope, [chatId])).get(chatId);
  return who === undefined ? '—' : withHiddenShown(who);
}

async function planNotices(
  scope: Scope,
  tenant: ConfiguredTenant,
  notice: { aboutId: string; chatId: string; contactId: string; text: string; isTainted?: boolean },
): Promise<PlannedNotice[]> {
  const { aboutId, chatId: about, contactId, text, isTainted } = notice;
  const planned: PlannedNotice[] = [];
  for (const { chatId, ordinal } of await chatsOfOwners(scope, tenant, await accountOfChat(scope, about))) {
    if (chatId === about) continue;
    const { outboxId } = await planMessage(scope, {
      chatId,
      // It is about the customer, so it is sealed under their key.
      contactId,
      turnId: null,
      origin: { kind: 'undelivered_notice', id: aboutId, ordinal },
      kind: 'acknowledgement',
      text,
      details: { isVerbatim: true, purpose: 'ownerNotice' },
      ...(isTainted !== undefined && { isTainted }),
    });
    planned.push({ chatId, outboxId });
  }
  return planned;
}
