// What commands work with. Everything is opened when a command first asks for it, so that one that needs the database
// only is not kept waiting for Temporal, and one that needs no content works without the master key.
import { Client, Connection } from '@temporalio/client';
import type { TenantConfiguration } from '../../config/configuration.js';
import type { CommandEnvironment } from '../../config/environment.js';
import { loadConfiguration } from '../../config/load.js';
import type { Logger } from '../../config/logger.js';
import { connectTemporal, type TemporalClient } from '../../config/temporal.js';
import { createContentCipher, type ContentCipher } from '../../prisma/content.js';
import { openDatabase, type Database, type Tx } from '../../prisma/database.js';
import { tenantBySlug } from '../../prisma/functions.js';
import { createKeyring, readMasterKeys } from '../../prisma/keys.js';
import type { Scope } from '../../prisma/stores/scope.js';
import { createConversations, type Conversations } from '../conversations.js';
import type { Output } from './output.js';
import { CommandProblem } from './problem.js';
import { CONFIG_DIRECTORY, findTarget, type Target } from './target.js';

/** Options that every command knows. */
export interface GlobalOptions {
  tenant?: string | undefined;
  dataDir?: string | undefined;
  json?: boolean | undefined;
}

export interface CliDeps {
  output: Output;
  logger: Logger;
  configDirectory: string;
  /** Absent: the environment names none. */
  secretsDirectory: string | undefined;
  target(): Target;
  /** Of the business that is meant. */
  configuration(): TenantConfiguration;
  database(): Database;
  content(): Promise<ContentCipher>;
  tenantId(): Promise<string>;
  /** A transaction of the tenant. Never wait for the network or for a person inside. */
  inTenant<Result>(work: (tx: Tx, tenantId: string) => Promise<Result>): Promise<Result>;
  /** The same for what reads or writes content: needs the master key. */
  inScope<Result>(work: (scope: Scope) => Promise<Result>): Promise<Result>;
  /** Throws where it can't be reached. */
  temporal(): Promise<TemporalClient>;
  /** Where Temporal can't be reached, its calls fail: what the rows say, the gateway tells it later. */
  conversations(): Promise<Conversations & { isThere: boolean }>;
  /** The id of the owner who acts, checked. */
  owner(id: string): string;
  close(): Promise<void>;
}

/** Nobody waits longer at a prompt for a server that isn't there. */
const CONNECT_WITHIN_MS = 3_000;

export function createCliDeps(from: {
  environment: CommandEnvironment;
  options: () => GlobalOptions;
  output: Output;
  logger: Logger;
}): CliDeps {
  const { environment, options, output, logger } = from;
  const closers: (() => Promise<unknown>)[] = [];
  const target = once(() => findTarget(environment, { dataDirectory: options().dataDir }));
  const configDirectory = environment.configDirectory ?? CONFIG_DIRECTORY;
  const configuration = once(() => chooseTenant(configDirectory, options().tenant));

  const database = once(() => {
    const opened = openDatabase({ url: target().databaseUrl, poolSize: 2 });
    closers.push(() => opened.close());
    return opened;
  });
  const content = once(async () => {
    const file = target().masterKeyFile;
    if (file === undefined) {
      throw new CommandProblem('This needs the master key: set AROKO_MASTER_KEY_FILE.', { isSetting: true });
    }
    return createContentCipher({ keyring: createKeyring({ masterKeys: await readMasterKeys(file) }) });
  });
  const tenantId = once(async () => {
    const slug = options().tenant ?? configuration().slug;
    const found = await tenantBySlug(database().prisma, slug);
    if (found === undefined) {
      throw new CommandProblem(`There is no business “${slug}” in this database.`, { isSetting: true });
    }
    return found;
  });
  const temporal = once(async () => {
    const opened = await connectTemporal(target().temporal, { giveUpAfterMs: CONNECT_WITHIN_MS }).catch(
      () => {
        throw new CommandProblem(
          `Temporal at ${target().temporal.address} can’t be reached. ${target().hint}`,
        );
      },
    );
    closers.push(() => opened.close());
    return opened;
  });
  const conversations = once(async () => {
    const opened = await temporal().catch(() => undefined);
    return {
      ...createConversations({ client: opened?.client ?? nobody(), logger }),
      isThere: opened !== undefined,
    };
  });
  const nobody = (): Client => {
    const { address, namespace } = target().temporal;
    const connection = Connection.lazy({ address });
    closers.push(() => connection.close());
    return new Client({ connection, namespace });
  };

  const inTenant: CliDeps['inTenant'] = async (work) => {
    const id = await tenantId();
    return database().inTenant(id, (tx) => work(tx, id));
  };
  return {
    output,
    logger,
    configDirectory,
    secretsDirectory: environment.secretsDirectory,
    target,
    configuration,
    database,
    content,
    tenantId,
    inTenant,
    async inScope(work) {
      const cipher = await content();
      return inTenant((tx, id) => work({ tx, tenantId: id, content: cipher }));
    },
    temporal,
    conversations,
    owner: (id) => ownerOf(configuration(), id),
    async close() {
      for (const close of closers.toReversed()) await close().catch(() => undefined);
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function chooseTenant(directory: string, wanted: string | undefined): TenantConfiguration {
  const { tenants } = loadConfiguration({ directory });
  const slugs = [...tenants.keys()];
  const [only] = slugs;
  const slug = wanted ?? (slugs.length === 1 ? only : undefined);
  const found = slug === undefined ? undefined : tenants.get(slug);
  if (found) return found;
  const known = `Configured in ${directory}: ${slugs.join(', ')}.`;
  throw new CommandProblem(
    wanted === undefined
      ? `There are several businesses; name one with --tenant. ${known}`
      : `There is no business “${wanted}”. ${known}`,
    { isSetting: true },
  );
}

function ownerOf({ owners }: TenantConfiguration, id: string): string {
  const owner = owners.find((one) => one.id === id);
  if (owner) return owner.id;
  const known = owners.map((one) => one.id).join(', ');
  throw new CommandProblem(`“${id}” is no owner of this business. Its owners: ${known}.`);
}
