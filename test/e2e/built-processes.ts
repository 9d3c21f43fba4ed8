// What production runs: the build in a folder of its own, its set-up of the database, its worker and its gateway, started the
// way a container starts them. They have an environment and files with secrets, no channel to whoever started them and no
// loader; that they are ready is seen over HTTP.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPort } from '../../local/ports.js';
import { createModelServer } from '../../local/model/server.js';
import type { AnswerScript } from '../../local/model/scenario.js';
import { run, TREE } from '../ground/overlay.js';
import { type Api, createApi, eventually } from '../support/api-client.js';
import { testServer } from '../support/postgres.js';
import { freshNamespace } from '../support/temporal.js';

const READY_MS = 60_000;

export interface Running {
  pid: number;
  signal(signal: NodeJS.Signals): void;
  /** Its exit code. */
  ended: Promise<number | null>;
  /** Its log. */
  output(): string;
}

export interface Built {
  api: Api;
  apiToken: string;
  gatewayUrl: string;
  databaseUrl: string;
  /** What the set-up of the database has said. */
  setUp: string;
  start(program: 'worker' | 'gateway'): Promise<Running>;
  script(...answers: AnswerScript[]): Promise<void>;
  /** Texts that the model was asked about last, one for each request. */
  asked(): Promise<string[]>;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Builds, and prepares a database and a namespace of its own. Nothing is started yet. */
export async function buildAndSetUp(): Promise<Built> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'aroko-built-')));
  await symlink(join(TREE, 'node_modules'), join(folder, 'node_modules'));
  await symlink(join(TREE, 'package.json'), join(folder, 'package.json'));
  await symlink(join(TREE, 'config'), join(folder, 'config'));
  const model = createModelServer({ mode: 'scenario' });
  const [modelUrl, { superuserUrl, passwords }, temporal] = await Promise.all([
    model.listen({ host: '127.0.0.1', port: 0 }),
    testServer(),
    freshNamespace(),
    // The types are checked by a step of their own.
    build(folder),
  ]);
  // A worker that didn't find its bundle would need this file to make one.
  await rm(join(folder, 'dist/workflows/index.js'));

  const database = `aroko_built_${randomBytes(6).toString('hex')}`;
  const urlOf = (role: 'owner' | 'app' | 'read'): string => {
    const url = new URL(superuserUrl);
    Object.assign(url, { username: `aroko_${role}`, password: passwords[role], pathname: `/${database}` });
    return url.href;
  };
  const secret = async (name: string, value: string): Promise<string> => {
    await writeFile(join(folder, name), value, { mode: 0o600 });
    return join(folder, name);
  };
  const apiToken = randomBytes(24).toString('hex');
  const ports = { worker: await freePort(), gateway: await freePort() };
  const shared = {
    NODE_ENV: 'production',
    AROKO_DATABASE_URL_FILE: await secret('database-url', urlOf('app')),
    AROKO_MASTER_KEY_FILE: await secret('master-key', randomBytes(32).toString('base64')),
    AROKO_TEMPORAL_ADDRESS: temporal.address,
    AROKO_TEMPORAL_NAMESPACE: temporal.namespace,
  };
  const environments = {
    worker: {
      ...shared,
      ANTHROPIC_API_KEY_FILE: await secret('anthropic-api-key', 'local'),
      ANTHROPIC_BASE_URL: modelUrl,
      AROKO_WORKER_HEALTH_PORT: String(ports.worker),
    },
    gateway: {
      ...shared,
      AROKO_API_TOKEN_FILE: await secret('api-token', apiToken),
      AROKO_GATEWAY_PORT: String(ports.gateway),
    },
  };
  const setUp = spawned('prisma/setup-main.js', {
    AROKO_SUPERUSER_DATABASE_URL_FILE: await secret('superuser-database-url', superuserUrl),
    AROKO_OWNER_DATABASE_URL_FILE: await secret('owner-database-url', urlOf('owner')),
    AROKO_DATABASE_URL_FILE: await secret('database-url', urlOf('app')),
    AROKO_READ_DATABASE_URL_FILE: await secret('read-database-url', urlOf('read')),
  });
  if ((await setUp.ended) !== 0) throw new Error(`the set-up failed:\n${setUp.output()}`);
  const superuserOfDatabase = new URL(superuserUrl);
  superuserOfDatabase.pathname = `/${database}`;

  function spawned(program: string, environment: Record<string, string>): Running {
    const child = spawn(process.execPath, [join('dist', program)], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], ...markOfTheRun(), ...environment },
    });
    running.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    const ended = new Promise<number | null>((resolve) => {
      child.once('exit', (code) => {
        running.delete(child);
        resolve(code);
      });
    });
    return {
      pid: child.pid ?? 0,
      ended,
      output: () => output,
      signal: (signal) => void child.kill(signal),
    };
  }

  return {
    api: createApi(() => ({ url: `http://127.0.0.1:${ports.gateway}/api`, token: apiToken })),
    apiToken,
    gatewayUrl: `http://127.0.0.1:${ports.gateway}`,
    databaseUrl: superuserOfDatabase.href,
    setUp: setUp.output(),
    async start(program) {
      const started = spawned(`${program}/main.js`, environments[program]);
      let code: number | null | undefined;
      void started.ended.then((exitCode) => (code = exitCode));
      await eventually(
        `the ${program} to be ready`,
        async () => {
          if (code !== undefined) throw new Error(`it ended with ${code}:\n${started.output()}`);
          return (await isReady(ports[program])) ? true : undefined;
        },
        READY_MS,
      );
      return started;
    },
    async script(...answers) {
      const response = await fetch(`${modelUrl}/control/scenario`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ answers }),
      });
      if (!response.ok) throw new Error(await response.text());
    },
    async asked() {
      const response = await fetch(`${modelUrl}/control/requests`);
      const { requests }: { requests: { body: { messages: { content: unknown }[] } }[] } = JSON.parse(
        await response.text(),
      );
      return requests.map(({ body }) => JSON.stringify(body.messages.at(-1)?.content));
    },
    async stop() {
      const left = [...running];
      for (const child of left) child.kill('SIGTERM');
      await eventually('the built processes to end', () => (running.size === 0 ? true : undefined), 10_000);
      await model.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function build(folder: string): Promise<void> {
  const { code, output } = await run(
    'bash',
    [join(TREE, '.ci/build'), join(folder, 'dist'), '--noCheck'],
    folder,
  );
  if (code !== 0) throw new Error(`the build failed:\n${output}`);
}

function freePort(): Promise<number> {
  return findPort({ wanted: 0, purpose: 'a built process', say: () => undefined });
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok;
  } catch {
    return false;
  }
}

/** By which a run of all tests finds what was left behind. */
function markOfTheRun(): Record<string, string> {
  const { TEST_RUN_OF_AROKO: mark } = process.env;
  return mark === undefined ? {} : { TEST_RUN_OF_AROKO: mark };
}
