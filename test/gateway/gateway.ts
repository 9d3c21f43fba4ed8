// A gateway over a real Postgres, with a double in Temporal's place that remembers what was asked of it. And rows as the
// worker would write them, so that pages have something to show.
import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { transports } from 'winston';
import { profileOf } from '../../config/accounts.js';
import type { TenantConfiguration } from '../../config/configuration.js';
import { loadConfiguration } from '../../config/load.js';
import { createLogger } from '../../config/logger.js';
import { createChanges, type Changes } from '../../gateway/changes.js';
import type { Conversations } from '../../gateway/conversations.js';
import { createInbox, type Inbox } from '../../gateway/inbox.js';
import { createServer } from '../../gateway/server.js';
import type { ContentCipher } from '../../prisma/content.js';
import { openDatabase, type Database } from '../../prisma/database.js';
import { openApproval } from '../../prisma/stores/approvals.js';
import { lockOutgoing, sendByCommit } from '../../prisma/stores/deliveries.js';
import { planMessage } from '../../prisma/stores/outbox.js';
import { closeRun, moveRun, registerRun } from '../../prisma/stores/runs.js';
import { createInScope, type InScope, type Scope } from '../../prisma/stores/scope.js';
import { createLoginLink } from '../../prisma/stores/sessions.js';
import { acceptStep, proposeStep } from '../../prisma/stores/steps.js';
import { claimTurn, storeDecision } from '../../prisma/stores/turns.js';
import type { JsonObject } from '../../workflows/domain/tool.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { addTenant, testContent } from '../support/tenants.js';

export const API_TOKEN = 'a-token-for-the-tests-of-the-api';

export type Call =
  | { what: 'ring'; chatId: string; upTo: number }
  | { what: 'say'; outboxId: string; final: boolean }
  | { what: 'desk'; chatId: string }
  | { what: 'run'; turnId: string }
  | { what: 'wake'; turnId: string; approvalId: string };

export interface RecordedConversations extends Conversations {
  calls: Call[];
  isAway: boolean;
  /** Turns whose run is gone. */
  closedRuns: Set<string>;
}

/** Answers as Temporal would, at once. */
export function recordedConversations(): RecordedConversations {
  const calls: Call[] = [];
  const double: RecordedConversations = {
    calls,
    isAway: false,
    closedRuns: new Set(),
    whileStoring: (work) => work,
    ring: async ({ chatId, upTo }) => {
      calls.push({ what: 'ring', chatId, upTo });
      return double.isAway ? 'failed' : 'rung';
    },
    say: async ({ outboxId, final }) => {
      calls.push({ what: 'say', outboxId, final });
      return 'rung';
    },
    deskChanged: async ({ chatId }) => {
      calls.push({ what: 'desk', chatId });
      return double.isAway ? 'failed' : 'rung';
    },
    runEnded: async ({ turnId }) => {
      calls.push({ what: 'run', turnId });
      return double.isAway ? 'failed' : 'rung';
    },
    isRunClosed: async ({ turnId }) => double.closedRuns.has(turnId),
    wakeRun: async ({ turnId, approvalId }) => {
      calls.push({ what: 'wake', turnId, approvalId });
      return double.isAway ? 'no_run' : 'woken';
    },
    isReachable: async () => !double.isAway,
    settled: async () => undefined,
  };
  return double;
}

export interface TestGateway {
  app: FastifyInstance;
  urls: TestDatabase;
  database: Database;
  content: ContentCipher;
  changes: Changes;
  inbox: Inbox;
  inScope: InScope;
  conversations: RecordedConversations;
  configuration: TenantConfiguration;
  tenantId: string;
  account: { channel: 'web'; accountKey: string };
  logLines: string[];
  write(chat: string, text: string, id?: string): ReturnType<Inbox['acceptMessage']>;
  api(method: 'GET' | 'POST', path: string, body?: unknown): Promise<{ status: number; json: unknown }>;
  loginLink(): Promise<string>;
  stop(): Promise<void>;
}

export async function startGateway(): Promise<TestGateway> {
  const urls = await freshDatabase();
  const database = openDatabase({ url: urls.applicationUrl, poolSize: 12 });
  const { tenantId, accountKey } = await addTenant(database);
  const [shipped] = loadConfiguration({ directory: 'config' }).tenants.values();
  if (!shipped) throw new Error('the shipped configuration has no tenant');
  const configuration = {
    ...shipped,
    channels: { ...shipped.channels, web: { ...shipped.channels.web, accountKey } },
  };
  const content = testContent();
  const logLines: string[] = [];
  const destination = new transports.Stream({
    stream: new Writable({
      write(chunk: Buffer, _encoding, done) {
        logLines.push(chunk.toString());
        done();
      },
    }),
  });
  const logger = createLogger({ process: 'gateway', level: 'debug', destination });
  const conversations = recordedConversations();
  const changes = createChanges({ databaseUrl: urls.applicationUrl, logger });
  const inbox = createInbox({ database, content, conversations, logger });
  const account = { channel: 'web', accountKey } as const;
  const app = await createServer({
    database,
    content,
    conversations,
    changes,
    desk: { tenantId, configuration },
    logger,
    apiToken: API_TOKEN,
    temporalUi: { url: 'http://127.0.0.1:8233', namespace: 'default' },
    modelLabel: 'demo model',
  });
  return {
    app,
    urls,
    database,
    content,
    changes,
    inbox,
    inScope: createInScope(database, content),
    conversations,
    configuration,
    tenantId,
    account,
    logLines,
    write: (chat, text, id = randomUUID()) =>
      inbox.acceptMessage({ ...account, chatAddress: chat, externalId: id, kind: 'text', text }),
    async api(method, path, body) {
      const response = await app.inject({
        method,
        url: path,
        headers: {
          authorization: `Bearer ${API_TOKEN}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      });
      return { status: response.statusCode, json: response.json() };
    },
    async loginLink() {
      const { token } = await createLoginLink(database, { tenantId, ownerId: 'deniz', validMinutes: 5 });
      return `/console/login/${token}`;
    },
    async stop() {
      await app.close();
      await changes.close();
      await database.close();
    },
  };
}

export interface Asked {
  chatId: string;
  turnId: string;
  stepId: string;
  approvalId: string;
  ref: string;
}

const ANY_HASH = 'a'.repeat(64);

/** A customer asks, the plan needs the owner's yes, and the customer is told so: as the worker would leave it. */
export async function askForApproval(
  gateway: Pick<TestGateway, 'write' | 'tenantId' | 'configuration' | 'inScope'>,
  request: { chat: string; text: string; arguments: JsonObject; expiresInMs?: number },
): Promise<Asked> {
  const { messageId, chatId } = await gateway.write(request.chat, request.text);
  const { tenantId, configuration } = gateway;
  return gateway.inScope(tenantId, async (scope) => {
    const turn = await claimTurn(scope, { chatId, limit: 10 });
    if (!turn) throw new Error('nothing to claim');
    const { turnId } = turn;
    await storeDecision(scope, {
      gate: 'detector',
      because: 'a trigger phrase',
      decision: {
        decisionId: randomUUID(),
        turnId,
        roleId: 'desk',
        effort: 'low',
        actor: 'customer',
        configHash: configuration.hash,
        profile: profileOf(configuration, { channel: 'web', accountKey: '' }),
        expiresAt: Date.now() + 600_000,
        route: { kind: 'tools', candidates: ['reserve_slot'], because: 'a trigger phrase', contextIds: [] },
      },
    });
    await scope.tx.turn.update({ where: { id: turnId }, data: { state: 'running' } });
    const { contactId } = await scope.tx.chat.findUniqueOrThrow({ where: { id: chatId } });
    await registerRun(scope, { turnId, chatId, contactId, configHash: configuration.hash, candidates: [] });
    const { stepId } = await proposeStep(scope, {
      turnId,
      contactId,
      ordinal: 1,
      tool: 'reserve_slot',
      arguments: request.arguments,
      argumentsHash: ANY_HASH,
    });
    const rule = 'effects-need-the-owner';
    await acceptStep(scope, { stepId, effect: 'reversible', gate: 'approve', rule, isTainted: false });
    const { approvalId, ref } = await openApproval(scope, {
      chatId,
      turnId,
      stepId,
      tool: 'reserve_slot',
      gate: 'approve',
      rule,
      argumentsHash: ANY_HASH,
      configHash: configuration.hash,
      expiresAt: new Date(Date.now() + (request.expiresInMs ?? 3_600_000)),
    });
    await moveRun(scope, { turnId, chatId, to: 'waiting' });
    const { outboxId } = await planMessage(scope, {
      chatId,
      contactId,
      turnId,
      answersMessageId: messageId,
      origin: { kind: 'approval', id: approvalId },
      kind: 'acknowledgement',
      text: 'I have asked.',
    });
    await send(scope, outboxId);
    return { chatId, turnId, stepId, approvalId, ref };
  });
}

async function send(scope: Scope, outboxId: string): Promise<void> {
  const row = await lockOutgoing(scope, outboxId);
  if (row) await sendByCommit(scope, row);
}

/** The run's last word to its customer. */
export async function answerRun(gateway: TestGateway, run: Asked, text: string): Promise<void> {
  await gateway.inScope(gateway.tenantId, async (scope) => {
    const { contactId } = await scope.tx.chat.findUniqueOrThrow({ where: { id: run.chatId } });
    const question = await scope.tx.inbox.findFirst({ where: { turnId: run.turnId } });
    await closeRun(scope, { turnId: run.turnId, chatId: run.chatId, to: 'succeeded' });
    const { outboxId } = await planMessage(scope, {
      chatId: run.chatId,
      contactId,
      turnId: run.turnId,
      answersMessageId: question?.id,
      origin: { kind: 'run', id: run.turnId },
      kind: 'answer',
      text,
    });
    await send(scope, outboxId);
  });
}
