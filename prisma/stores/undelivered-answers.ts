// Words for customers that will not arrive, of all tenants: what the clock looks for to tell owners of.
import type { PrismaClient } from '../generated/client.js';

/** Those of the last hour of which no owner was written to, oldest first. `except`: ids of rows and tenants to leave out. */
export async function undeliveredAnswers(
  prisma: Pick<PrismaClient, '$queryRaw'>,
  { limit, except }: { limit: number; except: readonly string[] },
): Promise<{ tenantId: string; id: string }[]> {
  return prisma.$queryRaw`
    select tenant_id as "tenantId", outbox_id as id from aroko_undelivered_answers(${limit}::int, ${[...except]}::uuid[])`;
}
