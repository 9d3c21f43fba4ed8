// Deliveries on a real Postgres and a real HTTP server in the platform's place: a business with one WhatsApp number, chats with
// customers who have written, and the webhook that takes down what the platform reports.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { transports } from 'winston';
import { Writable } from 'node:stream';
import { createDeliveryActivities } from '../../../activities/delivery/deliver.js';
import { createTenantDirectory } from '../../../activities/tenants.js';
import { createGraphClient, type GraphClient } from '../../../activities/whatsapp-cloud/graph.js';
import type { SendLimiter } from '../../../activities/whatsapp-cloud/limiter.js';
import type { WhatsappAccount } from '../../../config/configuration.js';
import { loadConfiguration } from '../../../config/load.js';
import { createLogger } from '../../../config/logger.js';
import { createSecrets } from '../../../config/secrets.js';
import { createContentCipher } from '../../../prisma/content.js';
import { openDatabase, type Database } from '../../../prisma/database.js';
import { createKeyring } from '../../../prisma/keys.js';
import { planMessage, type PlannedMessage } from '../../../prisma/stores/outbox.js';
import { createInScope, type InScope, type Scope } from '../../../prisma/stores/scope.js';
import { settleReported } from '../../../prisma/stores/sends.js';
import { noteStatuses } from '../../../prisma/stores/statuses.js';
import { registerTenant } from '../../../prisma/stores/tenants.js';
import type { DeliveryActivities } from '../../../workflows/activity-ports.js';
import { startFakeGraph, type FakeGraph, type FakeGraphOptions } from '../../support/graph/server.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { ACCOUNT } from './account.js';

/** A delivery that is still not through by then never will be. */
const MOST_TRIES = 200;

const APP_SECRET = 'app-secret';

export interface Chat {
  chatId: string;
  contactId: string;
  address: string;
}

export interface Turn extends Chat {
  turnId: string;
  messageId: string;
  externalId: string;
}

export interface SendKit {
  urls: TestDatabase;
  masterKey: Uint8Array;
  database: Database;
  inScope: InScope;
  tenantId: string;
  account: WhatsappAccount;
  fake: FakeGraph;
  secrets: string;
  activities: DeliveryActivities;
  /** The same on the same rows, with another client or limiter in it. */
  activitiesWith(parts: {
    graph?: GraphClient;
    limiter?: SendLimiter;
    account?: Partial<WhatsappAccount>;
  }): DeliveryActivities;
  graph: GraphClient;
  logLines: string[];
  /** A chat on WhatsApp, or on the web. `wroteMsAgo`: null, and they have never written. */
  chat(options?: {
    wroteMsAgo?: number | null;
    address?: string;
    channel?: 'whatsapp-cloud' | 'web';
    addressKind?: string;
  }): Promise<Chat>;
  /** A customer's message that waits for its answer. */
  turn(chat: Chat, options?: { withRun?: boolean; isDecided?: boolean }): Promise<Turn>;
  plan(
    message: Partial<PlannedMessage> & Pick<PlannedMessage, 'chatId' | 'contactId' | 'turnId'>,
  ): Promise<string>;
  /** As Temporal would: again after each retryable failure, and after its delay where that is short. */
  deliver(
    outboxId: string,
    options?: { activities?: DeliveryActivities; waitsAtMostMs?: number },
  ): ReturnType<DeliveryActivities['deliver']>;
  row(outboxId: string): Promise<Row>;
  /** Of a turn: the message's state and reason, and the turn's outcome. */
  ledger(
    turnId: string,
  ): Promise<{ state: string; reason: string | null; turn: string; outcome: string | null }>;
  inTenant: <T>(work: (scope: Scope) => Promise<T>) => Promise<T>;
  audited(outboxId: string): Promise<string[]>;
  stop(): Promise<void>;
}

export interface Row {
  id: string;
  state: string;
  code: string | null;
  sequence: number | null;
  externalId: string | null;
  attempts: number;
  deliveryStatus: string | null;
}

export async function startSendKit(
  options: Omit<FakeGraphOptions, 'numbers' | 'webhook'> & {
    account?: Partial<WhatsappAccount>;
    sendTimeoutMs?: number;
  } = {},
): Promise<SendKit> {
  const urls = await freshDatabase();
  const database = openDatabase({ url: urls.applicationUrl, poolSize: 20 });
  const masterKey = new Uint8Array(randomBytes(32));
  const content = createContentCipher({
    keyring: createKeyring({ masterKeys: [{ version: 1, key: masterKey }] }),
  });
  const inScope = createInScope(database, content);
  const account = { ...ACCOUNT, ...options.account };
  const [shipped] = loadConfiguration({ directory: 'config' }).tenants.values();
  if (!shipped) throw new Error('the shipped configuration has no tenant');
  const { tenantId } = await registerTenant(database, {
    slug: shipped.slug,
    name: shipped.business.name,
    accounts: [
      { channel: 'web', accountKey: shipped.channels.web.accountKey },
      { channel: 'whatsapp-cloud', accountKey: account.accountKey },
    ],
  });
  const receiver = await startReceiver(database, inScope, tenantId, account.accountKey);
  const fake = await startFakeGraph({
    ...options,
    numbers: [{ accountKey: account.accountKey, displayNumber: account.displayNumber.slice(1) }],
    webhook: { url: receiver.url, appSecret: APP_SECRET },
  });
  const secrets = await mkdtemp(join(tmpdir(), 'aroko-secrets-'));
  await writeFile(join(secrets, account.accessToken), 'token');
  const graph = createGraphClient({
    secrets: createSecrets({ directory: secrets }),
    baseUrl: fake.url,
    sendTimeoutMs: options.sendTimeoutMs ?? 2_000,
  });
  const logLines: string[] = [];
  const log = createLogger({
    process: 'worker',
    level: 'info',
    destination: new transports.Stream({
      stream: new Writable({
        write(chunk: Buffer, _encoding, done) {
          logLines.push(...chunk.toString().split('\n').filter(Boolean));
          done();
        },
      }),
    }),
  });
  const activitiesWith: SendKit['activitiesWith'] = ({ graph: other = graph, limiter, account: changed }) => {
    const channels = { ...shipped.channels, whatsapp: [{ ...account, ...changed }] };
    const tenants = createTenantDirectory({
      database,
      configuration: { tenants: new Map([[shipped.slug, { ...shipped, channels }]]) },
    });
    return createDeliveryActivities({ inScope, tenants, graph: other, log }, limiter ? { limiter } : {});
  };
  const activities = activitiesWith({});
  const inTenant: SendKit['inTenant'] = (work) => inScope(tenantId, work);

  return {
    urls,
    masterKey,
    database,
    inScope,
    tenantId,
    account,
    fake,
    secrets,
    activities,
    activitiesWith,
    graph,
    logLines,
    inTenant,
    chat: (wanted = {}) => inTenant((scope) => addChat(scope, wanted)),
    turn: (chat, wanted = {}) => inTenant((scope) => addTurn(scope, chat, wanted)),
    async plan(message) {
      const { outboxId } = await inTenant((scope) =>
        planMessage(scope, {
          origin: { kind: 'test', id: randomUUID() },
          kind: 'answer',
          text: 'Here is **your** answer.',
          ...message,
        }),
      );
      return outboxId;
    },
    async deliver(outboxId, { activities: by = activities, waitsAtMostMs = 100 } = {}) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await by.deliver({ tenantId, outboxId });
        } catch (error) {
          const delay = retryDelayOf(error);
          if (delay === undefined || attempt === MOST_TRIES) throw error;
          await new Promise((resolve) => setTimeout(resolve, Math.min(delay, waitsAtMostMs)));
        }
      }
    },
    row: (outboxId) =>
      inTenant((scope) =>
        scope.tx.outbox.findUniqueOrThrow({
          where: { id: outboxId },
          select: {
            id: true,
            state: true,
            code: true,
            sequence: true,
            externalId: true,
            attempts: true,
            deliveryStatus: true,
          },
        }),
      ),
    ledger: (turnId) =>
      inTenant(async ({ tx }) => {
        const turn = await tx.turn.findUniqueOrThrow({ where: { id: turnId } });
        const message = await tx.inbox.findUniqueOrThrow({ where: { id: turnId } });
        return { state: message.state, reason: message.reason, turn: turn.state, outcome: turn.outcome };
      }),
    audited: (outboxId) =>
      inTenant(async ({ tx }) => {
        const rows = await tx.audit.findMany({ where: { subjectId: outboxId }, orderBy: { number: 'asc' } });
        return rows.map(({ event }) => event);
      }),
    async stop() {
      await fake.close();
      await receiver.close();
      await database.close();
      await rm(secrets, { recursive: true, force: true });
    },
  };
}

/** The delay that a retryable failure asks for; undefined where it isn't one. */
export function retryDelayOf(error: unknown): number | undefined {
  if (!(error instanceof ApplicationFailure) || error.nonRetryable) return undefined;
  const delay = error.nextRetryDelay;
  return typeof delay === 'number' ? delay : 200;
}

async function addChat(
  scope: Scope,
  {
    wroteMsAgo = 60_000,
    address = `90555${String(Math.floor(Math.random() * 1e7)).padStart(7, '0')}`,
    channel = 'whatsapp-cloud',
    addressKind = channel === 'web' ? 'web' : 'phone',
  }: Parameters<SendKit['chat']>[0] & object,
): Promise<Chat> {
  const { tx, tenantId, content } = scope;
  const contactId = randomUUID();
  const chatId = randomUUID();
  await tx.contact.create({ data: { id: contactId, tenantId, kind: 'person' } });
  const key = await content.keyOfContact(tx, tenantId, contactId);
  const { id: accountId } = await tx.channelAccount.findFirstOrThrow({ where: { channel } });
  await tx.chat.create({
    data: {
      id: chatId,
      tenantId,
      accountId,
      contactId,
      kind: 'direct',
      addressHmac: content.hmacAddress(address),
      addressKind,
      addressCipher: content.sealText(key, {
        table: 'chats',
        column: 'address_cipher',
        rowId: chatId,
        text: address,
      }),
      keyId: key.id,
      customerWroteAt: wroteMsAgo === null ? null : new Date(Date.now() - wroteMsAgo),
    },
  });
  const aliasId = randomUUID();
  const place = { table: 'contact_aliases', column: 'address_cipher', rowId: aliasId };
  await tx.contactAlias.create({
    data: {
      id: aliasId,
      tenantId,
      contactId,
      channel,
      kind: addressKind,
      addressHmac: content.hmacAddress(address),
      addressCipher: content.sealText(key, { ...place, text: address }),
      keyId: key.id,
    },
  });
  return { chatId, contactId, address };
}

async function addTurn(
  { tx, tenantId, content }: Scope,
  chat: Chat,
  { withRun = false, isDecided = true }: { withRun?: boolean; isDecided?: boolean },
): Promise<Turn> {
  const turnId = randomUUID();
  const externalId = `wamid.${randomBytes(12).toString('hex')}`;
  const {
    lastSequence: sequence,
    accountId,
    account,
  } = await tx.chat.update({
    where: { id: chat.chatId },
    data: { lastSequence: { increment: 1 } },
    select: { lastSequence: true, accountId: true, account: { select: { channel: true } } },
  });
  const base = { tenantId, chatId: chat.chatId };
  await tx.turn.create({
    data: {
      ...base,
      id: turnId,
      firstSequence: sequence,
      upTo: sequence,
      state: withRun ? 'running' : isDecided ? 'decided' : 'claimed',
      gate: 'detector',
    },
  });
  await tx.inbox.create({
    data: {
      ...base,
      id: turnId,
      contactId: chat.contactId,
      accountId,
      channel: account.channel,
      externalId,
      sequence,
      kind: 'text',
      arrival: 'turn',
      contentHmac: content.hmacContent('a question'),
      turnId,
    },
  });
  if (withRun) {
    await tx.toolRun.create({
      data: { ...base, turnId, contactId: chat.contactId, state: 'executing', configHash: 'c' },
    });
  }
  return { ...chat, turnId, messageId: turnId, externalId };
}

/** The gateway's part in it: checks the signature, writes down what is reported, and settles what that settles. */
async function startReceiver(
  database: Database,
  inScope: InScope,
  tenantId: string,
  accountKey: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const signature = `sha256=${createHmac('sha256', APP_SECRET).update(body).digest('hex')}`;
      if (request.headers['x-hub-signature-256'] !== signature) return response.writeHead(401).end();
      take(body).then(
        () => response.writeHead(200).end(),
        () => response.writeHead(500).end(),
      );
    });
  });
  async function take(body: Buffer): Promise<void> {
    const { entry } = JSON.parse(body.toString('utf8'));
    for (const status of entry[0].changes[0].value.statuses ?? []) {
      const noted = await noteStatuses(database.prisma, {
        channel: 'whatsapp-cloud',
        accountKey,
        statuses: [
          {
            externalId: status.id,
            outboxId: status.biz_opaque_callback_data,
            status: status.status,
            at: new Date(Number(status.timestamp) * 1000),
            code: status.errors?.[0]?.code?.toString(),
            digest: new Uint8Array(Buffer.from(`${status.id}${status.status}`)),
          },
        ],
      });
      for (const one of noted?.statuses ?? []) {
        if (one.outcome === 'settle') await inScope(tenantId, (scope) => settleReported(scope, one.outboxId));
      }
    }
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
