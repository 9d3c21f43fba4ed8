// A whole installation for a bench, as `npm start` runs it: Postgres, Temporal, worker, gateway and model, each a process of
// its own; with a business that has the numbers of the data, and a Graph server that isn't the platform's.
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { openDataDirectory, openSecrets } from '../../local/data-directory.js';
import { launch, type Launch } from '../../local/launch.js';
import type { RunFacts } from '../../local/run-file.js';
import { createScreen } from '../../local/screen.js';
import { openDatabase, type Database } from '../../prisma/database.js';
import { tenantBySlug } from '../../prisma/functions.js';
import { startFakeGraph, type FakeGraph } from '../../test/support/graph/server.js';

export interface Installation {
  gatewayUrl: string;
  appSecret: string;
  database: Database;
  tenantId: string;
  graph: FakeGraph;
  /** As the superuser, in a database without tables of ours: what this Postgres can do at all. */
  bare: Database;
  /** How often a program of ours had to be started again. */
  restarts(): number;
  stop(): Promise<void>;
}

const SLUG = 'bench';
const APP = 'bench-app';

export interface BenchNumber {
  accountKey: string;
  profile: string;
}

/** `progress`: each part is told there when it is up. */
export async function startInstallation(options: {
  numbers: readonly BenchNumber[];
  environment: NodeJS.ProcessEnv;
  progress: NodeJS.WritableStream;
}): Promise<Installation> {
  const { numbers, environment, progress } = options;
  const folder = mkdtempSync(join(tmpdir(), 'aroko-bench-'));
  const appSecret = randomBytes(16).toString('hex');
  const graph = await startFakeGraph({
    numbers: numbers.map(({ accountKey }) => ({ accountKey, displayNumber: accountKey })),
  });
  writeConfiguration(join(folder, 'config'), numbers);
  writeSecrets(join(folder, 'secrets'), appSecret);
  const dataDir = join(folder, 'data');
  let gaveUp: string | undefined;
  const started: Launch = launch({
    dataDir,
    port: 0,
    modelMode: 'demo',
    givesWay: true,
    screen: { ...createScreen({ stream: progress, color: false }), ready: () => undefined },
    environment: {
      ...withoutOwn(environment),
      AROKO_CONFIG_DIR: join(folder, 'config'),
      AROKO_SECRETS_DIR: join(folder, 'secrets'),
      AROKO_GRAPH_URL: graph.url,
      AROKO_LOG_LEVEL: 'info',
    },
    onGiveUp: (reason) => (gaveUp = reason),
  });
  const stop = async (): Promise<void> => {
    await started.stop();
    await graph.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await started.ready;
    if (gaveUp !== undefined) throw new Error(gaveUp);
    const first = runFacts(dataDir);
    const passwords = openSecrets(openDataDirectory(dataDir));
    const { postgres } = first.addresses;
    const database = openDatabase({
      url: `postgres://aroko_app:${passwords.app}@${postgres}/aroko`,
      poolSize: 2,
    });
    const bare = openDatabase({
      url: `postgres://postgres:${passwords.superuser}@${postgres}/postgres`,
      poolSize: 10,
    });
    const tenantId = await tenantBySlug(database.prisma, SLUG);
    if (tenantId === undefined) throw new Error('the business of the bench has no row');
    return {
      gatewayUrl: first.addresses.chat.replace(/\/$/, ''),
      appSecret,
      database,
      tenantId,
      graph,
      bare,
      restarts: () => countOfChanged(first.pids, runFacts(dataDir).pids),
      stop: async () => {
        await database.close();
        await bare.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The shipped business under another name, with these numbers. */
function writeConfiguration(directory: string, numbers: readonly BenchNumber[]): void {
  for (const part of ['defaults', 'phrases'])
    cpSync(join('config', part), join(directory, part), { recursive: true });
  const [shipped] = readdirSync(join('config', 'tenants'), { withFileTypes: true }).filter((one) =>
    one.isDirectory(),
  );
  if (!shipped) throw new Error('the shipped configuration has no tenant');
  const tenant = join(directory, 'tenants', SLUG);
  cpSync(join('config', 'tenants', shipped.name), tenant, { recursive: true });
  const file = join(tenant, 'business.yaml');
  const shippedBusiness: unknown = parse(readFileSync(file, 'utf8'));
  const channels = {
    web: { accountKey: SLUG },
    whatsapp: numbers.map(({ accountKey, profile }, place) => ({
      accountKey,
      // Numbers that nobody has: people of the data aren't to be taken for the desk itself.
      displayNumber: `+99${String(place).padStart(8, '0')}`,
      profile,
      accessToken: `${APP}-token`,
      appSecrets: [`${APP}-secret`],
      verifyToken: `${APP}-verify`,
    })),
  };
  writeFileSync(file, stringify({ ...Object(shippedBusiness), channels }));
}

function writeSecrets(directory: string, appSecret: string): void {
  mkdirSync(directory, { mode: 0o700 });
  const secrets = { token: randomBytes(16).toString('hex'), secret: appSecret, verify: 'bench' };
  for (const [name, value] of Object.entries(secrets)) {
    writeFileSync(join(directory, `${APP}-${name}`), value, { mode: 0o600 });
  }
}

function runFacts(dataDir: string): RunFacts {
  return JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as RunFacts;
}

function countOfChanged(before: RunFacts['pids'], after: RunFacts['pids']): number {
  const ids = new Set(Object.values(before));
  return Object.values(after).filter((pid) => !ids.has(pid)).length;
}

/** What somebody has set for an installation of theirs must not reach this one: no model that costs money, no other folder. */
function withoutOwn(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^(AROKO_|ANTHROPIC_)/.test(name)),
  );
}
