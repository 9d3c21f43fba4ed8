// The one place where an owner's message is understood, whatever the channel: typed, quoted, reacted to or pressed. It runs
// inside the turn's transaction, so that what it does is durable, in order and done once. Whatever isn't certain does nothing,
// says so, and leaves a line in the audit.
import { auditRefusal, type Refusal } from '../../prisma/stores/approval-refusals.js';
import type { ApprovalKey } from '../../prisma/stores/approvals.js';
import { approvalOfNotice, knownRefs } from '../../prisma/stores/owner-chats.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { refsIn } from '../../workflows/domain/approval.js';
import { say } from '../sentences.js';
import type { Tenant } from '../tenants.js';
import { changeRequest, decideRequest, viewOf } from './decide.js';
import { help, listRequests, showRequest } from './look.js';
import { approverOf, reply, type DeskCommands, type OwnerMessage, type OwnerReply } from './owner-message.js';
import { decisionOfThumb, parseCommand, type OwnerCommand } from './parse-command.js';
import { settleEffect } from './settle-effect.js';
import { loneRequest } from './which-request.js';

/** `desk` carries out what is about chats and not about requests. Absent: nobody does. */
export async function handleOwnerMessage(
  scope: Scope,
  tenant: Tenant,
  message: OwnerMessage,
  desk?: DeskCommands,
): Promise<OwnerReply> {
  const { command, quoted } = await readMessage(scope, tenant, message);
  const at: At = { scope, tenant, message, quoted };
  switch (command.kind) {
    case 'list':
      return listRequests(scope, tenant, message);
    case 'help':
      return help(tenant);
    case 'show': {
      const key = keyOf(command.ref, quoted);
      return key
        ? showRequest(scope, tenant, { key, message, part: command.part })
        : listRequests(scope, tenant, message);
    }
    case 'approve':
    case 'reject':
    case 'edit':
    case 'happened':
    case 'notHappened':
      return (await refuseOutright(at, command)) ?? act(at, command);
    case 'several':
      await audit(at, { decision: 'approve', outcome: 'several_codes' });
      return reply(say(tenant, 'ownerOneAtATime'));
    case 'desk': {
      const { verb, ref, rest } = command;
      const refused = await refuseForeign(at, { kind: 'desk', ref });
      if (refused) return refused;
      const done = await desk?.({ verb, rest, ...(ref !== undefined && { ref }) }, message);
      return done ? reply(done.text, ...done.bells) : notUnderstood(at);
    }
    case 'reaction':
      await audit(at, { decision: 'approve', outcome: 'unclear' });
      return reply(say(tenant, 'ownerUnclearReaction'));
    case 'unclear':
      return command.ref === undefined && quoted === undefined ? help(tenant) : unclear(at, command.ref);
    case 'unknown':
      return quoted === undefined ? notUnderstood(at) : unclear(at, undefined);
  }
}

type Acting = Extract<OwnerCommand, { kind: 'approve' | 'reject' | 'edit' | 'happened' | 'notHappened' }>;

interface At {
  scope: Scope;
  tenant: Tenant;
  message: OwnerMessage;
  /** The request whose notice is quoted, reacted to or answered by its button. */
  quoted: string | undefined;
}

/** A button or a reaction says what its notice is about; words may name a code, or quote. */
async function readMessage(
  scope: Scope,
  tenant: Tenant,
  message: OwnerMessage,
): Promise<{ command: OwnerCommand | { kind: 'reaction' }; quoted: string | undefined }> {
  const { text, button, emoji, quotedExternalId, chat } = message;
  const pressed = button === undefined ? null : BUTTON.exec(button);
  if (pressed) {
    const [, decision, approvalId] = pressed;
    const command: OwnerCommand =
      decision === 'approve' ? { kind: 'approve', isFirm: true } : { kind: 'reject', isPlain: false };
    return { command, quoted: approvalId };
  }
  const quoted =
    quotedExternalId === undefined
      ? undefined
      : await approvalOfNotice(scope, { chatId: chat.chatId, externalId: quotedExternalId });
  if (emoji !== undefined) {
    const decision = quoted === undefined ? undefined : decisionOfThumb(emoji);
    if (decision === undefined) return { command: { kind: 'reaction' }, quoted };
    const isYes = decision === 'approve';
    return {
      command: isYes ? { kind: 'approve', isFirm: true } : { kind: 'reject', isPlain: false },
      quoted,
    };
  }
  const doubtful = refsIn(text).flatMap(({ ref, isCertain }) => (isCertain ? [] : [ref]));
  const known = await knownRefs(scope, doubtful);
  return { command: parseCommand(text, tenant.configuration.phrases, (ref) => known.has(ref)), quoted };
}

/** As `buttonPayload` of the notices makes it. */
const BUTTON = /^(approve|reject):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Words that aren't the owner's own, or were said in front of others. */
async function refuseForeign(
  at: At,
  { kind, ref }: { kind: Refusal['decision']; ref?: string | undefined },
): Promise<OwnerReply | undefined> {
  const { tenant, message, quoted } = at;
  const isInGroup = message.chat.kind === 'group';
  if (!message.isForwarded && !isInGroup) return undefined;
  const outcome = message.isForwarded ? 'forwarded' : 'in_a_group';
  await audit(at, { decision: kind, outcome, ref, approvalId: quoted });
  return reply(say(tenant, message.isForwarded ? 'ownerForwarded' : 'ownerNotHere'));
}

/** The same, and decisions on a channel that policy doesn't list. */
async function refuseOutright(at: At, command: Acting): Promise<OwnerReply | undefined> {
  const refused = await refuseForeign(at, command);
  if (refused) return refused;
  const { tenant, message, quoted } = at;
  const { surface } = approverOf(message);
  if (tenant.configuration.policy.surfaces.some((listed) => listed === surface)) return undefined;
  const { kind, ref } = command;
  await audit(at, { decision: kind, outcome: 'surface_not_allowed', ref, approvalId: quoted });
  return reply(say(tenant, 'ownerSurfaceClosed'));
}

async function act(at: At, command: Acting): Promise<OwnerReply> {
  const { scope, tenant, message, quoted } = at;
  if (command.kind === 'happened' || command.kind === 'notHappened') {
    if (command.ref === undefined) return notUnderstood(at);
    return settleEffect(scope, tenant, message, { ref: command.ref, finding: command.kind });
  }
  if (await isContradicted(at, command)) {
    await audit(at, { decision: command.kind, outcome: 'several_codes', ref: command.ref });
    return reply(say(tenant, 'ownerOneAtATime'));
  }
  const meant = keyOf(command.ref, quoted);
  // "No, I can't today" without a code is talk, and nobody's request.
  if (!meant && command.kind === 'reject' && command.isPlain && command.reason !== undefined) {
    return notUnderstood(at);
  }
  const found = meant
    ? { key: meant }
    : await loneRequest(scope, tenant, { ...at, ...firmnessOf(at, command) });
  if ('text' in found) {
    if (!found.isOpen) return { ...reply(found.text), isUnderstood: firmnessOf(at, command).isFirm };
    await audit(at, { decision: command.kind, outcome: 'which_one' });
    return reply(found.text);
  }
  const key = { key: found.key, message };
  switch (command.kind) {
    case 'approve':
      return decideRequest(scope, tenant, key, { decision: 'approve' });
    case 'reject':
      return decideRequest(scope, tenant, key, { decision: 'reject', reason: command.reason });
    case 'edit':
      return changeRequest(scope, tenant, key, command.pairs);
  }
}

function firmnessOf(
  { message }: At,
  command: Acting,
): { isFirm: boolean; approver: ReturnType<typeof approverOf> } {
  const isFirm = command.kind === 'approve' ? command.isFirm : command.kind !== 'reject' || !command.isPlain;
  return { isFirm, approver: approverOf(message) };
}

/** The code stands first: whoever types one means it. */
function keyOf(ref: string | undefined, quoted: string | undefined): ApprovalKey | undefined {
  if (ref !== undefined) return { ref };
  return quoted === undefined ? undefined : { approvalId: quoted };
}

/** Quotes the notice of one request and names another. */
async function isContradicted({ scope, quoted }: At, { ref }: Acting): Promise<boolean> {
  if (ref === undefined || quoted === undefined) return false;
  const view = await viewOf(scope, { approvalId: quoted });
  return view !== undefined && view.ref !== ref;
}

async function unclear(at: At, named: string | undefined): Promise<OwnerReply> {
  const { scope, tenant, quoted } = at;
  const view =
    named === undefined && quoted !== undefined ? await viewOf(scope, { approvalId: quoted }) : undefined;
  const ref = named ?? view?.ref;
  if (ref === undefined) return notUnderstood(at);
  await audit(at, { decision: 'approve', outcome: 'unclear', ref });
  return reply(say(tenant, 'ownerUnclear', { ref }));
}

function notUnderstood({ tenant }: At): OwnerReply {
  return { ...help(tenant), isUnderstood: false };
}

async function audit(
  { scope, message }: At,
  refusal: Pick<Refusal, 'decision' | 'outcome' | 'ref' | 'approvalId'>,
): Promise<void> {
  await auditRefusal(scope, { stream: message.chat.chatId, approver: approverOf(message), ...refusal });
}
