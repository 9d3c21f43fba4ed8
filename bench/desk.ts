// A whole desk in one process: real Postgres, real Temporal, the real worker and the gateway's own way in, with the model
// program in scenario mode behind the real client. Benches measure it, and most tests of the lane stand on it.
import Anthropic from '@anthropic-ai/sdk';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
} from '@temporalio/worker';
import { transports } from 'winston';
import { Writable } from 'node:stream';
import { createModel } from '../activities/claude/model.js';
import type { ActivityDeps } from '../activities/deps.js';
import { createActivities } from '../activities/index.js';
import { createTenantDirectory } from '../activities/tenants.js';
import { createProviders } from '../activities/tools/index.js';
import { createGraphClient, type GraphClient } from '../activities/whatsapp-cloud/graph.js';
import { accountsOf } from '../config/accounts.js';
import type { TenantConfiguration } from '../config/configuration.js';
import { loadConfiguration } from '../config/load.js';
import { createLogger, type Logger } from '../config/logger.js';
import { createSecrets } from '../config/secrets.js';
import { createConversations, type Conversations } from '../gateway/conversations.js';
import { createDecisions, type Decisions } from '../gateway/decisions.js';
import { createInbox, type Inbox } from '../gateway/inbox.js';
import { createModelServer } from '../local/model/server.js';
import type { AnswerScript } from '../local/model/scenario.js';
import { createContentCipher } from '../prisma/content.js';
import { openDatabase, type Database } from '../prisma/database.js';
import { createKeyring } from '../prisma/keys.js';
import { createInScope, type InScope } from '../prisma/stores/scope.js';
import { readable } from '../prisma/stores/scope.js';
import { registerTenant } from '../prisma/stores/tenants.js';
import { createWorker } from '../worker/create-worker.js';
import { WORKFLOWS } from '../worker/workflow-source.js';
import { toolRunWorkflowId } from '../workflows/domain/ids.js';

export type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

export interface Reply {
  kind: string;
  state: string;
  text: string;
  sequence: number | null;
  /** External id of the message it answers. */
  answers: string | undefined;
}

export interface Desk {
  database: Database;
  /** For looking only. */
  observer: Database;
  inScope: InScope;
  tenantId: string;
  configuration: TenantConfiguration;
  client: Client;
  inbox: Inbox;
  decisions: Decisions;
  conversations: Conversations;
  deps: ActivityDeps;
  log: Logger;
  /** Lines that the worker and the gateway have logged. */
  logLines: string[];
  model: {
    /** For a worker in a process of its own. */
    url: string;
    script(...answers: AnswerScript[]): Promise<void>;
    requests(): Promise<{ body: Anthropic.MessageCreateParams }[]>;
    clear(): Promise<void>;
  };
  /** Sends a message and answers its external id. */
  send(chat: string, text: string, options?: { id?: string; quotedId?: string }): Promise<string>;
  /** Waits until the message has a terminal state, and tells it. */
  settled(externalId: string, withinMs?: number): Promise<{ state: string; reason: string | null }>;
  /** Sends, waits, and answers what the customer was told since. */
  ask(chat: string, text: string, options?: { quotedId?: string }): Promise<string[]>;
  replies(chat: string): Promise<Reply[]>;
  /** Waits until the customer has been told at least `count` things, and answers all of them. */
  repliesWithin(chat: string, count: number, withinMs?: number): Promise<Reply[]>;
  /** The same, and answers the newest. */
  nextReply(chat: string, count: number): Promise<Reply>;
  openApproval(
    withinMs?: number,
  ): Promise<{ ref: string; approvalId: string; stepId: string; turnId: string }>;
  decide(ref: string, decision: 'approve' | 'reject', reason?: string): Promise<string>;
  chatId(chat: string): Promise<string>;
  historyOfRun(turnId: string): Promise<History>;
  stop(): Promise<void>;
}

let isRuntimeInstalled = false;

/** The SDK's own log would drown the report; failures show in the histories. */
export function installQuietRuntime(): void {
  if (isRuntimeInstalled) return;
  isRuntimeInstalled = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }), forward: {} } },
  });
}

export interface DeskOptions {
  configure?: (configuration: TenantConfiguration) => TenantConfiguration;
  wrapDeps?: (deps: ActivityDeps) => ActivityDeps;
  maxCachedWorkflows?: number;
  modelTimeoutMs?: number;
  /** WhatsApp numbers, such as those of the fake Graph server in test/support/graph. Absent: none has a token. */
  graph?: GraphClient;
  /** 32 bytes, for a desk that other processes read. Absent: one of its own. */
  masterKey?: Uint8Array;
  /** Another process is the worker. */
  withoutWorker?: true;
}

let bundle: ReturnType<typeof bundleWorkflowCode> | undefined;

/** The workflows don't change while a process runs; bundling them takes longer than everything else that a desk needs. */
export function bundledOnce(): ReturnType<typeof bundleWorkflowCode> {
  return (bundle ??= bundleWorkflowCode({ workflowsPath: WORKFLOWS, logger: new DefaultLogger('ERROR') }));
}

/** Opens a desk on a migrated database and a namespace of its own. */
export async function openDesk(
  where: {
    applicationUrl: string;
    /** Where the desk looks at what has become of things; absent: the same. A bench keeps its own looks apart. */
    observerUrl?: string;
    temporal: { address: string; namespace: string };
  },
  options: DeskOptions = {},
): Promise<Desk> {
  installQuietRuntime();
  const { configure = (same) => same, wrapDeps = (same) => same, modelTimeoutMs = 3_000 } = options;
  const { temporal, applicationUrl } = where;
  const shipped = [...loadConfiguration({ directory: 'config' }).tenants.values()][0];
  if (!shipped) throw new Error('the shipped configuration has no tenant');
  // Whatever the date is: who says "Friday" means one that is open.
  const configuration = configure({ ...shipped, business: { ...shipped.business, closedDates: [] } });
  const database = openDatabase({ url: applicationUrl, poolSize: 20 });
  const observer =
    where.observerUrl === undefined ? database : openDatabase({ url: where.observerUrl, poolSize: 4 });
  const { masterKey = new Uint8Array(randomBytes(32)) } = options;
  const keyring = createKeyring({ masterKeys: [{ version: 1, key: masterKey }] });
  const content = createContentCipher({ keyring });
  const inScope = createInScope(database, content);
  const lookAt = createInScope(observer, content);
  const account = { channel: 'web', accountKey: configuration.channels.web.accountKey } as const;
  const { tenantId } = await registerTenant(database, {
    slug: configuration.slug,
    name: configuration.business.name,
    accounts: accountsOf(configuration),
  });
  const modelServer = createModelServer({ mode: 'scenario' });
  const modelUrl = await modelServer.listen({ host: '127.0.0.1', port: 0 });
  const logLines: string[] = [];
  const log = createLogger({ process: 'worker', level: 'info', destination: keptLines(logLines) });
  const deps = wrapDeps({
    inScope,
    tenants: createTenantDirectory({
      database,
      configuration: { tenants: new Map([[configuration.slug, configuration]]) },
    }),
    model: createModel(
      new Anthropic({ apiKey: 'local', baseURL: modelUrl, maxRetries: 0, timeout: modelTimeoutMs }),
    ),
    providers: createProviders({ inScope, configDirectory: 'config' }),
    graph: options.graph ?? createGraphClient({ secrets: createSecrets({}) }),
    log,
  });
  const native = await NativeConnection.connect({ address: temporal.address });
  const connection = await Connection.connect({ address: temporal.address });
  const client = new Client({ connection, namespace: temporal.namespace });
  const worker = options.withoutWorker
    ? undefined
    : await createWorker({
        connection: native,
        namespace: temporal.namespace,
        activities: createActivities(deps),
        inScope,
        log,
        workflows: { workflowBundle: await bundledOnce() },
        ...(options.maxCachedWorkflows !== undefined && { maxCachedWorkflows: options.maxCachedWorkflows }),
      });
  const running = worker?.run();
  const conversations = createConversations({ client, logger: log });
  const inbox = createInbox({ database, content, conversations, logger: log });
  const decisions = createDecisions({
    database,
    content,
    conversations,
    configuration: () => configuration,
    logger: log,
  });

  const control = async (path: string, init?: RequestInit): Promise<unknown> => {
    const response = await fetch(`${modelUrl}/control/${path}`, init);
    if (!response.ok)
      throw new Error(`the model program answers ${response.status}: ${await response.text()}`);
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  };

  const desk: Desk = {
    database,
    observer,
    inScope,
    tenantId,
    configuration,
    client,
    inbox,
    decisions,
    conversations,
    deps,
    log,
    logLines,
    model: {
      url: modelUrl,
      async script(...answers) {
        const headers = { 'content-type': 'application/json' };
        await control('scenario', { method: 'POST', headers, body: JSON.stringify({ answers }) });
      },
      async requests() {
        const { requests } = (await control('requests')) as {
          requests: { body: Anthropic.MessageCreateParams }[];
        };
        return requests;
      },
      async clear() {
        await control('requests', { method: 'DELETE' });
        await control('scenario', { method: 'DELETE' });
      },
    },
    async send(chat, text, { id = randomBytes(8).toString('hex'), quotedId } = {}) {
      await inbox.acceptMessage({
        ...account,
        chatAddress: chat,
        externalId: id,
        kind: 'text',
        text,
        quotedExternalId: quotedId,
      });
      return id;
    },
    async settled(externalId, withinMs = 20_000) {
      return until(
        async () => {
          const row = await observer.inTenant(tenantId, (tx) =>
            tx.inbox.findFirstOrThrow({ where: { externalId }, select: { state: true, reason: true } }),
          );
          return row.state === 'accepted' ? undefined : row;
        },
        withinMs,
        `message ${externalId} to be settled`,
      );
    },
    async ask(chat, text, more) {
      const before = (await desk.replies(chat)).length;
      await desk.settled(await desk.send(chat, text, more));
      return (await desk.replies(chat)).slice(before).map((reply) => reply.text);
    },
    async replies(chat) {
      return lookAt(tenantId, async (scope) => {
        const own = await scope.tx.chat.findFirst({ where: { addressHmac: content.hmacAddress(chat) } });
        if (!own) return [];
        const rows = await scope.tx.outbox.findMany({
          where: { chatId: own.id, state: 'sent' },
          orderBy: { sequence: 'asc' },
        });
        const asked = await scope.tx.inbox.findMany({
          where: { chatId: own.id },
          select: { id: true, externalId: true },
        });
        const externalIds = new Map(asked.map((row) => [row.id, row.externalId]));
        return Promise.all(
          rows.map(async (row) => ({
            kind: row.kind,
            state: row.state,
            sequence: row.sequence,
            answers: row.answersMessageId === null ? undefined : externalIds.get(row.answersMessageId),
            text:
              (await readable(scope, {
                table: 'outbox',
                column: 'content_cipher',
                rowId: row.id,
                keyId: row.keyId,
                cipher: row.contentCipher,
              })) ?? '',
          })),
        );
      });
    },
    async repliesWithin(chat, count, withinMs = 15_000) {
      return until(
        async () => {
          const replies = await desk.replies(chat);
          return replies.length >= count ? replies : undefined;
        },
        withinMs,
        `${count} replies`,
      );
    },
    async nextReply(chat, count) {
      const last = (await desk.repliesWithin(chat, count)).at(-1);
      if (!last) throw new Error('there is no reply');
      return last;
    },
    async openApproval(withinMs = 15_000) {
      return until(
        async () => {
          const row = await observer.inTenant(tenantId, (tx) =>
            tx.approval.findFirst({ where: { state: 'open' }, orderBy: { askedAt: 'desc' } }),
          );
          return row
            ? { ref: row.ref, approvalId: row.id, stepId: row.stepId, turnId: row.turnId }
            : undefined;
        },
        withinMs,
        'an approval to be asked for',
      );
    },
    async decide(ref, decision, reason) {
      const result = await decisions.decideApproval({
        tenantId,
        key: { ref },
        decision,
        reason,
        approver: { surface: 'api', id: 'tester' },
      });
      return result.outcome;
    },
    async chatId(chat) {
      const { id } = await observer.inTenant(tenantId, (tx) =>
        tx.chat.findFirstOrThrow({ where: { addressHmac: content.hmacAddress(chat) }, select: { id: true } }),
      );
      return id;
    },
    async historyOfRun(turnId) {
      return client.workflow.getHandle(toolRunWorkflowId({ turnId })).fetchHistory();
    },
    async stop() {
      worker?.shutdown();
      await running;
      await conversations.settled();
      await connection.close();
      await native.close();
      await database.close();
      if (observer !== database) await observer.close();
      await modelServer.close();
    },
  };
  return desk;
}

/**
 * Looks until there is something, or the time is over: often at first, then less and less, because a look costs the machine what
 * it is waiting for.
 */
export async function until<T>(
  look: () => Promise<T | undefined>,
  withinMs: number,
  what: string,
): Promise<T> {
  const began = Date.now();
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    const waited = Date.now() - began;
    if (waited > withinMs) throw new Error(`waited ${withinMs} ms for ${what}`);
    await sleep(Math.min(250, 20 + waited / 10));
  }
}

function keptLines(lines: string[]): InstanceType<typeof transports.Stream> {
  return new transports.Stream({
    stream: new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(...chunk.toString().split('\n').filter(Boolean));
        done();
      },
    }),
  });
}
