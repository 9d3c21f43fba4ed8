// Worker and gateway as processes of their own, over the run's Postgres and Temporal, with a copy of the configuration that
// a test may change. They run the source, as `node --import tsx worker/main.ts` does.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createModelServer } from '../../local/model/server.js';
import type { AnswerScript } from '../../local/model/scenario.js';
import { Copy } from '../config/copy.js';
import { createApi, eventually, type Api } from '../support/api-client.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { freshNamespace } from '../support/temporal.js';

/** A machine that runs everything else beside it takes its time to compile. */
const READY_MS = 100_000;

export interface Started {
  process: ChildProcess;
  /** Everything that it has printed: its log, and what a person is told. */
  output(): string;
  /** What it told its parent when it was ready. */
  ready: Record<string, string>;
}

export interface Processes {
  worker: Started;
  gateway: Started;
  configuration: Copy;
  urls: TestDatabase;
  temporal: { address: string; namespace: string };
  api: Api;
  apiToken: string;
  gatewayUrl: string;
  workerUrl: string;
  script(...answers: AnswerScript[]): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a program with this environment and nothing of ours from outside. */
export function startProgram(
  script: string,
  environment: Record<string, string>,
): Omit<Started, 'ready'> & { ended: Promise<number | null> } {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(AROKO_|ANTHROPIC_|NODE_OPTIONS$)/.test(name),
  );
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...Object.fromEntries(kept), ...environment },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  running.add(child);
  const ended = once(child, 'exit').then(([code]: (number | null)[]) => {
    running.delete(child);
    return code ?? null;
  });
  return { process: child, output: () => output, ended };
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

async function untilReady(script: string, environment: Record<string, string>): Promise<Started> {
  const started = startProgram(script, environment);
  let ready: Record<string, string> | undefined;
  let code: number | null | undefined;
  void started.ended.then((exitCode) => (code = exitCode));
  started.process.on('message', (message: Record<string, string>) => {
    if (message['type'] === 'ready') ready = message;
  });
  const known = await eventually(
    `${script} to be ready`,
    () => {
      if (code !== undefined) throw new Error(`${script} ended with ${code}:\n${started.output()}`);
      return ready;
    },
    READY_MS,
  ).catch((error: unknown) => {
    started.process.kill('SIGKILL');
    throw new Error(`${String(error)}; it has said:\n${started.output()}`);
  });
  return { ...started, ready: known };
}

export async function startProcesses(): Promise<Processes> {
  const [urls, temporal] = await Promise.all([freshDatabase(), freshNamespace()]);
  const configuration = new Copy();
  const folder = mkdtempSync(join(tmpdir(), 'aroko-processes-'));
  const secret = (name: string, value: string): string => {
    writeFileSync(join(folder, name), value, { mode: 0o600 });
    return join(folder, name);
  };
  const apiToken = randomBytes(24).toString('hex');
  const model = createModelServer({ mode: 'scenario' });
  const modelUrl = await model.listen({ host: '127.0.0.1', port: 0 });
  const shared = {
    AROKO_DATABASE_URL: urls.applicationUrl,
    AROKO_TEMPORAL_ADDRESS: temporal.address,
    AROKO_TEMPORAL_NAMESPACE: temporal.namespace,
    AROKO_MASTER_KEY_FILE: secret('master-key', randomBytes(32).toString('base64')),
    AROKO_CONFIG_DIR: configuration.directory,
  };
  const [worker, gateway] = await Promise.all([
    untilReady('worker/main.ts', {
      ...shared,
      ANTHROPIC_API_KEY: 'local',
      ANTHROPIC_BASE_URL: modelUrl,
      AROKO_WORKER_HEALTH_PORT: '0',
    }),
    untilReady('gateway/main.ts', {
      ...shared,
      AROKO_GATEWAY_PORT: '0',
      AROKO_API_TOKEN_FILE: secret('api-token', apiToken),
    }),
  ]);
  const gatewayUrl = gateway.ready['url'] ?? '';
  return {
    worker,
    gateway,
    configuration,
    urls,
    temporal,
    apiToken,
    gatewayUrl,
    workerUrl: worker.ready['healthUrl'] ?? '',
    api: createApi(() => ({ url: `${gatewayUrl}/api`, token: apiToken })),
    async script(...answers) {
      const response = await fetch(`${modelUrl}/control/scenario`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ answers }),
      });
      if (!response.ok) throw new Error(await response.text());
    },
    async stop() {
      await Promise.all([worker, gateway].map((one) => endOf(one.process)));
      await model.close();
      configuration.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
