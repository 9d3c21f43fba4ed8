// Asks a model for a turn, and counts what it cost: every call leaves a row and an audit entry, also a failed one.
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { FAILURE_TYPES } from '../../workflows/domain/failures.js';
import type { ModelCall } from '../../prisma/stores/model-calls.js';
import { recordModelCall } from '../../prisma/stores/model-calls.js';
import type { ActivityDeps } from '../deps.js';
import { withHeartbeat } from '../heartbeat.js';
import type { ModelReply, ModelRequest } from './model.js';

export interface Asker {
  tenantId: string;
  chatId: string;
  turnId: string;
  purpose: ModelCall['purpose'];
}

export async function askModel(deps: ActivityDeps, asker: Asker, request: ModelRequest): Promise<ModelReply> {
  const startedAt = Date.now();
  const { tenantId, chatId, turnId, purpose } = asker;
  const record = (outcome: string, reply?: ModelReply): Promise<void> => {
    const call = {
      chatId,
      turnId,
      purpose,
      model: deps.model.nameOf(request.use),
      outcome,
      inputTokens: reply?.inputTokens ?? 0,
      outputTokens: reply?.outputTokens ?? 0,
      latencyMs: Date.now() - startedAt,
    };
    const { turnId: correlationId, ...rest } = call;
    deps.log.event('model.called', { tenantId, correlationId, ...rest });
    return deps.inScope(tenantId, (scope) => recordModelCall(scope, call));
  };
  try {
    const reply = await withHeartbeat(() => deps.model.ask(request, Context.current().cancellationSignal));
    await record('ok', reply);
    return reply;
  } catch (error) {
    await record(error instanceof ApplicationFailure ? (error.type ?? 'failed') : 'cancelled');
    throw giveUpInTime(error);
  }
}

/** A customer waits: after so many tries an honest sentence is better than a late answer. */
const MODEL_ATTEMPTS = 4;

/** The same failure, but for good once there have been enough tries. */
export function giveUpInTime(error: unknown): unknown {
  const { attempt } = Context.current().info;
  if (!(error instanceof ApplicationFailure) || attempt < MODEL_ATTEMPTS) return error;
  return ApplicationFailure.create({
    ...(error.type && { type: error.type }),
    message: error.message,
    nonRetryable: true,
  });
}

/** The model answered with something that is of no use; asked again it may do better. */
export function uselessReply(message: string): unknown {
  return giveUpInTime(ApplicationFailure.create({ type: FAILURE_TYPES.modelUnavailable, message }));
}
