// Health and metrics of the worker over HTTP. Live: it is running, and Temporal has seen its polls lately; when that is not
// so, a restart helps. Ready: it could do what it is given; when that is not so (Postgres or Temporal is away, migrations
// are missing), a restart doesn't help.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bearerOf, isSameToken } from '../config/bearer.js';
import type { Database } from '../prisma/database.js';
import { within } from '../config/patience.js';
import type { CurrentConfiguration } from '../config/reload.js';
import { missingMigrations } from '../prisma/measures.js';
import type { WorkerMetrics } from './metrics.js';
import type { PollReport, Polls } from './polls.js';

const DATABASE_DEADLINE_MS = 3_000;

export interface HealthServer {
  url: string;
  close(): Promise<void>;
}

export interface HealthParts {
  /** Undefined: the worker is still starting. */
  polls: () => Polls | undefined;
  database: Database;
  metrics: WorkerMetrics;
  /** Where Temporal's SDK tells its metrics. */
  temporalMetricsUrl?: string | undefined;
  configuration: Pick<CurrentConfiguration, 'state'>;
  /** Absent: metrics are for this machine only. */
  metricsToken?: string | undefined;
}

interface Answer {
  status: number;
  contentType: string;
  body: string;
}

/** Listens; port 0 takes any. Rejects where the port is taken. */
export async function serveHealth(
  parts: HealthParts,
  { host, port }: { host: string; port: number },
): Promise<HealthServer> {
  const server = createServer((request, response) => void answer(parts, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  return {
    url: urlOf(server.address(), host),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(parts: HealthParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // No body is ever read.
  request.resume();
  const { status, contentType, body } = await answerTo(parts, request).catch(() =>
    json(500, { status: 'failed' }),
  );
  response.writeHead(status, {
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

async function answerTo(parts: HealthParts, request: IncomingMessage): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return json(405, { status: 'not allowed' });
  switch (request.url?.split('?')[0]) {
    case '/health/live':
      return live(parts);
    case '/health/ready':
      return ready(parts);
    case '/metrics': {
      if (!mayReadMetrics(parts, request)) return json(401, { status: 'unauthorized' });
      const { isPolling } = await stateOf(parts);
      const temporalUrl = parts.temporalMetricsUrl;
      return { status: 200, ...(await parts.metrics.text({ temporalUrl, isPolling })) };
    }
    default:
      return json(404, { status: 'not found' });
  }
}

type State = PollReport & {
  isStarting: boolean;
  /** Undefined: nobody can tell. */
  isPolling: boolean | undefined;
};

const STARTING: PollReport = {
  isRunning: false,
  isTemporalReachable: false,
  isStale: false,
  workflowSeconds: undefined,
  activitySeconds: undefined,
};

async function stateOf({ polls }: HealthParts): Promise<State> {
  const isStarting = polls() === undefined;
  const report = (await polls()?.look()) ?? STARTING;
  const isPolling = report.isTemporalReachable ? report.isRunning && !report.isStale : undefined;
  return { ...report, isStarting, isPolling };
}

async function live(parts: HealthParts): Promise<Answer> {
  const { isStarting, isRunning, isStale, workflowSeconds, activitySeconds } = await stateOf(parts);
  const isLive = isStarting || (isRunning && !isStale);
  const status = isStarting ? 'starting' : 'live';
  return json(isLive ? 200 : 503, {
    status: isLive ? status : 'stuck',
    worker: isRunning ? 'running' : 'not running',
    workflowPollSeconds: workflowSeconds ?? 'unknown',
    activityPollSeconds: activitySeconds ?? 'unknown',
  });
}

async function ready(parts: HealthParts): Promise<Answer> {
  const { prisma } = parts.database;
  let missing: string[] | undefined;
  const [postgres, , { isPolling, isTemporalReachable }] = await Promise.all([
    within(DATABASE_DEADLINE_MS, prisma.$queryRaw`select 1`),
    within(
      DATABASE_DEADLINE_MS,
      missingMigrations(prisma).then((names) => (missing = names)),
    ),
    stateOf(parts),
  ]);
  const areMigrationsApplied = missing?.length === 0;
  const isReady = postgres && areMigrationsApplied && isPolling === true;
  return json(isReady ? 200 : 503, {
    status: isReady ? 'ready' : 'not ready',
    postgres: postgres ? 'reachable' : 'unreachable',
    temporal: isTemporalReachable ? 'reachable' : 'unreachable',
    migrations: areMigrationsApplied ? 'applied' : 'missing',
    polling: isPolling === true ? 'yes' : 'no',
    configuration: parts.configuration.state,
  });
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/;
const LOOPBACK_HOST = /^(127(\.\d{1,3}){3}|\[::1\]|localhost)(:\d+)?$/;

/**
 * With a token it decides. Without one only this machine may, asked for by its own name: a page in a browser that reaches
 * us by a name of its own doesn't count.
 */
function mayReadMetrics({ metricsToken }: HealthParts, request: IncomingMessage): boolean {
  if (metricsToken !== undefined) {
    const given = bearerOf(request.headers.authorization);
    return given !== undefined && isSameToken(given, metricsToken);
  }
  return LOOPBACK.test(request.socket.remoteAddress ?? '') && LOOPBACK_HOST.test(request.headers.host ?? '');
}

function json(status: number, content: object): Answer {
  return { status, contentType: 'application/json; charset=utf-8', body: `${JSON.stringify(content)}\n` };
}

function urlOf(address: AddressInfo | string | null, host: string): string {
  if (address === null || typeof address === 'string')
    throw new Error('the port of the health server is unknown');
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
}
