// Steps without the lane around them: a database, a business whose one tool is a double, and the activities of validation and
// execution as Temporal would call them. A message, a turn and a plan are written by the stores, as the lane would.
import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ActivityDeps } from '../../activities/deps.js';
import { hashOfCall } from '../../activities/call-hash.js';
import { createExecutionActivities } from '../../activities/execution/execute-step.js';
import { createSummarizationActivities } from '../../activities/summarization/summarize.js';
import { createTenantDirectory, type Tenant } from '../../activities/tenants.js';
import type { ToolCall, ToolOperation } from '../../activities/tools/provider.js';
import { createValidationActivities } from '../../activities/validation/validate.js';
import { profileOf } from '../../config/accounts.js';
import type { TenantConfiguration } from '../../config/configuration.js';
import { loadConfiguration } from '../../config/load.js';
import type { Logger } from '../../config/logger.js';
import { openDatabase, type Database, type Tx } from '../../prisma/database.js';
import { decide, type DecisionOutcome } from '../../prisma/stores/approvals.js';
import { registerRun } from '../../prisma/stores/runs.js';
import { createInScope, type InScope } from '../../prisma/stores/scope.js';
import { proposeStep } from '../../prisma/stores/steps.js';
import { claimTurn, storeDecision, taintTurn } from '../../prisma/stores/turns.js';
import type { Approver } from '../../workflows/domain/approval.js';
import type { SayKind } from '../../workflows/domain/message.js';
import type { StepOutcome, Verdict } from '../../workflows/domain/plan.js';
import type { Actor, JsonObject, ToolDefinition } from '../../workflows/domain/tool.js';
import { freshDatabase } from './postgres.js';
import { acceptTextWithRetry, addTenant, testContent } from './tenants.js';

/** What the double does, and what has been asked of it. A test changes it as it goes. */
export interface Shelf {
  calls: (ToolCall & { startedAt: number })[];
  call: ToolOperation['call'];
  didItHappen?: ToolOperation['didItHappen'];
  wordsOf?: ToolOperation['wordsOf'];
  resultsAreUntrusted: boolean;
}

export interface Proposed {
  chatId: string;
  turnId: string;
  stepId: string;
}

export interface Waiting extends Proposed {
  approvalId: string;
  ref: string;
}

export interface StepBench {
  database: Database;
  inScope: InScope;
  tenantId: string;
  deps: ActivityDeps;
  shelf: Shelf;
  tenant(): Promise<Tenant>;
  /** Replaces the configuration, as a reload does. */
  configure(change: (configuration: TenantConfiguration) => TenantConfiguration): void;
  /** A customer asks, in a chat of their own unless one is named, and a model proposes a call. */
  propose(request?: {
    chat?: string;
    arguments?: JsonObject;
    actor?: Actor;
    tool?: string;
    isTainted?: boolean;
    decisionExpiresAt?: number;
  }): Promise<Proposed>;
  validate(step: Proposed): Promise<Verdict>;
  /** Proposes, validates, and answers the approval that was opened. */
  waiting(request?: Parameters<StepBench['propose']>[0]): Promise<Waiting>;
  decide(
    step: Waiting,
    decision: 'approve' | 'reject',
    approver?: Approver,
  ): Promise<DecisionOutcome['outcome']>;
  /** `deps`: others than the bench's own, such as a database that stalls. */
  execute(stepId: string, options?: { attempt?: number; deps?: ActivityDeps }): Promise<StepOutcome>;
  summarize(step: Proposed): Promise<{ outboxId: string; kind: SayKind }>;
  inTenant<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Events of the audit about a subject, in their order. */
  audited(subjectId: string): Promise<{ event: string; actor: string; facts: unknown }[]>;
  close(): Promise<void>;
}

export const LEND: ToolDefinition = {
  name: 'lend_item',
  enabled: true,
  provider: 'shelf',
  operation: 'lend',
  description: 'Lends an item.',
  whenToUse: 'An item is wanted.',
  whenNotToUse: 'Otherwise.',
  aliases: [],
  triggerPhrases: [],
  tags: [],
  examples: [],
  effect: 'irreversible',
  risk: 'high',
  actors: ['customer', 'owner'],
  chatKinds: ['direct'],
  privateData: false,
  inputSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['item'],
    properties: {
      item: { type: 'string' },
      days: { type: 'number' },
      note: { type: 'string' },
      contact_id: { type: 'string' },
      time_zone: { type: 'string' },
    },
  },
  outputSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['summary'],
    properties: { summary: { type: 'string' } },
  },
  managedFields: ['contact_id', 'time_zone'],
  secretFields: [],
  timeoutMs: 5_000,
  asyncEligible: true,
};

/** The same shelf, only looked at. */
export const LOOK: ToolDefinition = { ...LEND, name: 'look_at_shelf', effect: 'read', risk: 'low' };

export async function startStepBench({ poolSize = 20 }: { poolSize?: number } = {}): Promise<StepBench> {
  const urls = await freshDatabase();
  const database = openDatabase({ url: urls.applicationUrl, poolSize });
  const content = testContent();
  const inScope = createInScope(database, content);
  const account = await addTenant(database);
  const { tenantId, slug } = account;
  const [shipped] = loadConfiguration({ directory: 'config' }).tenants.values();
  if (!shipped) throw new Error('the shipped configuration has no tenant');
  const tenants = new Map([[slug, { ...shipped, slug, tools: [LEND, LOOK] }]]);
  const shelf: Shelf = {
    calls: [],
    call: async () => ({ summary: 'Lent.' }),
    resultsAreUntrusted: false,
  };
  const call = (asked: ToolCall): Promise<JsonObject> => {
    shelf.calls.push({ ...asked, startedAt: Date.now() });
    return shelf.call(asked);
  };
  const refuses = (): Promise<never> => Promise.reject(new Error('nobody asks for this here'));
  const deps: ActivityDeps = {
    inScope,
    tenants: createTenantDirectory({ database, configuration: { tenants } }),
    model: { nameOf: ({ name }) => name, ask: refuses },
    providers: {
      shelf: {
        get resultsAreUntrusted() {
          return shelf.resultsAreUntrusted;
        },
        get operations() {
          const { didItHappen, wordsOf } = shelf;
          return { lend: { call, ...(didItHappen && { didItHappen }), ...(wordsOf && { wordsOf }) } };
        },
      },
    },
    graph: { send: refuses, upload: refuses, download: refuses, markRead: refuses },
    log: silentLog(),
  };
  const inTenant = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => database.inTenant(tenantId, work);

  const bench: StepBench = {
    database,
    inScope,
    tenantId,
    deps,
    shelf,
    tenant: () => deps.tenants.byId(tenantId),
    configure(change) {
      const own = tenants.get(slug);
      if (own) tenants.set(slug, change(own));
    },
    async propose(request = {}) {
      const { chat = randomUUID(), actor = 'customer', tool = LEND.name } = request;
      const values = request.arguments ?? { item: 'pump' };
      const message = await acceptTextWithRetry(
        { prisma: database.prisma, content, account },
        { externalId: randomUUID(), text: `Lend me this, please: ${randomUUID()}`, address: chat },
      );
      if (!('chatId' in message)) throw new Error('the message was not taken');
      const { chatId, contactId } = message;
      const configuration = tenants.get(slug) ?? shipped;
      return inScope(tenantId, async (scope) => {
        const turn = await claimTurn(scope, { chatId, limit: 1 });
        if (!turn) throw new Error('there is nothing to claim');
        const { turnId } = turn;
        const decision = {
          decisionId: randomUUID(),
          turnId,
          roleId: configuration.assistant.roleId,
          effort: 'low' as const,
          actor,
          configHash: configuration.hash,
          profile: profileOf(configuration, account),
          expiresAt: request.decisionExpiresAt ?? Date.now() + 3_600_000,
          route: {
            kind: 'tools' as const,
            candidates: [LEND.name, LOOK.name],
            because: 'a trigger phrase',
            contextIds: [],
          },
        };
        await storeDecision(scope, { decision, gate: 'detector', because: 'a trigger phrase' });
        await registerRun(scope, {
          turnId,
          chatId,
          contactId,
          configHash: configuration.hash,
          candidates: [],
        });
        if (request.isTainted) await taintTurn(scope, turnId);
        const { stepId } = await proposeStep(scope, {
          turnId,
          contactId,
          ordinal: 0,
          tool,
          arguments: values,
          argumentsHash: hashOfCall(tool, values),
        });
        return { chatId, turnId, stepId };
      });
    },
    validate: ({ turnId, stepId }) => createValidationActivities(deps).validate({ tenantId, turnId, stepId }),
    async waiting(request) {
      const step = await bench.propose(request);
      const verdict = await bench.validate(step);
      if (verdict.kind !== 'accepted' || !verdict.approval) throw new Error(`it is ${verdict.kind}`);
      const { approvalId, ref } = verdict.approval;
      return { ...step, approvalId, ref };
    },
    async decide({ approvalId }, decision, approver = { surface: 'console', id: 'deniz' }) {
      const { outcome } = await inScope(tenantId, (scope) =>
        decide(scope.tx, content, { tenantId, key: { approvalId }, decision, approver }),
      );
      return outcome;
    },
    execute: (stepId, { attempt = 1, deps: given = deps } = {}) =>
      asActivity(attempt).run(
        (input: { tenantId: string; stepId: string }) => createExecutionActivities(given).executeStep(input),
        { tenantId, stepId },
      ),
    summarize: ({ turnId }) =>
      asActivity(1).run(
        (input: { tenantId: string; turnId: string }) => createSummarizationActivities(deps).summarize(input),
        { tenantId, turnId },
      ),
    inTenant,
    audited: (subjectId) =>
      inTenant((tx) =>
        tx.audit.findMany({
          where: { subjectId },
          orderBy: { number: 'asc' },
          select: { event: true, actor: true, facts: true },
        }),
      ),
    close: () => database.close(),
  };
  return bench;
}

function asActivity(attempt: number): MockActivityEnvironment {
  return new MockActivityEnvironment({ attempt }, { logger: new DefaultLogger('ERROR') });
}

function silentLog(): Logger {
  const ignore = (): void => undefined;
  const log: Logger = { event: ignore, debug: ignore, warn: ignore, error: ignore, child: () => log };
  return log;
}
