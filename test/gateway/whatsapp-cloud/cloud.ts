// Two businesses on the Cloud API behind one gateway, over a real Postgres and real HTTP; webhooks in the platform's form; and a
// look at what became of them. All numbers and names are invented.
import { createHmac, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { transports } from 'winston';
import type { TenantConfiguration, WhatsappAccount } from '../../../config/configuration.js';
import { loadConfiguration } from '../../../config/load.js';
import { createLogger } from '../../../config/logger.js';
import { createChanges } from '../../../gateway/changes.js';
import { createServer, type ServerLimits } from '../../../gateway/server.js';
import { openDatabase, type Database } from '../../../prisma/database.js';
import type { ContentCipher } from '../../../prisma/content.js';
import { createInScope, inOrder, readable, type InScope } from '../../../prisma/stores/scope.js';
import { registerTenant } from '../../../prisma/stores/tenants.js';
import { accountsOf } from '../../../config/accounts.js';
import type { MessageDetails } from '../../../workflows/domain/incoming.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { testContent } from '../../support/tenants.js';
import { API_TOKEN, recordedConversations, type RecordedConversations } from '../gateway.js';

/** Number ids: two of one business behind one app, one of another business behind its own. */
export const FRONT = '100200300400';
export const BACK = '100200300500';
export const OTHER = '900800700600';
export const OWNER = '905550000001';
export const OPERATOR = '905550000002';

export interface Business {
  tenantId: string;
  configuration: TenantConfiguration;
}

export interface Stored {
  id: string;
  chatId: string;
  contactId: string;
  externalId: string;
  sequence: number;
  kind: string;
  arrival: string;
  speaker: string;
  state: string;
  reason: string | null;
  quotedExternalId: string | null;
  sentAt: Date | null;
  /** Absent: nobody can read it. */
  text: string | undefined;
  details: MessageDetails | undefined;
}

export interface Cloud {
  url: string;
  urls: TestDatabase;
  database: Database;
  content: ContentCipher;
  inScope: InScope;
  conversations: RecordedConversations;
  logLines: string[];
  shop: Business;
  other: Business;
  /** Files of the directory of secrets. */
  secrets: Map<string, string>;
  post(body: unknown, options?: PostOptions): Promise<{ status: number; json: Answer }>;
  get(path: string): Promise<{ status: number; text: string; type: string | null }>;
  stored(business?: Business): Promise<Stored[]>;
  byId(externalId: string, business?: Business): Promise<Stored>;
  events(
    business?: Business,
  ): Promise<{ field: string; kind: string; code: string | null; payload: unknown }[]>;
  /** Where replies of the chat would go. */
  address(chatId: string): Promise<string | undefined>;
  stop(): Promise<void>;
}

export interface Answer {
  accepted: number;
  stored: number;
  duplicates: number;
  echoes: number;
  refused: Record<string, number>;
  statuses: number;
  statusesUnmatched: number;
  events: number;
}

export interface PostOptions {
  path?: string;
  /** Whose name stands in the directory of secrets. */
  secret?: string;
  /** Instead of the right one; null: none. */
  signature?: string | null;
  contentType?: string;
}

export function cloudAccount(accountKey: string, app: string): WhatsappAccount {
  return {
    accountKey,
    displayNumber: `+${accountKey}`,
    profile: 'desk',
    graphVersion: 'v25.0',
    accessToken: `${app}-token`,
    appSecrets: [`${app}-secret`, `${app}-next-secret`],
    verifyToken: `${app}-verify`,
    messagesPerSecond: 80,
    templates: {},
  };
}

export async function startCloud(limits: ServerLimits = {}): Promise<Cloud> {
  const urls = await freshDatabase();
  const database = openDatabase({ url: urls.applicationUrl, poolSize: 12 });
  const [shipped] = loadConfiguration({ directory: 'config' }).tenants.values();
  if (!shipped) throw new Error('the shipped configuration has no tenant');
  const business = async (slug: string, accounts: WhatsappAccount[]): Promise<Business> => {
    const configuration: TenantConfiguration = {
      ...shipped,
      slug,
      channels: { web: { ...shipped.channels.web, accountKey: slug }, whatsapp: accounts },
      owners: [{ id: 'olivia', name: 'Olivia', addresses: { whatsapp: [`+${OWNER}`] }, groups: [] }],
      operators: [{ id: 'doc', name: 'Doc', addresses: { whatsapp: [`+${OPERATOR}`] } }],
    };
    const { tenantId } = await registerTenant(database, {
      slug,
      name: slug,
      accounts: accountsOf(configuration),
    });
    return { tenantId, configuration };
  };
  const shop = await business('shop', [cloudAccount(FRONT, 'shop'), cloudAccount(BACK, 'shop')]);
  const other = await business('other', [cloudAccount(OTHER, 'other')]);
  const secrets = new Map([
    ['shop-secret', 'the secret of the shop’s app'],
    ['shop-verify', 'verify-the-shop'],
    ['other-secret', 'the secret of the other app'],
    ['other-verify', 'verify-the-other'],
  ]);

  const content = testContent();
  const inScope = createInScope(database, content);
  const logLines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logLines.push(chunk.toString());
      done();
    },
  });
  const logger = createLogger({
    process: 'gateway',
    level: 'debug',
    destination: new transports.Stream({ stream }),
  });
  const conversations = recordedConversations();
  const changes = createChanges({ databaseUrl: urls.applicationUrl, logger });
  const app = await createServer(
    {
      database,
      content,
      conversations,
      changes,
      desk: shop,
      logger,
      apiToken: API_TOKEN,
      webhooks: {
        businesses: () => [shop.configuration, other.configuration],
        secrets: { get: (name) => secrets.get(name) },
      },
    },
    limits,
  );
  const url = await app.listen({ host: '127.0.0.1', port: 0 });

  const cloud: Cloud = {
    url,
    urls,
    database,
    content,
    inScope,
    conversations,
    logLines,
    shop,
    other,
    secrets,
    async post(body, options = {}) {
      const {
        path = '/webhooks/whatsapp',
        secret = 'shop-secret',
        contentType = 'application/json',
      } = options;
      const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
      const signature =
        options.signature === undefined ? signed(secrets.get(secret) ?? '', bytes) : options.signature;
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': contentType,
          ...(signature !== null && { 'x-hub-signature-256': signature }),
        },
        body: new Uint8Array(bytes),
      });
      return { status: response.status, json: (await response.json()) as Answer };
    },
    async get(path) {
      const response = await fetch(`${url}${path}`);
      return {
        status: response.status,
        text: await response.text(),
        type: response.headers.get('content-type'),
      };
    },
    stored: (from = shop) => rowsOf(inScope, from, {}),
    async byId(externalId, from = shop) {
      const [row] = await rowsOf(inScope, from, { externalId });
      if (!row) throw new Error(`${externalId} is not in the inbox`);
      return row;
    },
    events: (from = shop) =>
      inScope(from.tenantId, async (scope) => {
        const rows = await scope.tx.platformEvent.findMany({ orderBy: { receivedAt: 'asc' } });
        const found = [];
        for (const { id, field, kind, code, keyId, payloadCipher } of rows) {
          const place = { table: 'platform_events', column: 'payload_cipher', rowId: id, keyId };
          const text = await readable(scope, { ...place, cipher: payloadCipher });
          const payload: unknown = text === undefined ? undefined : JSON.parse(text);
          found.push({ field, kind, code, payload });
        }
        return found;
      }),
    address: (chatId) =>
      inScope(shop.tenantId, async (scope) => {
        const { keyId, addressCipher } = await scope.tx.chat.findUniqueOrThrow({ where: { id: chatId } });
        const place = { table: 'chats', column: 'address_cipher', rowId: chatId, keyId };
        return readable(scope, { ...place, cipher: addressCipher });
      }),
    async stop() {
      await app.close();
      await changes.close();
      await database.close();
    },
  };
  return cloud;
}

function rowsOf(inScope: InScope, { tenantId }: Business, where: { externalId?: string }): Promise<Stored[]> {
  return inScope(tenantId, async (scope) => {
    const rows = await scope.tx.inbox.findMany({
      where,
      orderBy: [{ receivedAt: 'asc' }, { sequence: 'asc' }],
    });
    return inOrder(rows, async (row) => {
      const place = { table: 'inbox', rowId: row.id, keyId: row.keyId };
      const details = await readable(scope, {
        ...place,
        column: 'details_cipher',
        cipher: row.detailsCipher,
      });
      return {
        ...row,
        text: await readable(scope, { ...place, column: 'content_cipher', cipher: row.contentCipher }),
        details: details === undefined ? undefined : (JSON.parse(details) as MessageDetails),
      };
    });
  });
}

export function signed(secret: string, body: Buffer, algorithm = 'sha256'): string {
  return `${algorithm}=${createHmac(algorithm, secret).update(body).digest('hex')}`;
}

type Part = Record<string, unknown>;

/** A webhook of one number with one change. */
export function webhook(value: Part, { number = FRONT, field = 'messages' } = {}): Part {
  const metadata = { display_phone_number: number, phone_number_id: number };
  return {
    object: 'whatsapp_business_account',
    entry: [
      { id: '5550001', changes: [{ field, value: { messaging_product: 'whatsapp', metadata, ...value } }] },
    ],
  };
}

export function messages(...all: Part[]): Part {
  return webhook({ messages: all });
}

/** A message of a customer, sent just now. */
export function message(from: string, content: Part, more: Part = {}): Part & { id: string } {
  return { from, id: `wamid.${randomUUID()}`, timestamp: seconds(new Date()), ...content, ...more };
}

export function text(from: string, body: string, more: Part = {}): Part & { id: string } {
  return message(from, { type: 'text', text: { body } }, more);
}

/** Somebody at the shop's own phone wrote to this number. */
export function echo(to: string, body: string, more: Part = {}): Part & { id: string } {
  return message(FRONT, { type: 'text', text: { body }, to }, more);
}

export function echoes(...all: Part[]): Part {
  return webhook({ message_echoes: all }, { field: 'smb_message_echoes' });
}

export function seconds(at: Date): string {
  return String(Math.floor(at.getTime() / 1000));
}
