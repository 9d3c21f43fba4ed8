// Providers without the lane around them: a database, a person, and calls as the executing activity makes them.
import { randomUUID } from 'node:crypto';
import type { TenantConfiguration } from '../../config/configuration.js';
import { loadConfiguration } from '../../config/load.js';
import type { ToolCall, ToolProvider } from '../../activities/tools/provider.js';
import { openDatabase, type Database } from '../../prisma/database.js';
import { createInScope, type InScope } from '../../prisma/stores/scope.js';
import type { JsonObject } from '../../workflows/domain/tool.js';
import { freshDatabase, type TestDatabase } from './postgres.js';
import { addTenant, testContent } from './tenants.js';

export interface ToolBench {
  urls: TestDatabase;
  database: Database;
  inScope: InScope;
  tenantId: string;
  addPerson(): Promise<string>;
  close(): Promise<void>;
}

export async function startToolBench({ poolSize = 20 }: { poolSize?: number } = {}): Promise<ToolBench> {
  const urls = await freshDatabase();
  const database = openDatabase({ url: urls.applicationUrl, poolSize });
  const { tenantId } = await addTenant(database);
  return {
    urls,
    database,
    inScope: createInScope(database, testContent()),
    tenantId,
    async addPerson() {
      const id = randomUUID();
      await database.inTenant(tenantId, (tx) =>
        tx.contact.create({ data: { id, tenantId, kind: 'person' } }),
      );
      return id;
    },
    close: () => database.close(),
  };
}

let shippedBusiness: TenantConfiguration | undefined;

/** The shipped business, with other hours, places or settings. */
export function businessWith(
  changes: {
    business?: Partial<TenantConfiguration['business']>;
    bookings?: Partial<NonNullable<TenantConfiguration['providers']['bookings']>>;
  } = {},
): TenantConfiguration {
  shippedBusiness ??= [...loadConfiguration({ directory: 'config' }).tenants.values()][0];
  const shipped = shippedBusiness;
  const bookings = shipped?.providers.bookings;
  if (!shipped || !bookings) throw new Error('the shipped business takes bookings');
  return {
    ...shipped,
    business: { ...shipped.business, ...changes.business },
    providers: { ...shipped.providers, bookings: { ...bookings, ...changes.bookings } },
  };
}

export interface CallOptions {
  contactId?: string;
  configuration?: TenantConfiguration;
  key?: string;
  callBy?: Date;
}

/** Calls an operation of a provider in the name of one person. */
export function toolCall(
  { tenantId }: Pick<ToolBench, 'tenantId'>,
  values: JsonObject,
  { contactId = randomUUID(), configuration = businessWith(), key = randomUUID(), callBy }: CallOptions = {},
): ToolCall {
  return {
    tenantId,
    chatId: randomUUID(),
    turnId: randomUUID(),
    stepId: randomUUID(),
    contactId,
    configuration,
    arguments: values,
    idempotencyKey: key,
    callBy: callBy ?? new Date(Date.now() + 30_000),
    signal: new AbortController().signal,
  };
}

export function operationOf(provider: ToolProvider, name: string): ToolProvider['operations'][string] {
  const operation = provider.operations[name];
  if (!operation) throw new Error(`the provider has no operation ${name}`);
  return operation;
}

/** What a result says in words; empty where it says nothing. */
export function summaryOf({ summary }: JsonObject): string {
  return typeof summary === 'string' ? summary : '';
}
