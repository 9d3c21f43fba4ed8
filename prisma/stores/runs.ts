// Tool runs: the row that outlives Temporal's memory. One per flagged turn, for ever.
import type { ErrorCode } from '../../workflows/domain/failures.js';
import { notify, type Scope } from './scope.js';

export const OPEN_RUN_STATES = [
  'detecting',
  'planning',
  'validating',
  'waiting',
  'executing',
  'summarizing',
] as const;
export type OpenRunState = (typeof OPEN_RUN_STATES)[number];
export type ClosedRunState =
  'succeeded' | 'failed' | 'refused' | 'asked' | 'no_tool' | 'already_open' | 'unknown';

export interface RunCandidate {
  tool: string;
  score: number;
  because: string;
}

/** Registers the run of a turn. Registered before: nothing changes. */
export async function registerRun(
  scope: Scope,
  run: { turnId: string; chatId: string; contactId: string; configHash: string; candidates: RunCandidate[] },
): Promise<void> {
  await scope.tx.toolRun.createMany({
    data: [
      {
        turnId: run.turnId,
        tenantId: scope.tenantId,
        chatId: run.chatId,
        contactId: run.contactId,
        state: 'planning',
        configHash: run.configHash,
        candidates: run.candidates.map((candidate) => ({ ...candidate })),
      },
    ],
    skipDuplicates: true,
  });
  await notify(scope, { chatId: run.chatId, what: 'run' });
}

/** Moves an open run on; a closed one stays as it is. */
export async function moveRun(
  scope: Scope,
  { turnId, chatId, to }: { turnId: string; chatId: string; to: OpenRunState },
): Promise<void> {
  await scope.tx.toolRun.updateMany({ where: { turnId, open: true }, data: { state: to } });
  await notify(scope, { chatId, what: 'run' });
}

/** Closes a run once; later words about it change nothing. */
export async function closeRun(
  scope: Scope,
  run: { turnId: string; chatId: string; to: ClosedRunState; code?: ErrorCode | undefined },
): Promise<void> {
  await scope.tx.toolRun.updateMany({
    where: { turnId: run.turnId, open: true },
    data: { state: run.to, open: false, closedAt: new Date(), code: run.code ?? null },
  });
  await notify(scope, { chatId: run.chatId, what: 'run' });
}

/** Another run of this chat that is working on the very same request. */
export async function openRunWithRequest(
  scope: Scope,
  { turnId, chatId, requestKey }: { turnId: string; chatId: string; requestKey: Uint8Array },
): Promise<string | undefined> {
  const run = await scope.tx.toolRun.findFirst({
    where: { chatId, open: true, requestKey: Buffer.from(requestKey), NOT: { turnId } },
    select: { turnId: true },
  });
  return run?.turnId;
}

/** When the very same request last succeeded in this chat, if it was after `since`. */
export async function succeededRequest(
  scope: Scope,
  request: { chatId: string; requestKey: Uint8Array; since: Date },
): Promise<Date | undefined> {
  const run = await scope.tx.toolRun.findFirst({
    where: {
      chatId: request.chatId,
      requestKey: Buffer.from(request.requestKey),
      state: 'succeeded',
      // What was declined was not done, and may be asked for again.
      steps: { some: { state: 'succeeded', declined: false } },
      closedAt: { gt: request.since },
    },
    orderBy: { closedAt: 'desc' },
    select: { closedAt: true },
  });
  return run?.closedAt ?? undefined;
}

/** Reserves the request for this run: a unique index holds over the open runs of a chat. */
export async function claimRequest(
  scope: Scope,
  { turnId, requestKey }: { turnId: string; requestKey: Uint8Array },
): Promise<void> {
  await scope.tx.toolRun.update({ where: { turnId }, data: { requestKey: Buffer.from(requestKey) } });
}

/** An open run whose message said the very same thing, word for word. */
export async function openRunWithText(
  scope: Scope,
  { chatId, contentHmac }: { chatId: string; contentHmac: Uint8Array },
): Promise<string | undefined> {
  const [run] = await scope.tx.$queryRaw<{ turnId: string }[]>`
    select r.turn_id as "turnId" from tool_runs r join inbox i on i.turn_id = r.turn_id
    where r.chat_id = ${chatId}::uuid and r.open and i.content_hmac = ${Buffer.from(contentHmac)} limit 1`;
  return run?.turnId;
}
