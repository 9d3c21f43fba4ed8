// Runs as owners and engineers see them: one line each, or the whole story of one.
import { inOrder, readable, type Scope } from '../scope.js';
import { jsonObjectOf, listApprovals, type ApprovalView } from './approvals.js';
import { addressesOf } from './addresses.js';
import type { JsonObject } from '../../../workflows/domain/tool.js';
import type { Prisma } from '../../generated/client.js';

/** What a list shows of a run: codes only, nothing that somebody wrote. */
export interface RunCodes {
  /** The turn's id is the run's id. */
  runId: string;
  chatId: string;
  state: string;
  code: string | undefined;
  /** Tools of its steps, in order; empty while nothing is planned. */
  tools: string[];
  startedAt: Date;
  closedAt: Date | undefined;
  /** A step may or may not have happened, and a person has to find out. */
  isUnknown: boolean;
}

export interface RunLine extends RunCodes {
  /** The chat's address; undefined: erased. */
  chat: string | undefined;
}

export interface RunFilter {
  /** `open`: not over. `unknown`: a step may or may not have happened. `failed`: that, or it ended badly. */
  only?: 'open' | 'unknown' | 'failed' | undefined;
  state?: string | undefined;
  /** Started at or after. */
  since?: Date | undefined;
  chatId?: string | undefined;
  /** With `failed`: runs whose workflow ended badly, as Temporal lists them; their rows may not know it. */
  endedBadly?: readonly string[] | undefined;
  limit: number;
}

export interface StepView {
  stepId: string;
  ordinal: number;
  tool: string;
  effect: string | undefined;
  state: string;
  rule: string | undefined;
  failedCheck: string | undefined;
  code: string | undefined;
  attempts: number;
  arguments: JsonObject | undefined;
  isTainted: boolean;
  startedAt: Date | undefined;
  finishedAt: Date | undefined;
}

export interface RunStory extends RunLine {
  /** What the customer wrote in this turn, in order. */
  messages: { sequence: number; text: string | undefined; at: Date }[];
  because: string | undefined;
  configHash: string;
  steps: StepView[];
  approvals: ApprovalView[];
  /** What was or will be said to the customer. */
  says: { kind: string; text: string | undefined; state: string; at: Date }[];
  audit: { number: number; event: string; actor: string; facts: JsonObject; at: Date }[];
}

/** The newest first. */
export async function listRuns(scope: Scope, filter: RunFilter): Promise<RunLine[]> {
  const runs = await listRunCodes(scope.tx, filter);
  const addresses = await addressesOf(
    scope,
    runs.map((run) => run.chatId),
  );
  return runs.map((run) => ({ ...run, chat: addresses.get(run.chatId) }));
}

/** The same without the addresses: needs no key. */
export async function listRunCodes(tx: Scope['tx'], filter: RunFilter): Promise<RunCodes[]> {
  const { state, since, chatId, limit } = filter;
  const rows = await tx.toolRun.findMany({
    where: {
      ...whereOf(filter),
      ...(state !== undefined && { state }),
      ...(since && { startedAt: { gte: since } }),
      ...(chatId !== undefined && { chatId }),
    },
    orderBy: [{ startedAt: 'desc' }, { turnId: 'asc' }],
    take: limit,
    include: { steps: { orderBy: { ordinal: 'asc' }, select: { tool: true, state: true } } },
  });
  return rows.map(codesOf);
}

function whereOf({ only, endedBadly = [] }: RunFilter): Prisma.ToolRunWhereInput {
  const isUnknown = { steps: { some: { state: 'unknown' } } };
  switch (only) {
    case 'open':
      return { open: true };
    case 'unknown':
      return isUnknown;
    case 'failed':
      return {
        OR: [{ state: { in: ['failed', 'unknown'] } }, isUnknown, { turnId: { in: [...endedBadly] } }],
      };
    case undefined:
      return {};
  }
}

/** Turns whose workflow ended before it had registered a run: there is nothing but the turn. */
export async function turnsWithoutRun(tx: Scope['tx'], filter: RunFilter): Promise<RunCodes[]> {
  const { endedBadly = [], since, chatId, limit } = filter;
  const rows = await tx.turn.findMany({
    where: {
      id: { in: [...endedBadly] },
      run: null,
      ...(since && { claimedAt: { gte: since } }),
      ...(chatId !== undefined && { chatId }),
    },
    orderBy: [{ claimedAt: 'desc' }, { id: 'asc' }],
    take: limit,
  });
  return rows.map((turn) => ({
    runId: turn.id,
    chatId: turn.chatId,
    state: 'never registered',
    code: undefined,
    tools: [],
    startedAt: turn.claimedAt,
    closedAt: turn.closedAt ?? undefined,
    isUnknown: false,
  }));
}

interface CodesRow {
  turnId: string;
  chatId: string;
  state: string;
  code: string | null;
  startedAt: Date;
  closedAt: Date | null;
  steps: { tool: string; state: string }[];
}

function codesOf(row: CodesRow): RunCodes {
  return {
    runId: row.turnId,
    chatId: row.chatId,
    state: row.state,
    code: row.code ?? undefined,
    tools: row.steps.map((step) => step.tool),
    startedAt: row.startedAt,
    closedAt: row.closedAt ?? undefined,
    isUnknown: row.state === 'unknown' || row.steps.some((step) => step.state === 'unknown'),
  };
}

/** Whether the run of a turn has more to do or to say. */
export async function isRunOpen(tx: Scope['tx'], turnId: string): Promise<boolean> {
  return (await tx.toolRun.count({ where: { turnId, open: true } })) > 0;
}

/** Everything that is known of one run, or undefined. */
export async function storyOfRun(
  scope: Scope,
  { runId, now }: { runId: string; now: Date },
): Promise<RunStory | undefined> {
  const row = await scope.tx.toolRun.findUnique({
    where: { turnId: runId },
    include: {
      steps: { orderBy: { ordinal: 'asc' } },
      turn: { select: { because: true, messages: { orderBy: { sequence: 'asc' } } } },
    },
  });
  if (!row) return undefined;
  const approvals = await listApprovals(scope, { filter: { turnId: runId }, limit: 20, now });
  const says = await scope.tx.outbox.findMany({ where: { turnId: runId }, orderBy: { plannedAt: 'asc' } });
  const subjects = [runId, ...row.steps.map((step) => step.id), ...approvals.map((one) => one.approvalId)];
  const audit = await scope.tx.audit.findMany({
    where: { subjectId: { in: subjects } },
    orderBy: [{ happenedAt: 'asc' }, { number: 'asc' }],
  });
  return {
    ...codesOf(row),
    chat: (await addressesOf(scope, [row.chatId])).get(row.chatId),
    because: row.turn.because ?? undefined,
    configHash: row.configHash,
    messages: await inOrder(row.turn.messages, async (message) => ({
      sequence: message.sequence,
      at: message.receivedAt,
      text: await contentOf(scope, 'inbox', message),
    })),
    steps: await inOrder(row.steps, async (step) => ({
      stepId: step.id,
      ordinal: step.ordinal,
      tool: step.tool,
      effect: step.effect ?? undefined,
      state: step.state,
      rule: step.rule ?? undefined,
      failedCheck: step.failedCheck ?? undefined,
      code: step.code ?? undefined,
      attempts: step.attempts,
      isTainted: step.tainted,
      startedAt: step.startedAt ?? undefined,
      finishedAt: step.finishedAt ?? undefined,
      arguments: jsonObjectOf(
        await readable(scope, {
          table: 'steps',
          column: 'arguments_cipher',
          rowId: step.id,
          keyId: step.keyId,
          cipher: step.argumentsCipher,
        }),
      ),
    })),
    approvals,
    says: await inOrder(says, async (say) => ({
      kind: say.kind,
      state: say.state,
      at: say.settledAt ?? say.plannedAt,
      text: await contentOf(scope, 'outbox', say),
    })),
    audit: audit.map(({ number, event, actor, facts, happenedAt }) => ({
      number,
      event,
      actor,
      facts: jsonObjectOf(JSON.stringify(facts)) ?? {},
      at: happenedAt,
    })),
  };
}

function contentOf(
  scope: Scope,
  table: 'inbox' | 'outbox',
  row: { id: string; keyId: string | null; contentCipher: Uint8Array | null },
): Promise<string | undefined> {
  return readable(scope, {
    table,
    column: 'content_cipher',
    rowId: row.id,
    keyId: row.keyId,
    cipher: row.contentCipher,
  });
}
