// Counts and ages of all tenants together, for metrics and health. Nothing here names anybody.
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PrismaClient } from './generated/client.js';

type Queryable = Pick<PrismaClient, '$queryRaw'>;

/** What is open at this moment. Ages are 0 where nothing is open. */
export interface OpenWork {
  messages: number;
  oldestMessageSeconds: number;
  /** Of those that wait for us: not for an owner's yes, for what became of a send, or for a person who has the chat. */
  oldestWaitingSeconds: number;
  outboxPlanned: number;
  outboxSending: number;
  /** Nobody knows whether they were delivered. */
  outboxUnknown: number;
  approvals: number;
  oldestApprovalSeconds: number;
  operatorRequests: number;
  /** Steps of which nobody knows whether they happened. */
  unknownEffects: number;
}

export async function openWork(prisma: Queryable): Promise<OpenWork> {
  const [row] = await prisma.$queryRaw<OpenWork[]>`
    select messages, oldest_message_seconds as "oldestMessageSeconds", oldest_waiting_seconds as "oldestWaitingSeconds", outbox_planned as "outboxPlanned",
      outbox_sending as "outboxSending", outbox_unknown as "outboxUnknown", approvals,
      oldest_approval_seconds as "oldestApprovalSeconds", operator_requests as "operatorRequests",
      unknown_effects as "unknownEffects"
    from aroko_open_work()`;
  if (!row) throw new Error('aroko_open_work answered nothing');
  return row;
}

/** Messages or sends that were settled, of one state and one class of duration. */
export interface Settled {
  what: 'message' | 'send';
  state: string;
  amount: number;
  /** What all of them took together. */
  seconds: number;
}

/** `bounds`, ascending, are the classes of duration in seconds that are kept apart. */
export async function settledBetween(
  prisma: Queryable,
  { after, until, bounds }: { after: Date; until: Date; bounds: readonly number[] },
): Promise<Settled[]> {
  return prisma.$queryRaw`
    select what, state, amount, seconds from aroko_settled_between(
      ${after.toISOString()}::timestamptz, ${until.toISOString()}::timestamptz, ${[...bounds]}::float8[])`;
}

/** The database's clock: what it wrote is told apart by its own time only. */
export async function databaseNow(prisma: Queryable): Promise<Date> {
  const [row] = await prisma.$queryRaw<{ ms: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
  if (!row) throw new Error('Postgres told no time');
  return new Date(row.ms);
}

/** The migrations that this program comes with; they lie beside the code, in the tree and in the build. */
function shippedMigrations(): string[] {
  const folder = fileURLToPath(new URL('./migrations', import.meta.url));
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** Migrations that this program needs and the database doesn't have. */
export async function missingMigrations(prisma: Queryable): Promise<string[]> {
  const applied = await prisma.$queryRaw<{ name: string }[]>`select name from aroko_migrations() as name`;
  const names = new Set(applied.map(({ name }) => name));
  return shippedMigrations().filter((name) => !names.has(name));
}
