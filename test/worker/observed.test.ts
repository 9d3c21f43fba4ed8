// What worker and gateway tell about themselves while they work: health, metrics, logs. As processes of their own, with a
// conversation that goes through chat, a tool, an owner's yes and several failures.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Client as TemporalClient, Connection } from '@temporalio/client';
import { DateTime } from 'luxon';
import { parse } from 'yaml';
import { z } from 'zod';
import { TASK_QUEUE } from '../../workflows/domain/ids.js';
import { eventually } from '../support/api-client.js';
import { type Piece, placesOf } from '../support/dump.js';
import { connected } from '../support/postgres.js';
import { startProcesses, type Processes } from './processes.js';
import { metricNamesOf } from './promql.js';

const TOOL = 'reserve_slot';
const LIMITS_FILE = 'tenants/harbour-desk/limits.yaml';

const dashboardShape = z.object({
  panels: z.array(
    z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) }),
  ),
});
const alertsShape = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.object({
          alert: z.string().regex(/^Aroko[A-Z]\w+$/),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.object({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
});

describe('worker and gateway, observed', function () {
  this.timeout(180_000);
  const canary = `canary${randomBytes(6).toString('hex')}`;
  let processes: Processes;
  let isStarted = false;

  before(async () => {
    processes = await startProcesses();
    isStarted = true;
    await walk();
  });
  after(async () => {
    if (isStarted) await processes.stop();
  });

  const read = async (url: string, token?: string): Promise<{ status: number; text: string }> => {
    const response = await fetch(
      url,
      token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
    );
    return { status: response.status, text: await response.text() };
  };
  const workerMetrics = () => read(`${processes.workerUrl}/metrics`);
  const gatewayMetrics = () => read(`${processes.gatewayUrl}/metrics`, processes.apiToken);

  /** Chat, a step that an owner approves, a model that fails, a plan that nothing can be made of. */
  async function walk(): Promise<void> {
    const { api, script } = processes;
    await api.ask(`${canary}-chat`, `Hello, my name is ${canary}`);
    await book(`${canary}-book`, '11:00');
    const story = `Tell me a story about ${canary}`;
    await script({ match: story, status: 400, errorType: canary, message: `${canary} is not allowed` });
    await api.settled(`${canary}-model`, await api.send(`${canary}-model`, story));
    const nonsense = `Book me a slot, ${canary} nonsense`;
    await script({
      match: nonsense,
      withTools: true,
      times: 8,
      toolUse: [{ name: canary, input: { [canary]: canary } }],
    });
    await api.settled(`${canary}-nonsense`, await api.send(`${canary}-nonsense`, nonsense));
    await failWorkflowTask();
  }

  async function ask(chat: string, time: string): Promise<{ id: string; ref: string }> {
    const text = `Book me a slot at ${time}, ${canary}`;
    const input = { date: workday(), time, note: canary };
    await processes.script({ match: text, withTools: true, toolUse: [{ name: TOOL, input }] });
    const id = await processes.api.send(chat, text);
    return { id, ref: (await processes.api.approvalOf(chat)).ref };
  }

  async function book(chat: string, time: string): Promise<void> {
    const { id, ref } = await ask(chat, time);
    await processes.api.decide(ref, 'approve', canary);
    await processes.api.settled(chat, id);
  }

  /** A workflow that this worker doesn't know: its task fails again and again, until somebody ends it. */
  async function failWorkflowTask(): Promise<void> {
    const { address, namespace } = processes.temporal;
    const connection = await Connection.connect({ address });
    try {
      const client = new TemporalClient({ connection, namespace });
      const workflowId = 'unknown-to-this-worker';
      const handle = await client.workflow.start('unknownWorkflow', { workflowId, taskQueue: TASK_QUEUE });
      await eventually('the failure to be counted', async () =>
        (await workerMetrics()).text.includes('temporal_workflow_task_execution_failed_total{')
          ? true
          : undefined,
      );
      await handle.terminate();
    } finally {
      await connection.close();
    }
  }

  it('are live and ready, and say of what', async () => {
    const look = async (url: string) => {
      const { status, text } = await read(url);
      return { status, body: JSON.parse(text) };
    };
    const live = await look(`${processes.workerUrl}/health/live`);
    assert.equal(live.status, 200);
    assert.deepEqual([live.body.status, live.body.worker], ['live', 'running']);
    assert.ok(
      live.body.workflowPollSeconds < 120 && live.body.activityPollSeconds < 120,
      JSON.stringify(live.body),
    );
    assert.deepEqual(await look(`${processes.workerUrl}/health/ready`), {
      status: 200,
      body: {
        status: 'ready',
        postgres: 'reachable',
        temporal: 'reachable',
        migrations: 'applied',
        polling: 'yes',
        configuration: 'active',
      },
    });
    assert.equal((await look(`${processes.gatewayUrl}/health/live`)).status, 200);
    assert.equal((await look(`${processes.gatewayUrl}/health/ready`)).status, 200);
    assert.equal((await read(`${processes.workerUrl}/elsewhere`)).status, 404);
    assert.equal((await fetch(`${processes.workerUrl}/health/live`, { method: 'POST' })).status, 405);
  });

  it('count what has happened', async () => {
    const worker = (await workerMetrics()).text;
    const gateway = (await gatewayMetrics()).text;
    const series = (text: string, name: string): number =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.slice(name.length + 1),
      );
    assert.equal(series(worker, `aroko_tool_steps_total{tool="${TOOL}",outcome="succeeded"}`), 1);
    assert.equal(series(worker, 'aroko_worker_polling'), 1);
    assert.ok(series(worker, 'aroko_model_calls_total{purpose="plan",outcome="ok"}') >= 1);
    assert.match(worker, /^aroko_model_calls_total\{purpose="answer",outcome="(?!ok)\w+"\} 1$/m);
    assert.ok(series(worker, 'aroko_model_tokens_total{purpose="answer",direction="input"}') > 0);
    assert.equal(series(gateway, 'aroko_approval_decisions_total{outcome="decided"}'), 1);
    assert.equal(series(gateway, 'aroko_messages_accepted_total{outcome="accepted"}'), 4);
  });

  it('export every metric that the dashboard and the alerts ask for, and the alerts say what they mean', async () => {
    const folder = 'docs/observability';
    const dashboard = dashboardShape.parse(
      JSON.parse(readFileSync(`${folder}/grafana-dashboard.json`, 'utf8')),
    );
    const alerts = alertsShape.parse(parse(readFileSync(`${folder}/alerts.yaml`, 'utf8')));
    const rules = alerts.groups.flatMap((group) => group.rules);
    const queries = [
      ...dashboard.panels.flatMap(({ title, targets }) =>
        targets.map(({ expr }) => ({ where: title, expr })),
      ),
      ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
    ];
    assert.ok(queries.length > 50 && rules.length > 15);
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);

    const exported = exportedNames(`${(await workerMetrics()).text}\n${(await gatewayMetrics()).text}`);
    const unknown = queries.flatMap(({ where, expr }) =>
      metricNamesOf(expr)
        .filter((name) => name !== 'up' && !exported.has(name))
        .map((name) => `${where}: ${name}`),
    );
    assert.deepEqual(unknown, []);
    assert.ok(!exported.has('aroko_no_such_metric'), 'a planted one would be found');
  });

  it('take a new configuration for what comes, and keep the old hash where something was decided', async () => {
    const { api, configuration, worker, gateway } = processes;
    const chat = 'reload';
    const old = await ask(chat, '10:00');
    const asked = await approvalOf(old.ref);
    const [before] = await hashes(chat);
    configuration.write(LIMITS_FILE, 'limits: { questionMinutes: soon }');
    for (const one of [worker, gateway]) one.process.kill('SIGHUP');
    for (const one of [worker, gateway]) {
      await eventually('the refusal to be logged', () =>
        one.output().includes('"event":"configuration.rejected"') ? true : undefined,
      );
      assert.match(
        one.output(),
        /limits\.questionMinutes[\s\S]*is "soon"; right would be: a number[\s\S]*stays active/,
      );
    }
    const ready = JSON.parse((await read(`${processes.workerUrl}/health/ready`)).text);
    assert.deepEqual([ready.status, ready.configuration], ['ready', 'newer_rejected']);
    await api.ask('reload-meanwhile', 'Hello there');
    assert.equal((await hashes('reload-meanwhile'))[0], before, 'works on with what it had');

    configuration.write(LIMITS_FILE, 'limits: { questionMinutes: 14 }');
    for (const one of [worker, gateway]) one.process.kill('SIGHUP');
    for (const one of [worker, gateway]) {
      await eventually('the reload to be logged', () =>
        /"event":"configuration.reloaded".*/.test(one.output()) ? true : undefined,
      );
    }
    await api.ask('reload-after', 'Hello there');
    const [after] = await hashes('reload-after');
    assert.notEqual(after, before);
    await api.decide(old.ref, 'approve');
    await api.settled(chat, old.id);
    assert.deepEqual(await hashes(chat), [before], 'the run that was decided before kept its hash');
    await eventually('the yes from before to be used', async () =>
      (await approvalOf(old.ref)).state === 'used' ? true : undefined,
    );
    assert.equal((await approvalOf(old.ref)).hash, asked.hash, 'it was used for what it was given for');
  });

  // The last one, so that everything above has been told by then.
  it('tell nothing of what people wrote: not in logs, not in metrics, not in health', async () => {
    const { worker, gateway, workerUrl, gatewayUrl } = processes;
    const pages = [
      ['worker health/live', await read(`${workerUrl}/health/live`)],
      ['worker health/ready', await read(`${workerUrl}/health/ready`)],
      ['worker metrics', await workerMetrics()],
      ['gateway health/live', await read(`${gatewayUrl}/health/live`)],
      ['gateway health/ready', await read(`${gatewayUrl}/health/ready`)],
      ['gateway metrics', await gatewayMetrics()],
    ] as const;
    const pieces: Piece[] = [
      { where: 'worker log', bytes: Buffer.from(worker.output()) },
      { where: 'gateway log', bytes: Buffer.from(gateway.output()) },
      ...pages.map(([where, { text }]) => ({ where, bytes: Buffer.from(text) })),
    ];
    assert.deepEqual(placesOf(TOOL, pieces), ['worker log', 'worker metrics'], 'what is there is found');
    const found = placesOf(canary, pieces);
    const bytes = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
    process.stdout.write(
      `      scan of logs, metrics and health output for canaries (${pieces.length} pieces, ${bytes} bytes): ${found.length}\n`,
    );
    assert.deepEqual(found, []);
    const heard = await processes.api.messages(`${canary}-chat`);
    assert.ok(
      heard.some(({ text }) => text?.includes(canary)),
      'it has been heard',
    );
    assert.doesNotMatch(worker.output(), /stack_trace|node_modules/, 'nor a stack of Temporal’s own log');
  });

  async function rows<Row>(sql: string, values: unknown[]): Promise<Row[]> {
    return connected(processes.urls.superuserUrl, async (client) => (await client.query(sql, values)).rows);
  }

  async function approvalOf(ref: string): Promise<{ hash: string; state: string }> {
    const sql = 'select config_hash as hash, state from approvals where ref = $1';
    const [found] = await rows<{ hash: string; state: string }>(sql, [ref]);
    return found ?? assert.fail(`no approval ${ref}`);
  }

  /** The hashes that the turns of a chat were decided with, oldest first. */
  async function hashes(chat: string): Promise<string[]> {
    const [first] = await processes.api.messages(chat);
    assert.ok(first);
    const found = await rows<{ hash: string }>(
      `select distinct t.config_hash as hash, min(t.claimed_at) as at from turns t
       join inbox i on i.chat_id = t.chat_id where i.external_id = $1 group by 1 order by 2`,
      [first.id],
    );
    return found.map(({ hash }) => hash);
  }
});

/** Names of samples, and those that a declared type will have once there is one. */
function exportedNames(text: string): Set<string> {
  const names = new Set<string>();
  for (const line of text.split('\n')) {
    const [, declared, type] = /^# TYPE (\w+) (\w+)$/.exec(line) ?? [];
    if (declared !== undefined && type === 'histogram') {
      for (const suffix of ['_bucket', '_sum', '_count']) names.add(`${declared}${suffix}`);
    } else if (declared !== undefined) names.add(declared);
    const sample = /^(\w+)[{ ]/.exec(line)?.[1];
    if (sample !== undefined) names.add(sample);
  }
  return names;
}

function workday(): string {
  let day = DateTime.now().setZone('Europe/Istanbul').plus({ days: 2 }).startOf('day');
  while (day.weekday > 5 || day.toISODate() === '2027-01-01') day = day.plus({ days: 1 });
  return day.toISODate() ?? '';
}
