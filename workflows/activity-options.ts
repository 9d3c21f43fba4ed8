// One options object per class of work. `cancellationType` is stated because the documented default is not the real one.
import { ActivityCancellationType, type ActivityOptions } from '@temporalio/workflow';
import { FAILURE_TYPES } from './domain/failures.js';

const NEVER_RETRIED = [FAILURE_TYPES.modelRefused, FAILURE_TYPES.internal];

/** Postgres only. It must happen, however long Postgres is away: retried without end, at most every 10 s. */
export const databaseWork = {
  startToCloseTimeout: '15 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '10 s' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} satisfies ActivityOptions;

/**
 * One model call. Providers answer within 45 s or not at all; a heartbeat tells a dead worker apart within 10 s. The
 * activity itself gives a failing model up after four tries; the rest of the attempts are for Postgres being away.
 */
export const modelWork = {
  startToCloseTimeout: '60 s',
  heartbeatTimeout: '10 s',
  retry: {
    initialInterval: '1 s',
    backoffCoefficient: 2,
    maximumInterval: '20 s',
    maximumAttempts: 12,
    nonRetryableErrorTypes: NEVER_RETRIED,
  },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} satisfies ActivityOptions;

/**
 * A message on its way to a channel. Its media may have to be fetched and uploaded first, with 30 s for each of three calls; a
 * heartbeat tells a dead worker apart within 10 s. As often as it takes: an attempt that finds the message sent, failed or unknown ends at once.
 */
export const sendWork = {
  startToCloseTimeout: '2 m',
  heartbeatTimeout: '10 s',
  retry: databaseWork.retry,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} satisfies ActivityOptions;

/**
 * A tool step. Attempts are many, but an effect is called once: a later attempt finds the `started` row and settles it.
 * Bounded by attempts and not by the clock: the time in which no worker runs must not turn a yes into a failure.
 */
export const stepWork = {
  startToCloseTimeout: '2 m',
  heartbeatTimeout: '10 s',
  retry: {
    initialInterval: '1 s',
    backoffCoefficient: 2,
    maximumInterval: '15 s',
    maximumAttempts: 60,
    nonRetryableErrorTypes: NEVER_RETRIED,
  },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} satisfies ActivityOptions;
