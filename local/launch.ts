/**
 * Starts everything in order, keeps it running, and ends it in order: what a person gets from one command.
 * The launcher holds no business state; killed at any moment, the next start goes on from Postgres and Temporal.
 */
import { rmSync } from 'node:fs';
import type { Configuration } from '../config/configuration.js';
import { loadConfiguration } from '../config/load.js';
import { bootstrapDatabase } from '../prisma/bootstrap.js';
import { migrate } from '../prisma/migrate.js';
import { chooseModel, childEnvironment, configDirectory, describeModel } from './child-environment.js';
import type { ChildRefusal } from './child.js';
import { openDataDirectory, type DataDirectory } from './data-directory.js';
import { startEmbedded, type Embedded } from './embedded.js';
import { endSignal, holdDirectory, type Hold } from './hold.js';
import { keepRunning, type Kept, type Running } from './keep-running.js';
import { findPort } from './ports.js';
import { commandLine, endProcess, namesDirectory } from './processes.js';
import { startGateway, startModel, startWorker } from './programs.js';
import type { GatewayProgram, ModelProgram, ProgramContext, WorkerProgram } from './programs.js';
import { writeRunFile } from './run-file.js';
import type { Screen } from './screen.js';
import { seedSampleBusiness } from './seed.js';

export interface LaunchOptions {
  dataDir: string;
  /** Wanted port of the gateway. */
  port: number;
  temporalCli?: string | undefined;
  modelMode: 'demo' | 'scenario';
  /** Program to start as the worker, within the checkout; absent means the ordinary one. */
  workerProgram?: string | undefined;
  /** Temporal and the worker let the others go first when there is too little processor time for all. */
  givesWay: boolean;
  screen: Screen;
  /** The environment that children inherit. */
  environment: NodeJS.ProcessEnv;
  /** Called when a part can't be kept running; the caller then stops everything. */
  onGiveUp: (reason: string, refusal?: ChildRefusal) => void;
}

/** A start, under way or finished. */
export interface Launch {
  ready: Promise<void>;
  /** Ends in order whatever has been started so far, at any moment; false when there was nothing. */
  stop: () => Promise<boolean>;
}

const wantedPorts = { postgres: 54_320, temporal: 7_233, temporalUi: 8_233 };

/** Together under the ten seconds that Ctrl-C may take; the gateway first, so that nothing new is accepted. */
const graceMs = { gateway: 1_500, worker: 4_000, model: 500, servers: 3_200, rest: 500 };

/** What a start has brought up so far. */
interface Parts {
  hold?: Hold;
  embedded?: Embedded;
  model?: Kept<ModelProgram>;
  worker?: Kept<WorkerProgram>;
  gateway?: Kept<GatewayProgram>;
}

interface Start {
  options: LaunchOptions;
  directory: DataDirectory;
  parts: Parts;
  startedAt: Date;
  isStopping: boolean;
}

/** Begins to start everything. */
export function launch(options: LaunchOptions): Launch {
  const directory = openDataDirectory(options.dataDir);
  const begun: Start = { options, directory, parts: {}, startedAt: new Date(), isStopping: false };
  return { ready: startAll(begun), stop: () => stopAll(begun) };
}

async function startAll(begun: Start): Promise<void> {
  const { options, directory, parts } = begun;
  const { screen } = options;
  // Before anything is started: who mistyped a line hears of it at once.
  const configuration = loadConfiguration({ directory: configDirectory(options.environment) });
  const hold = await holdDirectory({ directory, say: screen.note });
  parts.hold = hold;
  const context = { directory, hold };
  const embedded = await startServers(begun, hold);
  parts.embedded = embedded;

  const choice = chooseModel(options.environment);
  const model = choice.kind === 'demo' ? startOwnModel(begun, context) : undefined;
  const [applicationUrl, ownModel] = await Promise.all([
    prepareDatabase(begun, embedded, configuration),
    model,
  ]);
  if (begun.isStopping) return;

  const port = await findPort({ wanted: options.port, purpose: 'the chat', say: screen.note });
  const environment = childEnvironment({
    inherited: options.environment,
    directory,
    applicationUrl,
    temporal: embedded.temporal,
    choice,
    demoUrl: ownModel?.ready.url,
  });
  const gateway = await startPrograms(begun, context, { ...environment, AROKO_GATEWAY_PORT: String(port) });
  if (begun.isStopping) return;
  publish(begun);
  screen.ready({
    tookMs: Date.now() - begun.startedAt.getTime(),
    chat: new URL('/', gateway.ready.url).href,
    console: gateway.ready.loginUrl ?? consoleUrl(gateway),
    temporalUi: embedded.temporal.uiUrl,
    model: describeModel(choice),
    logs: directory.logs,
  });
}

async function timed<Part>(begun: Start, what: string, run: () => Promise<Part>): Promise<Part> {
  const began = Date.now();
  const part = await run();
  if (!begun.isStopping) begun.options.screen.done(what, Date.now() - began);
  return part;
}

async function startServers(begun: Start, hold: Hold): Promise<Embedded> {
  const { options, directory } = begun;
  const { screen, onGiveUp } = options;
  return startEmbedded({
    dataDir: directory.root,
    ports: wantedPorts,
    temporalCli: options.temporalCli,
    temporalGivesWay: options.givesWay,
    log: screen.note,
    progress: screen.progress,
    hold,
    onReady: (name, tookMs) => screen.done(name, tookMs),
    restart: { onRestart: () => publish(begun), onGiveUp },
  });
}

/** Roles, schema and the sample business; returns the address for the application role. */
async function prepareDatabase(
  { options: { screen } }: Start,
  embedded: Embedded,
  configuration: Configuration,
): Promise<string> {
  const began = Date.now();
  const { superuserUrl } = embedded.postgres;
  const urls = await bootstrapDatabase({ superuserUrl, passwords: embedded.passwords });
  const { applied } = await migrate({ ownerUrl: urls.ownerUrl });
  const { seeded } = await seedSampleBusiness({
    applicationUrl: urls.applicationUrl,
    configuration,
  });
  const news = [
    ...(applied.length > 0
      ? [`${applied.length} ${applied.length === 1 ? 'migration' : 'migrations'} applied`]
      : []),
    ...(seeded ? ['sample business added'] : []),
  ];
  screen.done('Database', Date.now() - began, news.length > 0 ? news.join(', ') : undefined);
  return urls.applicationUrl;
}

/** Watches one of our programs and starts it again when it ends unasked; ends it when it got ready too late. */
function keep<Part extends Running>(
  begun: Start,
  part: { name: string; first: Part; again: (ended: Part) => Promise<Part> },
): Kept<Part> {
  const { screen, onGiveUp } = begun.options;
  const kept = keepRunning({ ...part, say: screen.note, onRestart: () => publish(begun), onGiveUp });
  if (begun.isStopping) void kept.stop(graceMs.rest);
  return kept;
}

async function startOwnModel(begun: Start, context: ProgramContext): Promise<ModelProgram> {
  const { modelMode: mode, environment } = begun.options;
  const model = await timed(begun, 'Demo model', () => startModel(context, { mode, port: 0, environment }));
  // Worker and gateway were told its address: it comes back on the same port.
  const again = (ended: ModelProgram): Promise<ModelProgram> =>
    startModel(context, { mode, port: Number(new URL(ended.ready.url).port), environment });
  begun.parts.model = keep(begun, { name: 'model', first: model, again });
  return model;
}

async function startPrograms(
  begun: Start,
  context: ProgramContext,
  environment: NodeJS.ProcessEnv,
): Promise<GatewayProgram> {
  const withLink = { ...environment, AROKO_ISSUE_LOGIN_LINK: '1' };
  const { workerProgram: script, givesWay } = begun.options;
  const wantedWorker = { environment, script, givesWay };
  const [worker, gateway] = await Promise.all([
    timed(begun, 'Worker', () => startWorker(context, wantedWorker)),
    timed(begun, 'Gateway', () => startGateway(context, withLink)),
  ]);
  begun.parts.worker = keep(begun, {
    name: 'worker',
    first: worker,
    again: () => startWorker(context, wantedWorker),
  });
  begun.parts.gateway = keep(begun, {
    name: 'gateway',
    first: gateway,
    again: () => startGateway(context, environment),
  });
  return gateway;
}

function consoleUrl(gateway: GatewayProgram): string {
  return new URL('/console', gateway.ready.url).href;
}

/** Writes run.json once everything is there; called again when a part came back with another process id. */
function publish({ directory, parts, startedAt, isStopping }: Start): void {
  const { embedded, model } = parts;
  const worker = parts.worker?.current();
  const gateway = parts.gateway?.current();
  if (!embedded || !worker || !gateway || isStopping) return;
  const { postgres, temporal } = embedded;
  writeRunFile(directory, {
    pid: process.pid,
    startedAt: startedAt.toISOString(),
    dataDir: directory.root,
    addresses: {
      chat: new URL('/', gateway.ready.url).href,
      console: consoleUrl(gateway),
      api: new URL('/api', gateway.ready.url).href,
      temporalUi: temporal.uiUrl,
      temporal: temporal.address,
      postgres: `127.0.0.1:${postgres.port}`,
      ...(model && { model: model.current().ready.url }),
      ...(worker.ready.healthUrl !== undefined && { worker: worker.ready.healthUrl }),
    },
    pids: {
      launcher: process.pid,
      postgres: postgres.pids.postmaster,
      temporal: temporal.pids.server,
      ...(model && { model: model.current().pid }),
      worker: worker.pid,
      gateway: gateway.pid,
    },
    apiTokenFile: directory.apiTokenFile,
  });
}

async function stopAll(begun: Start): Promise<boolean> {
  const { directory, parts } = begun;
  const { hold } = parts;
  begun.isStopping = true;
  if (!hold) return false;
  const wasRunning = hold.noted().length > 0;
  hold.stopping();
  await parts.gateway?.stop(graceMs.gateway);
  await parts.worker?.stop(graceMs.worker);
  await Promise.all([parts.model?.stop(graceMs.model), parts.embedded?.stop(graceMs.servers)]);
  // A start that was cut short has children that no part above knows yet.
  const rest = hold.noted().filter(({ pid }) => namesDirectory(commandLine(pid), directory.root));
  const grace = parts.embedded ? graceMs.rest : graceMs.servers;
  await Promise.all(
    rest.map(({ name, pid }) => endProcess({ pid, signal: endSignal(name), graceMs: grace })),
  );
  rmSync(directory.runFile, { force: true });
  hold.release();
  return wasRunning;
}
