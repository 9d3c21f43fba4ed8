// Sends. On the web chat and the API the commit is the delivery: the gateway hears of it and pushes it to whoever looks. On
// WhatsApp each message is a call that happens at most once: the row says `sending` before, and what came of it after.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { lockOutgoing, sendByCommit } from '../../prisma/stores/deliveries.js';
import { mediaContent } from '../../prisma/stores/media.js';
import { findByOrigin, hasSpoken, planMessage } from '../../prisma/stores/outbox.js';
import { noteNotReady, settleSend, type CallOutcome } from '../../prisma/stores/sends.js';
import { lastMessageId, turnById } from '../../prisma/stores/turns.js';
import type { DeliveryActivities } from '../../workflows/activity-ports.js';
import { FAILURE_TYPES } from '../../workflows/domain/failures.js';
import type { ActivityDeps } from '../deps.js';
import { failureTypeOf } from '../failure-type.js';
import { withHeartbeat } from '../heartbeat.js';
import { say } from '../sentences.js';
import { logStage } from '../stages.js';
import type { SendError } from '../whatsapp-cloud/errors.js';
import { fetchMedia } from '../whatsapp-cloud/fetch-media.js';
import { SEND_TIMEOUT_MS } from '../whatsapp-cloud/graph.js';
import { createSendLimiter, type SendLimiter } from '../whatsapp-cloud/limiter.js';
import { isCut } from '../whatsapp-cloud/wire.js';
import { GIVE_UP_MS, nextStep, WINDOW_CLOSED, type Call, type NextStep, type Uploads } from './next-step.js';

/** A place below the limits that is free so soon is waited for here; a longer wait is Temporal's. */
const SHORT_WAIT_MS = 2_000;
/** From the fence to the call. A process that was stopped in between may be taken for dead already: it must not call. */
const LATEST_CALL_MS = GIVE_UP_MS - SEND_TIMEOUT_MS - 1_000;
/** What the platform has said is worth a few tries to write it down: else nobody would know it any more. */
const SETTLE_TRIES = 4;

type DeliveryDeps = Pick<ActivityDeps, 'inScope' | 'tenants' | 'graph' | 'log'>;

type Delivered = { state: Extract<NextStep, { kind: 'settled' }>['settled']['state']; held?: true };

export function createDeliveryActivities(
  deps: DeliveryDeps,
  { limiter = createSendLimiter() }: { limiter?: SendLimiter } = {},
): DeliveryActivities {
  const delivery = createDelivery(deps, limiter);
  return {
    deliver: ({ tenantId, outboxId }) => withHeartbeat(() => delivery.deliver(tenantId, outboxId)),

    async acknowledge({ tenantId, turnId }) {
      const tenant = await deps.tenants.byId(tenantId);
      const planned = await deps.inScope(tenantId, async (scope) => {
        const origin = { kind: 'acknowledgement', id: turnId };
        // The run has spoken meanwhile, and its words are on their way: no second "I'll check". Unless it is our own first.
        if (await hasSpoken(scope, turnId)) {
          const own = await findByOrigin(scope, origin);
          return own ? { outboxId: own.outboxId } : { settled: { state: 'unneeded' as const } };
        }
        const turn = await turnById(scope, turnId);
        const { outboxId } = await planMessage(scope, {
          chatId: turn.chatId,
          contactId: turn.contactId,
          turnId,
          origin,
          kind: 'acknowledgement',
          text: say(tenant, 'acknowledgement'),
          answersMessageId: await lastMessageId(scope, turnId),
        });
        logStage(deps, 'AgentToolImmediateTimeout', { tenantId, turnId });
        const row = await lockOutgoing(scope, outboxId);
        return row?.channel === 'web' ? { settled: await sendByCommit(scope, row) } : { outboxId };
      });
      const { outboxId } = planned;
      if (outboxId !== undefined) return withHeartbeat(() => delivery.deliver(tenantId, outboxId));
      return { state: planned.settled.state };
    },
  };
}

function createDelivery(deps: DeliveryDeps, limiter: SendLimiter) {
  /** Goes on until this message, with all its parts, is settled or has to wait. */
  async function deliver(tenantId: string, outboxId: string): Promise<Delivered> {
    const tenant = await deps.tenants.byId(tenantId);
    const uploads: Uploads = new Map();
    for (;;) {
      const began = performance.now();
      const next = await deps.inScope(tenantId, (scope) =>
        nextStep(scope, { tenant, limiter, uploads }, outboxId),
      );
      switch (next.kind) {
        case 'settled':
          return settled(tenantId, outboxId, next);
        case 'wait':
          if (next.waitMs > SHORT_WAIT_MS || next.because === 'unsettled') throw later(next);
          await sleep(next.waitMs);
          break;
        case 'fetch':
          await fetch(tenantId, next);
          break;
        case 'upload':
          await upload(tenantId, next, { uploads, slug: tenant.configuration.slug });
          break;
        case 'call': {
          const end = await call(tenantId, next.call, { began });
          if (end) return end;
        }
      }
    }
  }

  function settled(
    tenantId: string,
    outboxId: string,
    { settled: { state, isHeld }, turnId, code }: Extract<NextStep, { kind: 'settled' }>,
  ): Delivered {
    const correlationId = turnId ?? undefined;
    deps.log.event('outbox.settled', { tenantId, correlationId, outboxId, state, code, held: isHeld });
    return { state, ...(isHeld && { held: true }) };
  }

  /** The one call. Nothing: there is more to be done for this message. */
  async function call(
    tenantId: string,
    { outboxId, turnId, fence, attempt, account, message, to }: Call,
    { began }: { began: number },
  ): Promise<Delivered | undefined> {
    const isLate = performance.now() - began > LATEST_CALL_MS;
    const answer = isLate ? undefined : await deps.graph.send(account, message, { ...to, attempt });
    const outcome = outcomeOf(answer);
    const { state, isWhole } = await settle(tenantId, { outboxId, fence, outcome });
    const correlationId = turnId ?? undefined;
    const code = outcome.kind === 'sent' ? undefined : outcome.code;
    deps.log.event('outbox.settled', { tenantId, correlationId, outboxId, state, code, attempt });
    // It counts as answered, and its reader has a beginning of it only: who looks after the business has to hear of that.
    if (state === 'sent' && message.type === 'template' && isCut(message.template)) {
      deps.log.warn('outbox.cut', { tenantId, correlationId, outboxId });
    }
    if (state === 'planned') {
      if (code === WINDOW_CLOSED || isLate) return undefined;
      throw busy(code ?? '', answer?.kind === 'error' ? answer.error.delayMs : undefined);
    }
    return state === 'sent' && !isWhole ? undefined : { state };
  }

  /** Written down even if Postgres stumbles: the answer is known to us alone. */
  async function settle(
    tenantId: string,
    send: { outboxId: string; fence: string; outcome: CallOutcome },
  ): ReturnType<typeof settleSend> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await deps.inScope(tenantId, (scope) => settleSend(scope, send));
      } catch (error) {
        if (tries >= SETTLE_TRIES || failureTypeOf(error) !== FAILURE_TYPES.database) throw error;
        await sleep(tries * 300);
      }
    }
  }

  async function fetch(
    tenantId: string,
    { outboxId, messageId, attempt }: Extract<NextStep, { kind: 'fetch' }>,
  ): Promise<void> {
    const fetched = await fetchMedia(deps, { tenantId, messageId, attempt });
    if (fetched.state !== 'later') return;
    await notReady(tenantId, { outboxId, isFinal: false, ...fetched });
  }

  /** Nobody has been told anything yet, so it may be tried again, within bounds. */
  async function notReady(
    tenantId: string,
    {
      delayMs,
      ...refused
    }: { outboxId: string; code: string; isFinal: boolean; delayMs?: number | undefined },
  ): Promise<void> {
    const state = await deps.inScope(tenantId, (scope) => noteNotReady(scope, refused));
    if (state === 'planned') throw busy(refused.code, delayMs);
  }

  async function upload(
    tenantId: string,
    { outboxId, account, attempt, what }: Extract<NextStep, { kind: 'upload' }>,
    { uploads, slug }: { uploads: Uploads; slug: string },
  ): Promise<void> {
    const file = await fileOf(tenantId, what, slug);
    if (!file) return notReady(tenantId, { outboxId, code: 'media_missing', isFinal: true });
    const answer = await deps.graph.upload(account, { ...file, attempt });
    if (answer.kind === 'error') {
      const { meaning, code, delayMs } = answer.error;
      // An upload may be repeated, also where nobody knows how it went.
      return notReady(tenantId, {
        outboxId,
        code,
        delayMs,
        isFinal: meaning !== 'busy' && meaning !== 'unknown',
      });
    }
    const kind = 'text' in what ? 'document' : what.kind;
    uploads.set(outboxId, { kind, mediaId: answer.mediaId, filename: file.filename });
  }

  async function fileOf(
    tenantId: string,
    what: Extract<NextStep, { kind: 'upload' }>['what'],
    slug: string,
  ): Promise<{ content: Uint8Array; mimeType: string; filename: string } | undefined> {
    if ('text' in what) {
      const content = Buffer.from(what.text, 'utf8');
      return { content, mimeType: 'text/plain', filename: `${slug}-${shortHash(content)}.txt` };
    }
    const stored = await deps.inScope(tenantId, (scope) => mediaContent(scope, what.messageId));
    return stored && { ...stored, filename: `${slug}-${shortHash(stored.content)}` };
  }

  return { deliver };
}

/** Files need names, and names say nothing: no words of ours, none of the customer's. */
function shortHash(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 8);
}

function outcomeOf(
  answer: { kind: 'accepted'; externalId: string } | { kind: 'error'; error: SendError } | undefined,
): CallOutcome {
  if (!answer) return { kind: 'again', code: 'late' };
  if (answer.kind === 'accepted') return { kind: 'sent', externalId: answer.externalId };
  const { meaning, code } = answer.error;
  switch (meaning) {
    case 'busy':
    case 'window':
      return { kind: 'again', code };
    case 'failed':
    case 'unknown':
      return { kind: meaning, code };
  }
}

function later({ because, waitMs }: Extract<NextStep, { kind: 'wait' }>): ApplicationFailure {
  if (because === 'busy') return busy('limit', waitMs);
  return ApplicationFailure.create({
    type: FAILURE_TYPES.effectUnsettled,
    message: 'an earlier attempt to send it may still come back',
    nextRetryDelay: waitMs,
  });
}

/** Temporal asks again when the channel may have recovered. */
function busy(code: string, delayMs: number | undefined): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE_TYPES.channelBusy,
    message: `the channel takes no message for now (${code})`,
    ...(delayMs !== undefined && { nextRetryDelay: delayMs }),
  });
}
