import assert from 'node:assert/strict';
import { openDatabase, type Database } from '../../prisma/database.js';
import { serveHealth, type HealthParts, type HealthServer } from '../../worker/health.js';
import { createWorkerMetrics } from '../../worker/metrics.js';
import { createPolls, type LastPoll, type PollReport } from '../../worker/polls.js';
import { freshDatabase } from '../support/postgres.js';

const TOKEN = 'a-token-for-whoever-collects-metrics';
const MINUTE = 60_000;

describe('the worker’s polls', () => {
  const start = Date.parse('2027-01-04T09:00:00Z');
  let clock = start;
  let seen: Partial<Record<'workflow' | 'activity', number>>;
  let isAway: boolean;
  const lastPoll: LastPoll = async (kind) => {
    if (isAway) throw new Error('no connection');
    return seen[kind];
  };
  const look = () => createPolls({ isRunning: () => true, lastPoll, now: () => clock });

  beforeEach(() => {
    clock = start;
    seen = {};
    isAway = false;
  });

  it('are fresh as long as Temporal has seen both kinds within three minutes', async () => {
    const polls = look();
    seen = { workflow: start, activity: start + MINUTE };
    clock = start + 2 * MINUTE;
    const { isStale, workflowSeconds, activitySeconds } = await polls.look();
    assert.deepEqual([isStale, workflowSeconds, activitySeconds], [false, 120, 60]);
  });

  it('are stale when one kind has stopped, whatever the other does', async () => {
    const polls = look();
    clock = start + 10 * MINUTE;
    seen = { workflow: clock, activity: start };
    assert.equal((await polls.look()).isStale, true);
  });

  it('are given time to begin, and no more', async () => {
    const polls = look();
    clock = start + 2 * MINUTE;
    assert.equal((await polls.look()).isStale, false);
    clock = start + 4 * MINUTE;
    assert.equal((await polls.look()).isStale, true);
  });

  it('are not called stale while Temporal is away: a restart would not bring it back', async () => {
    const polls = look();
    isAway = true;
    clock = start + 60 * MINUTE;
    const { isStale, isTemporalReachable } = await polls.look();
    assert.deepEqual([isStale, isTemporalReachable], [false, false]);
  });

  it('are not waited for where Temporal says nothing at all', async () => {
    const silent = createPolls({ isRunning: () => true, lastPoll: () => new Promise(() => undefined) });
    const { isTemporalReachable, isRunning } = await silent.look();
    assert.deepEqual([isTemporalReachable, isRunning], [false, true]);
  });

  it('are asked for at most once in five seconds', async () => {
    const polls = look();
    seen = { workflow: start, activity: start };
    await polls.look();
    isAway = true;
    clock = start + 4_000;
    assert.equal((await polls.look()).isTemporalReachable, true);
    clock = start + 6_000;
    assert.equal((await polls.look()).isTemporalReachable, false);
  });
});

describe('the worker’s health', function () {
  this.timeout(30_000);
  const WELL: PollReport = {
    isRunning: true,
    isTemporalReachable: true,
    isStale: false,
    workflowSeconds: 3,
    activitySeconds: 4,
  };
  let database: Database;
  let report: PollReport | undefined;
  let server: HealthServer | undefined;

  before(async () => {
    database = openDatabase({ url: (await freshDatabase()).applicationUrl });
  });
  after(() => database.close());
  beforeEach(() => (report = WELL));
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  async function serve(parts: Partial<HealthParts> = {}, host = '127.0.0.1'): Promise<string> {
    server = await serveHealth(
      {
        polls: () => (report === undefined ? undefined : { look: async () => report ?? WELL }),
        database,
        metrics: createWorkerMetrics(),
        configuration: { state: 'active' },
        ...parts,
      },
      { host, port: 0 },
    );
    return server.url;
  }
  const look = async (url: string) => {
    const response = await fetch(url);
    return { status: response.status, body: JSON.parse(await response.text()) };
  };

  it('is alive while Temporal sees its polls, while it starts, and while Temporal is away', async () => {
    const url = await serve();
    const live = async () => {
      const { status, body } = await look(`${url}/health/live`);
      return [status, body.status];
    };
    assert.deepEqual(await live(), [200, 'live']);
    report = undefined;
    assert.deepEqual(await live(), [200, 'starting']);
    report = { ...WELL, isTemporalReachable: false, workflowSeconds: undefined, activitySeconds: undefined };
    assert.deepEqual(await live(), [200, 'live']);
    report = { ...WELL, isStale: true };
    assert.deepEqual(await live(), [503, 'stuck']);
    report = { ...WELL, isRunning: false };
    assert.deepEqual(await live(), [503, 'stuck']);
  });

  it('is ready with Postgres, Temporal, every migration and polls, and says which is missing', async () => {
    const url = await serve();
    const ready = async () => look(`${url}/health/ready`);
    assert.equal((await ready()).status, 200);
    report = { ...WELL, isTemporalReachable: false };
    assert.deepEqual([(await ready()).status, (await ready()).body.temporal], [503, 'unreachable']);
    report = undefined;
    assert.deepEqual([(await ready()).status, (await ready()).body.polling], [503, 'no']);
  });

  it('is not ready over a Postgres that is away, and not dead of it', async () => {
    const away = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/nowhere' });
    const url = await serve({ database: away });
    const { status, body } = await look(`${url}/health/ready`);
    assert.deepEqual([status, body.postgres, body.migrations], [503, 'unreachable', 'missing']);
    assert.equal((await look(`${url}/health/live`)).status, 200);
    await away.close();
  });

  it('is not ready over a database without migrations', async () => {
    const bare = openDatabase({ url: (await freshDatabase({ migrated: false })).applicationUrl });
    const { status, body } = await look(`${await serve({ database: bare })}/health/ready`);
    assert.deepEqual([status, body.postgres, body.migrations], [503, 'reachable', 'missing']);
    await bare.close();
  });

  it('tells metrics to this machine by its own name only, or to whoever has the token', async () => {
    const url = await serve();
    const { port } = new URL(url);
    assert.equal((await fetch(`${url}/metrics`)).status, 200);
    assert.equal((await fetch(`http://localhost:${port}/metrics`)).status, 200);
    assert.equal(await statusWithHost(port, 'somewhere.example'), 401, 'a page with a name of its own');
    await server?.close();

    const guarded = await serve({ metricsToken: TOKEN });
    const status = async (authorization: string) =>
      (await fetch(`${guarded}/metrics`, { headers: { authorization } })).status;
    assert.equal((await fetch(`${guarded}/metrics`)).status, 401);
    assert.equal(await status(`Bearer ${TOKEN}x`), 401);
    assert.equal(await status(`Bearer ${TOKEN}`), 200);
    assert.equal((await fetch(`${guarded}/health/live`)).status, 200, 'health needs none');
  });

  it('tells its metrics also when Temporal’s can’t be fetched', async () => {
    const url = await serve({ temporalMetricsUrl: 'http://127.0.0.1:1/metrics' });
    const text = await (await fetch(`${url}/metrics`)).text();
    assert.match(text, /^aroko_worker_polling 1$/m);
    report = { ...WELL, isStale: true };
    assert.match(await (await fetch(`${url}/metrics`)).text(), /^aroko_worker_polling 0$/m);
    report = { ...WELL, isTemporalReachable: false };
    assert.doesNotMatch(await (await fetch(`${url}/metrics`)).text(), /^aroko_worker_polling /m);
  });
});

describe('the worker’s metrics', () => {
  it('count what is logged, and take no sentence for a label', async () => {
    const metrics = createWorkerMetrics();
    const call = { purpose: 'plan', outcome: 'ok', latencyMs: 400, inputTokens: 100, outputTokens: 7 };
    metrics.hear('model.called', call);
    metrics.hear('model.called', { ...call, outcome: 'The provider said: no' });
    metrics.hear('AgentToolExecutionFailed', { toolName: 'a_tool', code: 'TOOL_TIMEOUT', latencyMs: 5_000 });
    metrics.hear('constructor', {});
    const { body } = await metrics.text({ isPolling: undefined });
    assert.match(body, /^aroko_model_calls_total\{purpose="plan",outcome="ok"\} 1$/m);
    assert.match(body, /^aroko_model_calls_total\{purpose="plan",outcome="other"\} 1$/m);
    assert.match(body, /^aroko_model_call_duration_seconds_sum\{purpose="plan"\} 0\.8$/m);
    assert.match(body, /^aroko_model_tokens_total\{purpose="plan",direction="input"\} 200$/m);
    assert.match(body, /^aroko_tool_steps_total\{tool="a_tool",outcome="TOOL_TIMEOUT"\} 1$/m);
    assert.match(body, /^aroko_tool_step_duration_seconds_bucket\{le="5",tool="a_tool"\} 1$/m);
    assert.doesNotMatch(body, /provider said/);
  });
});

/** `fetch` doesn't let a caller lie about its host. */
async function statusWithHost(port: string, host: string): Promise<number> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/metrics', headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}
