// Errors of Prisma, zod and HTTP carry values; a Temporal failure is stored and shown in plain. So every foreign error
// becomes an `ApplicationFailure` of a documented type, and what it said is kept encrypted in `failures`.
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import { failureTypeOf } from '../activities/failure-type.js';
import { type Logger, errorFacts } from '../config/logger.js';
import { keepFailure } from '../prisma/stores/failures.js';
import type { InScope } from '../prisma/stores/scope.js';
import { FAILURE_TYPES, type FailureType } from '../workflows/domain/failures.js';

export function createFailureInterceptor(deps: {
  inScope: InScope;
  log: Logger;
}): ActivityInterceptorsFactory {
  return (context) => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          // A worker that ends breaks off what it does: the next one takes it up, and nothing has failed.
          if (context.cancellationSignal.aborted) {
            throw ApplicationFailure.create({
              type: FAILURE_TYPES.interrupted,
              message: 'the worker is ending',
            });
          }
          if (error instanceof TemporalFailure) throw withoutCause(error);
          const { activityType, workflowExecution, attempt } = context.info;
          const place = { activity: activityType, workflowId: workflowExecution?.workflowId };
          deps.log.warn('activity.failed', { ...place, attempt, ...errorFacts(error) });
          const type = failureTypeOf(error);
          await keep(deps, { error, type, tenantId: tenantOf(input.args), ...place });
          throw ApplicationFailure.create({ type, message: `${activityType} failed (${codeOf(error)})` });
        }
      },
    },
  });
}

/** A cause would carry the foreign error's message into the history after all. */
function withoutCause(failure: TemporalFailure): TemporalFailure {
  if (!(failure instanceof ApplicationFailure) || failure.cause === undefined) return failure;
  return ApplicationFailure.create({
    message: failure.message,
    ...(failure.type && { type: failure.type }),
    nonRetryable: failure.nonRetryable ?? false,
    ...(failure.nextRetryDelay ? { nextRetryDelay: failure.nextRetryDelay } : {}),
  });
}

/** The class and code of an error, never its message. */
function codeOf(error: unknown): string {
  const { errorName, errorCode } = errorFacts(error);
  return errorCode === undefined ? errorName : `${errorName} ${errorCode}`;
}

function tenantOf([input]: unknown[]): string | undefined {
  if (typeof input !== 'object' || input === null || !('tenantId' in input)) return undefined;
  return typeof input.tenantId === 'string' ? input.tenantId : undefined;
}

/** Best effort: where Postgres is what failed, the class and code in the log have to do. */
async function keep(
  { inScope, log }: { inScope: InScope; log: Logger },
  failure: {
    error: unknown;
    type: FailureType;
    tenantId: string | undefined;
    activity: string;
    workflowId: string | undefined;
  },
): Promise<void> {
  const { tenantId, error, ...place } = failure;
  if (tenantId === undefined) return;
  try {
    await inScope(tenantId, (scope) => keepFailure(scope, { ...place, error, code: codeOf(error) }));
  } catch (keepingError) {
    log.warn('failure.not_kept', errorFacts(keepingError));
  }
}
