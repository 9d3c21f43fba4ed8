// Handing a matter to people (spec B14): one mechanism, whoever asks for it. The customer hears it in words of the gate or,
// where a person is there already, not at all; owners are told where nobody is; it is audited as `handed_off`. It ends when a
// person writes in the chat, which takes the chat over (spec G5); until then the assistant answers whatever else is asked.
import { appendAudit } from '../../prisma/functions.js';
import { planMessage } from '../../prisma/stores/outbox.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { accountOfChat, messagesOfTurn, type TurnRow } from '../../prisma/stores/turns.js';
import { addressesOf } from '../../prisma/stores/views/addresses.js';
import { withHiddenShown } from '../../workflows/domain/visible-text.js';
import type { DeskSentenceKey } from '../../config/desk-phrases.js';
import { say } from '../sentences.js';
import type { Tenant } from '../tenants.js';
import { chatsOfOwners } from './owner-chats.js';

/**
 * Who is told, by what handed it off: owners, with a sentence that says why; or nobody, because a person is there already and
 * reads the chat.
 */
const TOLD = {
  private_account: 'handOffPrivateAccount',
  transactional_support: 'handOffTransactionalSupport',
  model_cap: 'handOffModelCap',
  human_only: 'handOffHumanOnly',
  /** Owners are told by the words of its request, which name it (activities/approvals/notices.ts). */
  approval_expired: undefined,
  takeover: undefined,
  shift: undefined,
} as const satisfies Record<string, Exclude<DeskSentenceKey, 'handOffNotice'> | undefined>;

export type HandOffReason = keyof typeof TOLD;

export interface HandedOff {
  chatId: string;
  contactId: string;
  accountKey: string;
  turnId: string;
  reason: HandOffReason;
  /** What the customer wrote. */
  text: string;
  isTainted?: boolean;
}

/** Whether a gate of this name hands off in this way. */
export function isHandOffReason(name: string): name is HandOffReason {
  return Object.hasOwn(TOLD, name);
}

/**
 * Writes to those who have to hear of it, and audits it, in the transaction that hands it off. Answers outbox ids, to be
 * delivered after the commit. Asked again for the same turn they are the same.
 */
export async function handOff(scope: Scope, tenant: Tenant, matter: HandedOff): Promise<string[]> {
  const notices = await planNotices(scope, tenant, matter);
  await auditHandOff(scope, { ...matter, told: notices.length });
  return notices;
}

/** Audits, once for a turn, that a matter went to people: so many owners are written to about it. */
export async function auditHandOff(
  scope: Scope,
  { chatId, turnId, reason, told }: Pick<HandedOff, 'chatId' | 'turnId' | 'reason'> & { told: number },
): Promise<void> {
  const isKnown = await scope.tx.audit.count({ where: { subjectId: turnId, event: 'handed_off' } });
  if (isKnown > 0) return;
  await appendAudit(scope.tx, {
    stream: chatId,
    event: 'handed_off',
    subjectId: turnId,
    actor: 'assistant',
    facts: { reason, told },
  });
}

/** The same for a matter that a run can't take further. */
export async function handOffRun(
  scope: Scope,
  tenant: Tenant,
  { turn, reason }: { turn: TurnRow; reason: HandOffReason },
): Promise<string[]> {
  const { turnId, chatId, contactId, isTainted } = turn;
  const messages = await messagesOfTurn(scope, turnId);
  const text = messages.map((message) => message.text).join('\n');
  const { accountKey } = await accountOfChat(scope, chatId);
  return handOff(scope, tenant, { chatId, contactId, accountKey, turnId, reason, text, isTainted });
}

/** A few lines tell what it is about; the rest is in the chat. */
const SHOWN_CHARACTERS = 400;

async function planNotices(scope: Scope, tenant: Tenant, matter: HandedOff): Promise<string[]> {
  const why = TOLD[matter.reason];
  if (why === undefined) return [];
  const { chatId, contactId, accountKey, turnId } = matter;
  const who = (await addressesOf(scope, [chatId])).get(chatId);
  const shown = [...withHiddenShown(matter.text)].slice(0, SHOWN_CHARACTERS).join('');
  const text = say(tenant, 'handOffNotice', {
    who: who === undefined ? '—' : withHiddenShown(who),
    why: say(tenant, why),
    text: shown,
  });
  const planned: string[] = [];
  for (const { chatId: ownersChatId, ordinal } of await chatsOfOwners(scope, tenant, { accountKey })) {
    if (ownersChatId === chatId) continue;
    const { outboxId } = await planMessage(scope, {
      chatId: ownersChatId,
      // It is about the customer, so it is sealed under their key.
      contactId,
      turnId: null,
      origin: { kind: 'hand_off_notice', id: turnId, ordinal },
      kind: 'acknowledgement',
      text,
      details: { isVerbatim: true, purpose: 'ownerNotice' },
      ...(matter.isTainted !== undefined && { isTainted: matter.isTainted }),
    });
    planned.push(outboxId);
  }
  return planned;
}
