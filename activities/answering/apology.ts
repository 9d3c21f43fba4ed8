// The honest sentence for a turn that can't be finished. What a tool has done by then is not undone by our failing to tell
// it nicely: whoever asks "please try again" after a booking makes a second one.
import type { Scope } from '../../prisma/stores/scope.js';
import { closeRun, type ClosedRunState } from '../../prisma/stores/runs.js';
import { planMessage, type OutboxKind } from '../../prisma/stores/outbox.js';
import { stepsOfTurn } from '../../prisma/stores/steps.js';
import { turnById } from '../../prisma/stores/turns.js';
import type { ApologyReason } from '../../workflows/domain/failures.js';
import { say } from '../sentences.js';
import type { Tenant } from '../tenants.js';

interface Apology {
  kind: OutboxKind;
  text: string;
  /** What becomes of the turn's run, where it has one that is still open. */
  run: ClosedRunState;
}

export async function planApology(
  scope: Scope,
  tenant: Tenant,
  { turnId, reason }: { turnId: string; reason: ApologyReason },
): Promise<{ outboxId: string }> {
  const { chatId, contactId } = await turnById(scope, turnId);
  const { kind, text, run } = await apologyOf(scope, tenant, { turnId, reason });
  await closeRun(scope, { turnId, chatId, to: run });
  const messages = await messageIds(scope, turnId);
  return planMessage(scope, {
    chatId,
    contactId,
    turnId,
    origin: { kind: 'apology', id: turnId },
    kind,
    text,
    answersMessageId: messages.at(-1),
  });
}

async function apologyOf(
  scope: Scope,
  tenant: Tenant,
  { turnId, reason }: { turnId: string; reason: ApologyReason },
): Promise<Apology> {
  const steps = await scope.tx.step.findMany({
    where: { turnId, effect: { not: 'read' }, state: { in: ['succeeded', 'started', 'unknown'] } },
    orderBy: { ordinal: 'desc' },
    select: { id: true, state: true },
  });
  const [acted] = steps;
  if (!acted) return { kind: 'refusal', text: say(tenant, reason), run: 'failed' };
  if (acted.state !== 'succeeded') {
    await leaveUnknown(scope, turnId);
    return { kind: 'answer', text: say(tenant, 'unknownOutcome'), run: 'unknown' };
  }
  const step = (await stepsOfTurn(scope, turnId)).find(({ stepId }) => stepId === acted.id);
  const summary = step?.result?.['summary'];
  const text = typeof summary === 'string' ? summary : say(tenant, 'TOOL_RESULT_INVALID');
  return { kind: 'answer', text, run: 'succeeded' };
}

/** Nobody is left who would settle it: an owner has to see it. */
async function leaveUnknown(scope: Scope, turnId: string): Promise<void> {
  await scope.tx.step.updateMany({
    where: { turnId, state: 'started' },
    data: { state: 'unknown', finishedAt: new Date() },
  });
}

/** Ids only: an apology has to work where the content can't be read. */
async function messageIds(scope: Scope, turnId: string): Promise<string[]> {
  const rows = await scope.tx.inbox.findMany({
    where: { turnId },
    orderBy: { sequence: 'asc' },
    select: { id: true },
  });
  return rows.map((row) => row.id);
}
