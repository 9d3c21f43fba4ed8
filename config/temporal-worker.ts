import { NativeConnection } from '@temporalio/worker';
import { retryUntil, type Patience } from './patience.js';
import { temporalAt, type TemporalTarget } from './temporal.js';

/**
 * The native connection a Temporal worker needs, waiting for a server that is still starting. Close it after the worker has
 * ended.
 *
 * @throws {Error} whose message names the address and what to check, once the time is over.
 */
export function connectTemporalWorker(
  target: TemporalTarget,
  patience: Patience = {},
): Promise<NativeConnection> {
  return retryUntil({
    what: temporalAt(target),
    attempt: () => NativeConnection.connect({ address: target.address }),
    patience,
  });
}
