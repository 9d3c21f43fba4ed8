// What the gateway tells Prometheus. Names follow its conventions; labels are states, codes and routes, never an id or
// anything of a person. Counts come from log events and from HTTP; what is open and what was settled comes from Postgres
// when somebody asks, so it is right after any crash.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Facts } from '../config/logger.js';
import type { EventListener } from '../config/observed-log.js';
import { within } from '../config/patience.js';
import type { Database } from '../prisma/database.js';
import { databaseNow, openWork, settledBetween, type OpenWork } from '../prisma/measures.js';

export interface GatewayMetrics {
  /** For `observedLog`: counts what is logged. */
  hear: EventListener;
  /** Has every request timed. Before the routes. */
  observe(app: FastifyInstance): void;
  /** Everything in Prometheus's text format. Never rejects: what can't be read just now is left out. */
  text(database: Database): Promise<{ contentType: string; body: string }>;
}

/** From a quick answer to a shift's silence: what a customer waited. */
const WAITS = [0.5, 1, 2, 5, 10, 20, 60, 300, 900, 3_600, 14_400, 86_400];
const REQUESTS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Rows become visible after the time that they carry: a span is read once nobody can add to it any more. */
const SETTLE_LAG_MS = 10_000;
/** Whoever hasn't looked for longer isn't interested in what was before. */
const LONGEST_SPAN_MS = 3_600_000;
const DATABASE_DEADLINE_MS = 3_000;

type Registers = [Registry];

export function createGatewayMetrics({ settleLagMs = SETTLE_LAG_MS } = {}): GatewayMetrics {
  const registry = new Registry();
  const registers: Registers = [registry];
  collectDefaultMetrics({ register: registry });
  const events = eventCounters(registers);
  const requests = requestMeters(registers);
  const readWork = workMeters(registers, settleLagMs);

  let reading: Promise<void> | undefined;
  return {
    hear: events,
    observe: (app) => app.addHook('onResponse', async (request, reply) => requests(request, reply)),
    async text(database) {
      // Two who ask at once read once.
      reading ??= readWork(database).finally(() => (reading = undefined));
      await reading;
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

/** What the sweep logs, and what it rang for: chats, words of runs, decisions, leases that are over, runs that are gone. */
const RING_KINDS = { rung: 'chat', said: 'say', woken: 'decision', returned: 'lease', mended: 'run' };

/** Counts events by their names; a fact that is no code of ours can't become a label. */
function eventCounters(registers: Registers): EventListener {
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames, registers });
  const accepted = counter(
    'aroko_messages_accepted_total',
    'Messages that came in, by what became of them.',
    ['outcome'],
  );
  const decided = counter('aroko_approval_decisions_total', 'Answers of owners to requests, by outcome.', [
    'outcome',
  ]);
  const rings = counter('aroko_sweep_rings_total', 'Bells that the sweep had to ring again, by kind.', [
    'kind',
  ]);
  const rounds = counter('aroko_sweep_failures_total', 'Rounds of the sweep that failed.', []);
  const lost = counter(
    'aroko_rings_failed_total',
    'Calls to Temporal that failed, by kind; the sweep repeats them.',
    ['kind'],
  );
  const anchors = counter('aroko_audit_anchors_total', 'Hourly anchors of the audit, by outcome.', [
    'outcome',
  ]);
  const reloads = counter('aroko_configuration_reloads_total', 'Reloads of the configuration, by outcome.', [
    'outcome',
  ]);
  for (const kind of Object.values(RING_KINDS)) rings.inc({ kind }, 0);
  for (const kind of ['conversation', 'run']) lost.inc({ kind }, 0);
  for (const outcome of ['anchored', 'failed']) anchors.inc({ outcome }, 0);
  for (const outcome of ['reloaded', 'rejected']) reloads.inc({ outcome }, 0);

  const heard: Record<string, (facts: Facts) => void> = {
    'message.accepted': ({ outcome }) => accepted.inc({ outcome: code(outcome) }),
    'approval.decided': ({ outcome }) => decided.inc({ outcome: code(outcome) }),
    'sweep.rang': (facts) => {
      for (const [fact, kind] of Object.entries(RING_KINDS)) rings.inc({ kind }, count(facts[fact]));
    },
    'sweep.failed': () => rounds.inc(),
    'conversation.ring_failed': () => lost.inc({ kind: 'conversation' }),
    'approval.wake_failed': () => lost.inc({ kind: 'run' }),
    'audit.anchored': () => anchors.inc({ outcome: 'anchored' }),
    'audit.anchor_failed': () => anchors.inc({ outcome: 'failed' }),
    'configuration.reloaded': () => reloads.inc({ outcome: 'reloaded' }),
    'configuration.rejected': () => reloads.inc({ outcome: 'rejected' }),
  };
  return (name, facts) => {
    if (Object.hasOwn(heard, name)) heard[name]?.(facts);
  };
}

/** Durations by route (its pattern, not its address) and class of status; refusals at the webhooks by status. */
function requestMeters(registers: Registers): (request: FastifyRequest, reply: FastifyReply) => void {
  const durations = new Histogram({
    name: 'aroko_http_request_duration_seconds',
    help: 'Time until a request was answered; event streams are not counted.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUESTS,
    registers,
  });
  const refused = new Counter({
    name: 'aroko_webhook_refusals_total',
    help: 'Calls to a webhook that were refused, by status.',
    labelNames: ['status'],
    registers,
  });
  for (const status of ['401', '403']) refused.inc({ status }, 0);
  return (request, reply) => {
    const isStream = String(reply.raw.getHeader('content-type')).startsWith('text/event-stream');
    if (isStream) return;
    const route = request.routeOptions.url ?? 'none';
    const status = reply.statusCode;
    durations.observe(
      { method: request.method, route, status: `${Math.floor(status / 100)}xx` },
      reply.elapsedTime / 1_000,
    );
    if (route.includes('webhook') && status >= 400) refused.inc({ status: String(status) });
  };
}

/** What is in the tables: read at most once per scrape, and left out while Postgres is away. */
function workMeters(registers: Registers, settleLagMs: number): (database: Database) => Promise<void> {
  const gauges = openWorkGauges(registers);
  const reachable = new Gauge({ name: 'aroko_postgres_up', help: 'Postgres answers: 1, or 0.', registers });
  const waits = new Histogram({
    name: 'aroko_message_duration_seconds',
    help: 'From the acceptance of a message to its end, by the state in which it ended.',
    labelNames: ['state'],
    buckets: WAITS,
    registers,
  });
  const sends = new Counter({
    name: 'aroko_outbox_settled_total',
    help: 'Messages of ours that were settled, by state.',
    labelNames: ['state'],
    registers,
  });
  for (const state of ['sent', 'failed', 'unknown', 'discarded']) sends.inc({ state }, 0);

  let after = new Date();
  async function read({ prisma }: Database): Promise<void> {
    const until = new Date((await databaseNow(prisma)).getTime() - settleLagMs);
    gauges.set(await openWork(prisma));
    if (until <= after) return;
    const since = new Date(Math.max(after.getTime(), until.getTime() - LONGEST_SPAN_MS));
    const settled = await settledBetween(prisma, { after: since, until, bounds: WAITS });
    after = until;
    for (const { what, state, amount, seconds } of settled) {
      if (what === 'send') sends.inc({ state }, amount);
      // The class is right for each of them, and so is the sum.
      else for (let place = 0; place < amount; place += 1) waits.observe({ state }, seconds / amount);
    }
  }
  return async (database) => {
    const isRead = await within(DATABASE_DEADLINE_MS, read(database));
    reachable.set(isRead ? 1 : 0);
    // An old figure would say that all is well while nobody knows.
    if (!isRead) gauges.clear();
  };
}

function openWorkGauges(registers: Registers): { set(work: OpenWork): void; clear(): void } {
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const messages = gauge('aroko_messages_open', 'Messages without an end yet.');
  const oldestMessage = gauge(
    'aroko_oldest_open_message_seconds',
    'Age of the oldest open message; 0 without one.',
  );
  const oldestWaiting = gauge(
    'aroko_oldest_waiting_message_seconds',
    'Age of the oldest open message that waits for no owner, no person and no report of a send; 0 without one.',
  );
  const approvals = gauge('aroko_approvals_open', 'Requests that wait for an owner.');
  const oldestApproval = gauge(
    'aroko_oldest_open_approval_seconds',
    'Age of the oldest open request; 0 without one.',
  );
  const operators = gauge('aroko_operator_requests_open', 'Questions that wait for an operator.');
  const effects = gauge('aroko_effects_unknown', 'Steps of which nobody knows whether they happened.');
  const outbox = new Gauge({
    name: 'aroko_outbox_messages',
    help: 'Messages of ours that are not settled, by state; unknown: nobody knows whether they were delivered.',
    labelNames: ['state'],
    registers,
  });
  const single = [messages, oldestMessage, oldestWaiting, approvals, oldestApproval, operators, effects];
  return {
    set(work) {
      messages.set(work.messages);
      oldestMessage.set(work.oldestMessageSeconds);
      oldestWaiting.set(work.oldestWaitingSeconds);
      approvals.set(work.approvals);
      oldestApproval.set(work.oldestApprovalSeconds);
      operators.set(work.operatorRequests);
      effects.set(work.unknownEffects);
      outbox.set({ state: 'planned' }, work.outboxPlanned);
      outbox.set({ state: 'sending' }, work.outboxSending);
      outbox.set({ state: 'unknown' }, work.outboxUnknown);
    },
    clear() {
      for (const one of single) one.remove();
      for (const state of ['planned', 'sending', 'unknown']) outbox.remove({ state });
    },
  };
}

function code(fact: Facts[string]): string {
  return typeof fact === 'string' && /^[\w.-]{1,64}$/.test(fact) ? fact : 'other';
}

function count(fact: Facts[string]): number {
  return typeof fact === 'number' && fact > 0 ? fact : 0;
}
