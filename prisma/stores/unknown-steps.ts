// Effects of which nobody knows whether they happened (spec G4). Each has a REF, by which a person says what they found out;
// until then nothing is repeated and nothing is claimed.
import type { ErrorCode } from '../../workflows/domain/failures.js';
import { appendAudit } from '../functions.js';
import { planMessage } from './outbox.js';
import { freshRef } from './refs.js';
import { notify, type Scope } from './scope.js';

/** The REF of a step whose effect nobody knows of. Undefined: it is known, or settled. */
export async function refOfUnknown(scope: Scope, stepId: string): Promise<string | undefined> {
  const row = await scope.tx.step.findFirst({
    where: { id: stepId, state: 'unknown' },
    select: { ref: true },
  });
  return row?.ref ?? undefined;
}

/** The step that a REF means: one that is unknown now, or else the one that last was. */
export async function stepOfUnknownRef(scope: Scope, ref: string): Promise<string | undefined> {
  const [row] = await scope.tx.$queryRaw<{ id: string }[]>`
    select id from steps where ref = ${ref}
    order by (state = 'unknown') desc, settled_at desc nulls last, finished_at desc limit 1`;
  return row?.id;
}

/** The started steps of a turn whose run is gone: nobody is left who would ask whether they happened. Audits each. */
export async function leaveStartedUnknown(
  scope: Scope,
  { turnId, chatId }: { turnId: string; chatId: string },
): Promise<void> {
  const started = await scope.tx.step.findMany({
    where: { turnId, state: 'started', effect: { not: 'read' } },
    select: { id: true, tool: true },
  });
  for (const { id, tool } of started) {
    await scope.tx.step.update({
      where: { id },
      data: { state: 'unknown', ref: await freshRef(scope), finishedAt: new Date() },
    });
    await appendAudit(scope.tx, {
      stream: chatId,
      event: 'step_unknown',
      subjectId: id,
      actor: 'assistant',
      facts: { tool },
    });
  }
}

/** What a person found out. Neither is a result: only that it happened, or that it did not. */
export interface Finding {
  stepId: string;
  happened: boolean;
  /** Who says so: `owner:<id>`, `cli` … */
  by: string;
  /** What the customer is told, in their language. */
  text: string;
}

export type SettledUnknown =
  | {
      outcome: 'settled';
      turnId: string;
      chatId: string;
      /** To be delivered in the customer's chat. Absent: the run hasn't spoken yet, and says it itself. */
      outboxId?: string;
    }
  | { outcome: 'not_unknown'; state: string }
  | { outcome: 'no_such_step' };

/** What a step that did not happen is called afterwards. */
const NOT_HAPPENED: ErrorCode = 'TOOL_PROVIDER_ERROR';

/**
 * Settles a step of which nobody knew: once, and never back. Its run gets the same outcome, and the customer, who was told
 * that somebody looks into it, gets an honest word.
 */
export async function closeUnknownStep(scope: Scope, finding: Finding): Promise<SettledUnknown> {
  const { stepId, happened, by, text } = finding;
  await scope.tx.$queryRaw`select 1 from steps where id = ${stepId}::uuid for update`;
  const step = await scope.tx.step.findUnique({ where: { id: stepId }, include: { run: true } });
  if (!step) return { outcome: 'no_such_step' };
  if (step.state !== 'unknown') return { outcome: 'not_unknown', state: step.state };
  const { turnId, run } = step;
  const { chatId, contactId } = run;
  const code = happened ? null : NOT_HAPPENED;
  const state = happened ? 'succeeded' : 'failed';
  await scope.tx.step.update({
    where: { id: stepId },
    data: { state, code, settledBy: by, settledAt: new Date() },
  });
  await scope.tx.toolRun.updateMany({ where: { turnId, state: 'unknown' }, data: { state, code } });
  const outboxId = await tellCustomer(scope, { stepId, turnId, chatId, contactId, text });
  await notify(scope, { chatId, what: 'run' });
  await appendAudit(scope.tx, {
    stream: chatId,
    event: 'step_settled',
    subjectId: stepId,
    actor: by,
    facts: { tool: step.tool, ref: step.ref, happened },
  });
  return { outcome: 'settled', turnId, chatId, ...(outboxId !== undefined && { outboxId }) };
}

async function tellCustomer(
  scope: Scope,
  message: { stepId: string; turnId: string; chatId: string; contactId: string; text: string },
): Promise<string | undefined> {
  const { stepId, turnId, chatId, contactId, text } = message;
  const told = await scope.tx.outbox.count({
    where: { turnId, chatId, originKind: { in: ['summary', 'apology'] } },
  });
  if (told === 0) return undefined;
  const asked = await scope.tx.inbox.findFirst({
    where: { turnId },
    orderBy: { sequence: 'desc' },
    select: { id: true },
  });
  const { outboxId } = await planMessage(scope, {
    chatId,
    contactId,
    // The turn was closed by the word that somebody looks into it; this one closes nothing.
    turnId: null,
    origin: { kind: 'settled', id: stepId },
    kind: 'answer',
    text,
    answersMessageId: asked?.id,
  });
  return outboxId;
}
