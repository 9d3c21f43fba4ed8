// Steps: what the model proposed, what the validator said, what was called, and what came back. The started row is
// written before the call, so that a crash leaves a question ("did it happen?") and never a second call.
import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../workflows/domain/failures.js';
import type { ProposedStep } from '../../workflows/domain/plan.js';
import type { Effect, Gate, JsonObject } from '../../workflows/domain/tool.js';
import { parseJsonObject } from '../json.js';
import { inOrder, openOptional, type Scope } from './scope.js';
import { freshRef } from './refs.js';

export type StepState =
  'proposed' | 'accepted' | 'rejected' | 'started' | 'succeeded' | 'failed' | 'refused' | 'unknown';

export interface Step {
  stepId: string;
  turnId: string;
  ordinal: number;
  tool: string;
  effect: Effect | null;
  gate: Gate | null;
  rule: string | null;
  arguments: JsonObject;
  argumentsHash: string;
  state: StepState;
  code: ErrorCode | null;
  failedCheck: string | null;
  isTainted: boolean;
  idempotencyKey: string;
  fence: string | null;
  attempts: number;
  callBy: Date | null;
  result: JsonObject | undefined;
  resultId: string | null;
  isPartial: boolean;
  isDeclined: boolean;
  /** Who found out whether an effect happened of which nobody knew. Null: it was never unknown, or still is. */
  settledBy: string | null;
}

/** Names of rules and conditions only: nothing of the call's arguments is kept in plain. */
export interface StepPolicy {
  matched: string[];
  overruled: string[];
  passedOver: { rule: string; condition: string }[];
}

/** Stores a proposal. The idempotency key is made of turn and ordinal: the same step is the same key for ever. */
export async function proposeStep(
  scope: Scope,
  step: {
    turnId: string;
    contactId: string;
    ordinal: number;
    tool: string;
    arguments: JsonObject;
    argumentsHash: string;
    because?: string | undefined;
  },
): Promise<ProposedStep> {
  const stepId = randomUUID();
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, step.contactId);
  const seal = (column: string, text: string): Uint8Array<ArrayBuffer> =>
    scope.content.sealText(key, { table: 'steps', column, rowId: stepId, text });
  await scope.tx.step.create({
    data: {
      id: stepId,
      tenantId: scope.tenantId,
      turnId: step.turnId,
      ordinal: step.ordinal,
      tool: step.tool,
      argumentsCipher: seal('arguments_cipher', JSON.stringify(step.arguments)),
      argumentsHash: step.argumentsHash,
      keyId: key.id,
      becauseCipher: step.because === undefined ? null : seal('because_cipher', step.because),
      state: 'proposed',
      idempotencyKey: `${step.turnId}/${step.ordinal}`,
    },
  });
  return { stepId, tool: step.tool, argumentsHash: step.argumentsHash };
}

export async function stepsOfTurn(scope: Scope, turnId: string): Promise<Step[]> {
  const rows = await scope.tx.step.findMany({ where: { turnId }, orderBy: { ordinal: 'asc' } });
  return inOrder(rows, (row) => readStep(scope, row));
}

/** Reads one step and locks it until the commit. */
export async function lockStep(scope: Scope, stepId: string): Promise<Step> {
  await scope.tx.$queryRaw`select 1 from steps where id = ${stepId}::uuid for update`;
  return readStep(scope, await scope.tx.step.findUniqueOrThrow({ where: { id: stepId } }));
}

type StepRow = Awaited<ReturnType<Scope['tx']['step']['findUniqueOrThrow']>>;

async function readStep(scope: Scope, row: StepRow): Promise<Step> {
  const open = async (column: string, cipher: Uint8Array | null): Promise<JsonObject | undefined> => {
    const text = await openOptional(scope, {
      table: 'steps',
      column,
      rowId: row.id,
      keyId: row.keyId,
      cipher,
    });
    return text === undefined ? undefined : parseJsonObject(text);
  };
  return {
    stepId: row.id,
    turnId: row.turnId,
    ordinal: row.ordinal,
    tool: row.tool,
    effect: row.effect as Effect | null,
    gate: row.gate as Gate | null,
    rule: row.rule,
    arguments: (await open('arguments_cipher', row.argumentsCipher)) ?? {},
    argumentsHash: row.argumentsHash,
    state: row.state as StepState,
    code: row.code as ErrorCode | null,
    failedCheck: row.failedCheck,
    isTainted: row.tainted,
    idempotencyKey: row.idempotencyKey,
    fence: row.fence,
    attempts: row.attempts,
    callBy: row.callBy,
    result: await open('result_cipher', row.resultCipher),
    resultId: row.resultId,
    isPartial: row.partial,
    isDeclined: row.declined,
    settledBy: row.settledBy,
  };
}

export async function acceptStep(
  scope: Scope,
  step: {
    stepId: string;
    effect: Effect;
    gate: Gate;
    rule: string;
    /** Absent: why is not kept. */
    policy?: StepPolicy;
    isTainted: boolean;
  },
): Promise<void> {
  await scope.tx.step.updateMany({
    where: { id: step.stepId, state: 'proposed' },
    data: {
      state: 'accepted',
      effect: step.effect,
      gate: step.gate,
      rule: step.rule,
      ...(step.policy && { policy: { ...step.policy } }),
      tainted: step.isTainted,
    },
  });
}

export async function rejectStep(
  scope: Scope,
  step: { stepId: string; check: string; code: ErrorCode },
): Promise<void> {
  await scope.tx.step.updateMany({
    where: { id: step.stepId, state: 'proposed' },
    data: { state: 'rejected', failedCheck: step.check, code: step.code, finishedAt: new Date() },
  });
}

/** Writes the started row: from here on, silence means "perhaps". Returns the fence that the caller must still hold. */
export async function startStep(
  scope: Scope,
  { stepId, timeoutMs }: { stepId: string; timeoutMs: number },
): Promise<{ fence: string; callBy: Date }> {
  const fence = randomUUID();
  const callBy = new Date(Date.now() + timeoutMs);
  await scope.tx.step.update({
    where: { id: stepId },
    data: { state: 'started', fence, callBy, startedAt: new Date(), attempts: { increment: 1 } },
  });
  return { fence, callBy };
}

/** Read again right before the call: another worker may have taken the step over meanwhile. */
export async function holdsFence(
  scope: Scope,
  { stepId, fence }: { stepId: string; fence: string },
): Promise<boolean> {
  return (await scope.tx.step.count({ where: { id: stepId, fence, state: 'started' } })) === 1;
}

/** Records what came of a started step, if the fence is still ours. */
export async function finishStep(
  scope: Scope,
  step: {
    stepId: string;
    fence: string;
    contactId: string;
    outcome:
      | { state: 'succeeded'; result: JsonObject; isPartial: boolean; isDeclined: boolean }
      | { state: 'failed'; code: ErrorCode }
      | { state: 'unknown' };
  },
): Promise<{ recorded: boolean; resultId?: string }> {
  const { stepId, fence, outcome } = step;
  const where = { id: stepId, fence, state: 'started' };
  const finishedAt = new Date();
  if (outcome.state !== 'succeeded') {
    const data =
      outcome.state === 'failed' ? { code: outcome.code } : { code: null, ref: await freshRef(scope) };
    const { count } = await scope.tx.step.updateMany({
      where,
      data: { state: outcome.state, ...data, finishedAt },
    });
    return { recorded: count === 1 };
  }
  const key = await scope.content.keyOfContact(scope.tx, scope.tenantId, step.contactId);
  const row = await scope.tx.step.findUniqueOrThrow({ where: { id: stepId }, select: { keyId: true } });
  const text = JSON.stringify(outcome.result);
  const resultId = randomUUID();
  const { count } = await scope.tx.step.updateMany({
    // One key per row: after an erasure in between, nothing new is written under the new key into the old row.
    where: { ...where, keyId: row.keyId === key.id ? key.id : '00000000-0000-0000-0000-000000000000' },
    data: {
      state: 'succeeded',
      finishedAt,
      resultId,
      resultCipher: scope.content.sealText(key, {
        table: 'steps',
        column: 'result_cipher',
        rowId: stepId,
        text,
      }),
      resultBytes: Buffer.byteLength(text),
      partial: outcome.isPartial,
      declined: outcome.isDeclined,
    },
  });
  return { recorded: count === 1, resultId };
}

/**
 * A step that had a plan and is never carried out, or a reading one that is not read again; `code` where the customer should
 * hear a certain reason.
 */
export async function refuseStep(
  scope: Scope,
  { stepId, code }: { stepId: string; code?: ErrorCode },
): Promise<void> {
  await scope.tx.step.updateMany({
    where: {
      id: stepId,
      OR: [{ state: { in: ['proposed', 'accepted'] } }, { state: 'started', effect: 'read' }],
    },
    data: { state: 'refused', finishedAt: new Date(), ...(code && { code }) },
  });
}

/**
 * Takes a start back, for whoever still holds the fence and has not called: the step is as it was before, and the yes that
 * the start consumed stands again. False: somebody else has the step.
 */
export async function takeBackStart(
  scope: Scope,
  { stepId, fence }: { stepId: string; fence: string },
): Promise<boolean> {
  const { count } = await scope.tx.step.updateMany({
    where: { id: stepId, fence, state: 'started' },
    data: { state: 'accepted', fence: null, callBy: null, startedAt: null },
  });
  if (count === 0) return false;
  await scope.tx.approval.updateMany({
    where: { stepId, state: 'used' },
    data: { state: 'approved', usedAt: null },
  });
  return true;
}
