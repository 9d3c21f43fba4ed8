// What the parts of validation share: one step of a turn in one transaction, and how its customer is told.
import { planMessage } from '../../prisma/stores/outbox.js';
import type { Scope } from '../../prisma/stores/scope.js';
import type { Step } from '../../prisma/stores/steps.js';
import type { TurnRow } from '../../prisma/stores/turns.js';
import type { OutboxKind } from '../../workflows/domain/message.js';
import { canonicalCall } from '../call-hash.js';
import type { Tenant } from '../tenants.js';

export interface Validation {
  scope: Scope;
  tenant: Tenant;
  turn: TurnRow;
  step: Step;
  answersMessageId: string | undefined;
}

export function tell(
  { scope, turn, step, answersMessageId }: Validation,
  message: { kind: OutboxKind; text: string },
): Promise<{ outboxId: string }> {
  return planMessage(scope, {
    chatId: turn.chatId,
    contactId: turn.contactId,
    turnId: turn.turnId,
    origin: { kind: 'validate', id: step.stepId },
    isTainted: turn.isTainted,
    answersMessageId,
    ...message,
  });
}

/** Equality of requests: the same tool with the same canonical arguments of the same person. */
export async function requestKeyOf({ scope, turn, step }: Validation): Promise<Uint8Array> {
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, turn.contactId);
  return scope.content.requestKeyOf(key, canonicalCall(step.tool, step.arguments));
}

export function minutesFromNow(minutes: number): Date {
  return new Date(Date.now() + minutes * 60_000);
}
