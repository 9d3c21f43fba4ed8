// The command line as a process of its own, on a database with the shipped business in it.
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { accountsOf } from '../../config/accounts.js';
import type { TenantConfiguration } from '../../config/configuration.js';
import { loadConfiguration } from '../../config/load.js';
import { createLogger } from '../../config/logger.js';
import { createInbox, type Inbox } from '../../gateway/inbox.js';
import { projectRoot } from '../../local/child.js';
import { createContentCipher } from '../../prisma/content.js';
import { openDatabase, type Database } from '../../prisma/database.js';
import { createKeyring } from '../../prisma/keys.js';
import { createInScope, type InScope } from '../../prisma/stores/scope.js';
import { registerTenant } from '../../prisma/stores/tenants.js';
import { recordedConversations } from '../gateway/gateway.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { arokoHere, type Ran, type Variables } from './here.js';

export type { Ran, Variables } from './here.js';

/** Runs a command as a process and waits for its end. Of our own variables it sees only these. */
export async function aroko(args: string[], variables: Variables): Promise<Ran> {
  const foreign = Object.entries(process.env).filter(([name]) => !/^(AROKO|ANTHROPIC)_/.test(name));
  const child = spawn(process.execPath, ['--import', 'tsx', 'gateway/cli/main.ts', ...args], {
    cwd: projectRoot,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(foreign), ...variables },
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, stdout, stderr, json: () => JSON.parse(stdout) };
}

export interface CliDesk {
  urls: TestDatabase;
  database: Database;
  inScope: InScope;
  tenantId: string;
  configuration: TenantConfiguration;
  /** Of the first owner. */
  ownerId: string;
  /** What leads a command here. */
  variables: Variables;
  write(chat: string, text: string, id?: string): ReturnType<Inbox['acceptMessage']>;
  /** As a process. */
  run(...args: string[]): Promise<Ran>;
  /** Without one. */
  runHere(...args: string[]): Promise<Ran>;
  stop(): Promise<void>;
}

/** A port on which nobody listens. */
const NOBODY = '127.0.0.1:1';

export async function openCliDesk(): Promise<CliDesk> {
  const urls = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'aroko-cli-'));
  const key = new Uint8Array(randomBytes(32));
  const masterKeyFile = join(folder, 'master-key');
  await writeFile(masterKeyFile, Buffer.from(key).toString('base64'), { mode: 0o600 });
  const database = openDatabase({ url: urls.applicationUrl, poolSize: 4 });
  const content = createContentCipher({ keyring: createKeyring({ masterKeys: [{ version: 1, key }] }) });
  const [configuration] = loadConfiguration({ directory: join(projectRoot, 'config') }).tenants.values();
  const [owner] = configuration?.owners ?? [];
  if (!configuration || !owner) throw new Error('the shipped configuration has a tenant with an owner');
  const { tenantId } = await registerTenant(database, {
    slug: configuration.slug,
    name: configuration.business.name,
    accounts: accountsOf(configuration),
  });
  const logger = createLogger({ process: 'gateway', level: 'error' });
  const inbox = createInbox({ database, content, conversations: recordedConversations(), logger });
  const variables = {
    AROKO_DATABASE_URL: urls.applicationUrl,
    AROKO_MASTER_KEY_FILE: masterKeyFile,
    AROKO_TEMPORAL_ADDRESS: NOBODY,
  };
  const { accountKey } = configuration.channels.web;
  return {
    urls,
    database,
    inScope: createInScope(database, content),
    tenantId,
    configuration,
    ownerId: owner.id,
    variables,
    write: (chat, words, id = randomUUID()) =>
      inbox.acceptMessage({
        channel: 'web',
        accountKey,
        chatAddress: chat,
        externalId: id,
        kind: 'text',
        text: words,
      }),
    run: (...args) => aroko(args, variables),
    runHere: (...args) => arokoHere(args, variables),
    async stop() {
      await database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
