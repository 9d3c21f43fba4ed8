// What the platform reports of messages of ours: sent, delivered, read, played, failed. Reports come out of order, twice, and
// before we have heard the answer to the send itself.
import { z } from 'zod';
import { base64 } from '../accept.js';
import type { Queryable } from '../functions.js';

/** A report of the platform about a message of ours. */
export interface StatusReport {
  /** The platform's id of the message. */
  externalId: string;
  /** Our own id of it, where the platform has handed it back. */
  outboxId?: string | undefined;
  status: 'sent' | 'delivered' | 'read' | 'played' | 'failed';
  at?: Date | undefined;
  /** Of a failure. */
  code?: string | undefined;
  /** The same for the same report. */
  digest: Uint8Array;
}

/**
 * `noted`: the row knows. `settle`: the row knows, and what follows from it is still to be done by whoever owns deliveries.
 * `unknown`: no message of ours.
 */
export type NotedStatus =
  { outcome: 'noted' | 'settle'; outboxId: string; chatId: string } | { outcome: 'unknown' };

/** Takes down what the platform reports of messages of one account: one round trip, one commit, one outcome for each. */
export async function noteStatuses(
  prisma: Queryable,
  reports: { channel: string; accountKey: string; statuses: StatusReport[] },
): Promise<{ tenantId: string; accountId: string; statuses: NotedStatus[] } | undefined> {
  const json = JSON.stringify({
    channel: reports.channel,
    accountKey: reports.accountKey,
    statuses: reports.statuses.map(({ digest, at, ...status }) => ({
      ...status,
      digest: base64(digest),
      at: at?.toISOString(),
    })),
  });
  const [row] = await prisma.$queryRaw<
    { result: unknown }[]
  >`select aroko_statuses(${json}::jsonb) as result`;
  const read = statusResult.parse(row?.result);
  if (read.outcome === 'unknown_account') return undefined;
  const byPlace = new Map(read.statuses.map(({ place, ...status }) => [place, status]));
  return {
    tenantId: read.tenantId,
    accountId: read.accountId,
    statuses: reports.statuses.map((_, place) => byPlace.get(place) ?? { outcome: 'unknown' }),
  };
}

const statusResult = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('done'),
    tenantId: z.string(),
    accountId: z.string(),
    statuses: z.array(
      z.discriminatedUnion('outcome', [
        z.object({
          place: z.number(),
          outcome: z.enum(['noted', 'settle']),
          outboxId: z.string(),
          chatId: z.string(),
        }),
        z.object({ place: z.number(), outcome: z.literal('unknown') }),
      ]),
    ),
  }),
  z.object({ outcome: z.literal('unknown_account') }),
]);
