// The honest sentence for a turn that can't be finished. What a tool has done by then is not undone by our failing to tell
// it nicely: whoever asks "please try again" after a booking makes a second one.
import { ContentUnreadableError, KeyDestroyedError } from '../../prisma/keys.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { closeRun, type ClosedRunState } from '../../prisma/stores/runs.js';
import { withdrawApprovals } from '../../prisma/stores/approvals.js';
import { lastWordOf, planMessage, type OutboxKind } from '../../prisma/stores/outbox.js';
import { stepsOfTurn } from '../../prisma/stores/steps.js';
import { leaveStartedUnknown } from '../../prisma/stores/unknown-steps.js';
import { lastMessageId, turnById, type TurnRow } from '../../prisma/stores/turns.js';
import type { ApologyReason } from '../../workflows/domain/failures.js';
import { planUnknownNotices } from '../approvals/unknown-notices.js';
import { say } from '../sentences.js';
import type { Tenant } from '../tenants.js';

interface Apology {
  kind: OutboxKind;
  text: string;
  /** The words come of untrusted content. Absent: they are fixed ones. */
  isTainted?: boolean;
  /** What becomes of the turn's run, where it has one that is still open. */
  run: ClosedRunState;
}

export async function planApology(
  scope: Scope,
  tenant: Tenant,
  { turnId, reason }: { turnId: string; reason: ApologyReason },
): Promise<{ outboxId: string }> {
  const turn = await turnById(scope, turnId);
  const { chatId, contactId } = turn;
  await withdrawApprovals(scope, { turnId, chatId });
  // The last word was written before what failed: it is said, and nothing else.
  const written = await lastWordOf(scope, turnId);
  if (written) return written;
  const { kind, text, run, isTainted = false } = await apologyOf(scope, tenant, { turn, reason });
  await closeRun(scope, { turnId, chatId, to: run });
  return planMessage(scope, {
    chatId,
    contactId,
    turnId,
    origin: { kind: 'apology', id: turnId },
    kind,
    text,
    isTainted,
    answersMessageId: await lastMessageId(scope, turnId),
  });
}

async function apologyOf(
  scope: Scope,
  tenant: Tenant,
  { turn, reason }: { turn: TurnRow; reason: ApologyReason },
): Promise<Apology> {
  const { turnId, chatId } = turn;
  const steps = await scope.tx.step.findMany({
    where: { turnId, effect: { not: 'read' }, state: { in: ['succeeded', 'started', 'unknown'] } },
    orderBy: { ordinal: 'desc' },
    select: { id: true, state: true },
  });
  const [acted] = steps;
  if (!acted) return { kind: 'refusal', text: say(tenant, reason), run: 'failed' };
  if (acted.state !== 'succeeded') {
    // Nobody is left who would settle it: an owner has to see it.
    await leaveStartedUnknown(scope, { turnId, chatId });
    await planUnknownNotices(scope, tenant, turn);
    return { kind: 'answer', text: say(tenant, 'unknownOutcome'), run: 'unknown' };
  }
  const summary = await summaryOf(scope, turnId, acted.id);
  const text = summary ?? say(tenant, 'TOOL_RESULT_INVALID');
  return { kind: 'answer', text, run: 'succeeded', isTainted: summary !== undefined && turn.isTainted };
}

/** Nothing where the result can't be read any more. */
async function summaryOf(scope: Scope, turnId: string, stepId: string): Promise<string | undefined> {
  try {
    const steps = await stepsOfTurn(scope, turnId);
    const summary = steps.find((step) => step.stepId === stepId)?.result?.['summary'];
    return typeof summary === 'string' ? summary : undefined;
  } catch (error) {
    if (error instanceof KeyDestroyedError || error instanceof ContentUnreadableError) return undefined;
    throw error;
  }
}
