// Worker and gateway are started before what they stand on: they say what they wait for, and come up by themselves when it
// is there. Between them and the run's Postgres and Temporal stand relays that listen only when they are told to.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPort } from '../../local/ports.js';
import { eventually } from '../support/api-client.js';
import { freshDatabase } from '../support/postgres.js';
import { freshNamespace } from '../support/temporal.js';
import { startProgram } from '../worker/processes.js';

interface Relay {
  port: number;
  open(): Promise<void>;
  close(): void;
}

describe('a start before Postgres and Temporal', function () {
  this.timeout(120_000);
  let folder: string;
  let relays: { postgres: Relay; temporal: Relay };
  const started: ReturnType<typeof startProgram>[] = [];

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'aroko-away-'));
  });
  after(async () => {
    for (const { process: child, ended } of started) {
      child.kill('SIGTERM');
      await ended;
    }
    for (const relay of Object.values(relays ?? {})) relay.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('says what it waits for, and comes up when it is there', async () => {
    const [{ applicationUrl }, temporal] = await Promise.all([freshDatabase(), freshNamespace()]);
    relays = {
      postgres: await closedRelay(Number(new URL(applicationUrl).port)),
      temporal: await closedRelay(Number(temporal.address.split(':')[1])),
    };
    const databaseUrl = new URL(applicationUrl);
    databaseUrl.port = String(relays.postgres.port);
    const environment = {
      AROKO_DATABASE_URL: databaseUrl.href,
      AROKO_TEMPORAL_ADDRESS: `127.0.0.1:${relays.temporal.port}`,
      AROKO_TEMPORAL_NAMESPACE: temporal.namespace,
      AROKO_MASTER_KEY_FILE: file('master-key', randomBytes(32).toString('base64')),
      AROKO_API_TOKEN_FILE: file('api-token', randomBytes(24).toString('hex')),
      AROKO_GATEWAY_PORT: '0',
      AROKO_WORKER_HEALTH_PORT: String(
        await findPort({ wanted: 0, purpose: 'health', say: () => undefined }),
      ),
      ANTHROPIC_API_KEY: 'local',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
    };
    const gateway = start('gateway/main.ts', environment);
    const worker = start('worker/main.ts', environment);

    await gateway.says('database.waiting');
    await worker.says('database.waiting');
    await worker.says('temporal.waiting');
    const health = `http://127.0.0.1:${environment.AROKO_WORKER_HEALTH_PORT}/health`;
    assert.equal((await fetch(`${health}/live`)).status, 200, 'a restart would not help');
    assert.equal((await fetch(`${health}/ready`)).status, 503);
    assert.equal(gateway.isReady() || worker.isReady(), false);

    await relays.postgres.open();
    await gateway.says('temporal.waiting');
    assert.equal(gateway.isReady() || worker.isReady(), false);

    await relays.temporal.open();
    await Promise.all([gateway.ready(), worker.ready()]);
    await eventually('the worker to be ready', async () =>
      (await fetch(`${health}/ready`)).status === 200 ? true : undefined,
    );
  });

  function file(name: string, content: string): string {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  }

  function start(script: string, environment: Record<string, string>) {
    const program = startProgram(script, environment);
    started.push(program);
    let isReady = false;
    program.process.on('message', (message: Record<string, string>) => {
      isReady ||= message['type'] === 'ready';
    });
    const wait = (what: string, when: () => boolean): Promise<true> =>
      eventually(`${script} ${what}`, () => (when() ? true : undefined), 60_000).catch((error: unknown) => {
        throw new Error(`${String(error)}; it has said:\n${program.output()}`);
      });
    return {
      isReady: () => isReady,
      ready: () => wait('to be ready', () => isReady),
      says: (event: string) => wait(`to say ${event}`, () => program.output().includes(`"${event}"`)),
    };
  }
});

/** Passes everything on once it is open; until then nobody listens at its port. */
async function closedRelay(to: number): Promise<Relay> {
  const port = await findPort({ wanted: 0, purpose: 'a relay', say: () => undefined });
  const server: Server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  return {
    port,
    open: () => new Promise((resolve) => server.listen({ port, host: '127.0.0.1' }, resolve)),
    close: () => void server.close(),
  };
}
