// PAUSE, RESUME, STATUS, TAKE and RELEASE of an owner (spec G5): what they do to the desk, inside the turn's transaction.
//
//   PAUSE · RESUME        nothing that changes anything is started any more · it goes on
//   TAKE K-7Q4F           the chat of that request is the owner's until RELEASE, or until the lease is over
//   RELEASE [K-7Q4F]      gives it back; without a code, the only chat that this owner has
import { DateTime } from 'luxon';
import { profileOf } from '../../config/accounts.js';
import { requestByRef } from '../../prisma/stores/operator-requests.js';
import { effectsState, switchEffects } from '../../prisma/stores/switches.js';
import { releaseChat, takeChat } from '../../prisma/stores/takeover.js';
import { chatsTakenBy, deskCounts } from '../../prisma/stores/views/desk.js';
import type { Scope } from '../../prisma/stores/scope.js';
import type { Bell } from '../../workflows/domain/turn.js';
import type { DeskCommand, DeskCommands, OwnerMessage } from '../owner/owner-message.js';
import { say } from '../sentences.js';
import type { TurnContext } from '../turns/turn-context.js';

interface Done {
  text: string;
  bells: Bell[];
}

export function deskCommands({ scope, tenant }: TurnContext): DeskCommands {
  return async (command, message) => carryOut({ scope, tenant }, command, message);
}

type At = Pick<TurnContext, 'scope' | 'tenant'>;

async function carryOut(at: At, command: DeskCommand, message: OwnerMessage): Promise<Done | undefined> {
  const { scope, tenant } = at;
  const by = `owner:${message.ownerId}`;
  switch (command.verb) {
    case 'pause':
      await switchEffects(scope, { to: 'off', by });
      return said(say(tenant, 'deskPaused'));
    case 'resume':
      await switchEffects(scope, { to: 'on', by });
      return said(say(tenant, 'deskResumed'));
    case 'status':
      return said(await statusText(at));
    case 'take':
      return take(at, command.ref, by);
    case 'release':
      return release(at, command.ref, by);
  }
}

async function statusText({ scope, tenant }: At): Promise<string> {
  const { approvals, messages, taken, questions } = await deskCounts(scope);
  const { value } = await effectsState(scope);
  return say(tenant, value === 'off' ? 'deskStatusPaused' : 'deskStatus', {
    approvals: String(approvals),
    messages: String(messages),
    taken: String(taken),
    questions: String(questions),
  });
}

async function take({ scope, tenant }: At, ref: string | undefined, by: string): Promise<Done> {
  if (ref === undefined) return said(say(tenant, 'deskWhichChat'));
  const chatId = await chatOfRef(scope, ref);
  if (chatId === undefined) return said(say(tenant, 'ownerUnknownRef', { ref }));
  const { account } = await scope.tx.chat.findUniqueOrThrow({
    where: { id: chatId },
    select: { account: { select: { channel: true, accountKey: true } } },
  });
  const { leaseMs } = profileOf(tenant.configuration, account);
  const until = leaseMs === undefined ? undefined : new Date(Date.now() + leaseMs);
  const { takeover } = await takeChat(scope, { chatId, by, until });
  const { timeZone, language } = tenant.configuration.business;
  const time =
    takeover.until &&
    DateTime.fromJSDate(takeover.until)
      .setZone(timeZone)
      .setLocale(language)
      .toLocaleString(DateTime.TIME_SIMPLE);
  return said(say(tenant, 'deskTaken', { ref, until: time }), { kind: 'desk', chatId });
}

async function release({ scope, tenant }: At, ref: string | undefined, by: string): Promise<Done> {
  const taken = ref === undefined ? await chatsTakenBy(scope, by) : [];
  if (ref === undefined && taken.length > 1) return said(say(tenant, 'deskWhichChat'));
  const chatId = ref === undefined ? taken[0] : await chatOfRef(scope, ref);
  if (chatId === undefined) {
    return said(
      ref === undefined ? say(tenant, 'deskNothingTaken') : say(tenant, 'ownerUnknownRef', { ref }),
    );
  }
  const { outcome } = await releaseChat(scope, { chatId, by });
  if (outcome === 'not_taken') return said(say(tenant, 'deskNothingTaken'));
  return said(say(tenant, 'deskReleased'), { kind: 'desk', chatId });
}

/** The chat that a code is about: of an approval, or of a question to an operator. */
async function chatOfRef(scope: Scope, ref: string): Promise<string | undefined> {
  const approval = await scope.tx.approval.findFirst({
    where: { ref },
    orderBy: { askedAt: 'desc' },
    select: { chatId: true },
  });
  return approval?.chatId ?? (await requestByRef(scope, ref))?.chatId;
}

function said(text: string, ...bells: Bell[]): Done {
  return { text, bells };
}
