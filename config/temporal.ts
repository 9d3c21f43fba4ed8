// The gateway's connection to Temporal. The worker's native one lies in temporal-worker.ts, because it loads a library of
// several megabytes that a client doesn't need.
import { Client, Connection } from '@temporalio/client';
import { retryUntil, type Patience } from './patience.js';

export interface TemporalTarget {
  address: string;
  namespace: string;
}

export interface TemporalClient {
  client: Client;
  connection: Connection;
  close(): Promise<void>;
}

/**
 * Connects a client, waiting for a server that is still starting.
 *
 * @throws {Error} whose message names the address and what to check, once the time is over.
 */
export async function connectTemporal(
  target: TemporalTarget,
  patience: Patience = {},
): Promise<TemporalClient> {
  const connection = await retryUntil({
    what: temporalAt(target),
    attempt: () =>
      Connection.connect({
        address: target.address,
        connectTimeout: Math.min(5_000, patience.giveUpAfterMs ?? 5_000),
      }),
    patience,
  });
  const client = new Client({ connection, namespace: target.namespace });
  return { client, connection, close: () => connection.close() };
}

/** What a message calls the server. */
export function temporalAt({ address, namespace }: TemporalTarget): string {
  return `Temporal at ${address} (namespace ${namespace})`;
}
