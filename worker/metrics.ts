// What the worker tells Prometheus: its own counts, made of log events, and those of Temporal's SDK, in one answer. Names
// follow Prometheus's conventions; labels are purposes, tools and codes, never an id or anything of a person.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Facts } from '../config/logger.js';
import type { EventListener } from '../config/observed-log.js';

export interface WorkerMetrics {
  /** For `observedLog`: counts what is logged. */
  hear: EventListener;
  /** Everything in Prometheus's text format. Never rejects. */
  text(from: MetricsSources): Promise<{ contentType: string; body: string }>;
}

export interface MetricsSources {
  /** Where Temporal's SDK tells its metrics. Absent: nowhere. */
  temporalUrl?: string | undefined;
  /** Undefined: Temporal can't be asked whether it sees our polls. */
  isPolling: boolean | undefined;
}

const MODEL_SECONDS = [0.25, 0.5, 1, 2, 4, 8, 15, 30, 45];
const STEP_SECONDS = [0.05, 0.25, 1, 2.5, 5, 10, 30, 60, 120];
const SDK_DEADLINE_MS = 2_000;

export function createWorkerMetrics(): WorkerMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const polling = new Gauge({
    name: 'aroko_worker_polling',
    help: 'Temporal sees the polls of this worker: 1, or 0; absent while Temporal cannot be asked.',
    registers: [registry],
  });
  const hear = eventCounters(registry);
  return {
    hear,
    async text({ isPolling, temporalUrl }) {
      const temporal = await textOf(temporalUrl);
      if (isPolling === undefined) polling.remove();
      else polling.set(isPolling ? 1 : 0);
      return { contentType: registry.contentType, body: `${await registry.metrics()}${temporal}` };
    },
  };
}

function eventCounters(registry: Registry): EventListener {
  const registers = [registry];
  const calls = new Counter({
    name: 'aroko_model_calls_total',
    help: 'Calls of a model, by purpose and outcome: ok, or the type of the failure.',
    labelNames: ['purpose', 'outcome'],
    registers,
  });
  const callSeconds = new Histogram({
    name: 'aroko_model_call_duration_seconds',
    help: 'Time until a model had answered or failed, by purpose.',
    labelNames: ['purpose'],
    buckets: MODEL_SECONDS,
    registers,
  });
  const tokens = new Counter({
    name: 'aroko_model_tokens_total',
    help: 'Tokens, by purpose and direction.',
    labelNames: ['purpose', 'direction'],
    registers,
  });
  const steps = new Counter({
    name: 'aroko_tool_steps_total',
    help: 'Steps that were carried out, by tool and outcome: succeeded, or the code.',
    labelNames: ['tool', 'outcome'],
    registers,
  });
  const stepSeconds = new Histogram({
    name: 'aroko_tool_step_duration_seconds',
    help: 'Time of a step, by tool.',
    labelNames: ['tool'],
    buckets: STEP_SECONDS,
    registers,
  });
  const failures = new Counter({
    name: 'aroko_activity_failures_total',
    help: 'Activities that failed by an error of somebody else, by activity.',
    labelNames: ['activity'],
    registers,
  });
  const reloads = new Counter({
    name: 'aroko_configuration_reloads_total',
    help: 'Reloads of the configuration, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['reloaded', 'rejected']) reloads.inc({ outcome }, 0);

  const step = (facts: Facts, outcome: string): void => {
    const tool = code(facts['toolName']);
    steps.inc({ tool, outcome });
    stepSeconds.observe({ tool }, seconds(facts['latencyMs']));
  };
  const heard: Record<string, (facts: Facts) => void> = {
    'model.called': (facts) => {
      const purpose = code(facts['purpose']);
      calls.inc({ purpose, outcome: code(facts['outcome']) });
      callSeconds.observe({ purpose }, seconds(facts['latencyMs']));
      tokens.inc({ purpose, direction: 'input' }, count(facts['inputTokens']));
      tokens.inc({ purpose, direction: 'output' }, count(facts['outputTokens']));
    },
    AgentToolExecutionSucceeded: (facts) => step(facts, 'succeeded'),
    AgentToolExecutionFailed: (facts) => step(facts, code(facts['code'])),
    'activity.failed': ({ activity }) => failures.inc({ activity: code(activity) }),
    'configuration.reloaded': () => reloads.inc({ outcome: 'reloaded' }),
    'configuration.rejected': () => reloads.inc({ outcome: 'rejected' }),
  };
  return (name, facts) => {
    if (Object.hasOwn(heard, name)) heard[name]?.(facts);
  };
}

/** Its own words for it, or none while it can't be asked. */
async function textOf(url: string | undefined): Promise<string> {
  if (url === undefined) return '';
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(SDK_DEADLINE_MS) });
    return response.ok ? `\n${await response.text()}` : '';
  } catch {
    return '';
  }
}

/** A label of ours is a code; anything else would have no end of values. */
function code(fact: Facts[string]): string {
  return typeof fact === 'string' && /^[\w.-]{1,64}$/.test(fact) ? fact : 'other';
}

function count(fact: Facts[string]): number {
  return typeof fact === 'number' && fact > 0 ? fact : 0;
}

function seconds(fact: Facts[string]): number {
  return count(fact) / 1_000;
}
