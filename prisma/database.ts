// The one door to Postgres. Every read or write of a tenant's rows goes through `inTenant`: row-level security shows
// nothing to a connection whose transaction names no tenant. What must be asked before the tenant is known goes through
// the functions in functions.ts.

import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient, type Prisma } from './generated/client.js';

/** The client inside one tenant's transaction. */
export type Tx = Prisma.TransactionClient;

export interface Database {
  /** Without a tenant: sees no tenant's row. Good for the functions of functions.ts and for health checks. */
  readonly prisma: PrismaClient;
  /**
   * Runs `work` in one transaction that sees and writes the rows of this tenant only. Commits when `work` resolves,
   * rolls back when it rejects. Never wait for the network inside: a connection is held all the time.
   */
  inTenant<Result>(tenantId: string, work: (tx: Tx) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** How long a transaction may wait for a connection, and how long it may last. */
const MAX_WAIT_MS = 10_000;
const TIMEOUT_MS = 10_000;

/**
 * Opens a pool as the role named in `url` (the application's in production). Connects lazily.
 * `poolSize` is the number of connections, 10 by default; keep activity slots below it.
 */
export function openDatabase({ url, poolSize = 10 }: { url: string; poolSize?: number }): Database {
  const prisma = new PrismaClient({
    adapter: new PrismaPg({
      connectionString: url,
      max: poolSize,
      connectionTimeoutMillis: MAX_WAIT_MS,
      // The adapter drops the offset of the times it reads and writes, so the session has to speak UTC.
      options: '-c TimeZone=UTC',
    }),
  });
  return {
    prisma,
    async inTenant(tenantId, work) {
      if (!UUID.test(tenantId)) throw new TypeError('inTenant needs the id of a tenant');
      return prisma.$transaction(
        async (tx) => {
          await tx.$queryRaw`select set_config('app.tenant', ${tenantId}, true)`;
          return work(tx);
        },
        { maxWait: MAX_WAIT_MS, timeout: TIMEOUT_MS },
      );
    },
    close: () => prisma.$disconnect(),
  };
}
