// npm run bench:webhooks -- --data DIR [--json [FILE]] [--rate 200 --seconds 60]
// Posts every webhook below a folder, signed, to an installation of its own, and tells what became of each; and messages at a
// steady rate, with the time that accepting them takes. Composition root. Exits 0 only if nothing crashed, was lost or doubled.
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import cliProgress from 'cli-progress';
import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';
import { startInstallation, type Installation } from './installation.js';
import { rawInsertP99, runLoad, type Load, type LoadPlan } from './load.js';
import { createPoster } from './post.js';
import { numbersOf, readData } from './data.js';
import { replay, type Replay } from './replay.js';

interface Options {
  data?: string;
  json?: string | true;
  rate?: number;
  seconds: number;
  chats: number;
  profile: string;
}

/** The number of the load; no real one is that short. */
const LOAD_NUMBER = '10000';
const RAW_SECONDS = 5;
/** What waits for a turn is answered by the demo model; looked at as long as it gets on, within bounds, then listed as open. */
const STANDSTILL_MS = 45_000;
const SETTLE_MS = 300_000;

const options = new Command('bench:webhooks')
  .description('Posts webhooks of the WhatsApp Cloud API, and tells what becomes of them')
  .option('--data <dir>', 'folder with JSON files, webhooks at any depth in them')
  .option('--json [file]', 'the figures as JSON, to this file or to the standard output')
  .option('--rate <count>', 'messages in a second, beside or instead of the data', positive)
  .option('--seconds <count>', 'how long', positive, 60)
  .option('--chats <count>', 'among so many customers', positive, 200)
  .option('--profile <name>', 'profile of the number of the load', 'desk')
  .parse()
  .opts<Options>();

if (options.data === undefined && options.rate === undefined) {
  process.stderr.write('Nothing to do: name a folder with --data, a rate with --rate, or both.\n');
  process.exit(2);
}

if (options.data !== undefined && !existsSync(options.data)) {
  process.stderr.write(`There is no ${options.data}.\n`);
  process.exit(2);
}

const data = options.data === undefined ? [] : readData(options.data);
process.stderr.write(`Starting Postgres, Temporal, worker, gateway and a Graph server that isn’t Meta’s …\n`);
const installation = await startInstallation({
  numbers: [
    { accountKey: LOAD_NUMBER, profile: options.profile },
    // Nobody waits for a second thought of somebody who wrote years ago.
    ...numbersOf(data)
      .filter((accountKey) => accountKey !== LOAD_NUMBER)
      .map((accountKey) => ({ accountKey, profile: 'instant' })),
  ],
  environment: process.env,
  progress: process.stderr,
});
const isSound = await measure(installation).finally(() => installation.stop());
process.exit(isSound ? 0 : 1);

async function measure(to: Installation): Promise<boolean> {
  const poster = createPoster(to);
  const replayed = data.length > 0 ? await replayAll(to, poster) : undefined;
  const loaded = options.rate === undefined ? undefined : await loadAll(to, options.rate, poster);
  poster.close();
  const figures = {
    files: replayed?.files ?? 0,
    webhooks: replayed?.webhooks ?? 0,
    messages: (replayed?.messages ?? 0) + (loaded?.posted ?? 0),
    statuses: replayed?.statuses ?? 0,
    accepted: (replayed?.accepted ?? 0) + (loaded?.rows ?? 0),
    refused_with_reason: replayed?.refused_with_reason ?? 0,
    events: replayed?.events ?? 0,
    open: replayed?.open ?? 0,
    crashes: (replayed?.crashes ?? 0) + (loaded?.crashes ?? 0) + to.restarts(),
    lost: (replayed?.lost ?? 0) + (loaded?.lost ?? 0),
    doubled: (replayed?.doubled ?? 0) + (loaded?.doubled ?? 0) + sentTwice(to),
    ...(loaded && {
      sent_per_s: loaded.sent_per_s,
      p50_ms: loaded.p50_ms,
      p99_ms: loaded.p99_ms,
      max_ms: loaded.max_ms,
      raw_insert_p99_ms: loaded.raw_insert_p99_ms,
    }),
  };
  tell(figures, replayed);
  return figures.crashes + figures.lost + figures.doubled === 0;
}

type ReplayFigures = Replay & {
  doubled: number;
  open: number;
  /** How the messages of the ledger have ended, by state and reason. */
  ledger: Record<string, number>;
};

async function replayAll(to: Installation, poster: ReturnType<typeof createPoster>): Promise<ReplayFigures> {
  const bar = new cliProgress.SingleBar({ stream: process.stderr, format: '{bar} {value}/{total} files' });
  bar.start(data.length, 0);
  const replayed = await replay(data, poster, () => bar.increment());
  bar.stop();
  const messages = await settled(to);
  const ends = new Map(
    messages.map(({ externalId, state, reason }) => [
      externalId,
      state === 'accepted' ? 'waiting' : `${state} (${reason ?? 'no reason'})`,
    ]),
  );
  for (const { ids, outcomes } of replayed.lines) {
    const counts = countEach(ids.flatMap((id) => ends.get(id) ?? []));
    if (ids.length > 0) outcomes.push(`in the ledger: ${listed(counts) || 'nothing'}`);
  }
  return {
    ...replayed,
    lost: replayed.lost + Math.max(0, replayed.rows - messages.length),
    doubled: Math.max(0, messages.length - replayed.rows),
    open: messages.filter(({ state }) => state === 'accepted').length,
    ledger: countEach(ends.values()),
  };
}

/** The messages, once none waits for a turn any more, or the time for that is over. */
async function settled(to: Installation) {
  const began = Date.now();
  let fewest = Infinity;
  let movedAt = began;
  for (;;) {
    const messages = await to.database.inTenant(to.tenantId, (tx) =>
      tx.inbox.findMany({ select: { externalId: true, state: true, reason: true } }),
    );
    const open = messages.filter(({ state }) => state === 'accepted').length;
    const now = Date.now();
    if (open < fewest) [fewest, movedAt] = [open, now];
    if (open === 0 || now - movedAt > STANDSTILL_MS || now - began > SETTLE_MS) return messages;
    await sleep(500);
  }
}

/** Messages that the Graph server took more than once. */
function sentTwice({ graph }: Installation): number {
  const sends = Object.values(countEach(graph.taken().flatMap(({ callbackData }) => callbackData ?? [])));
  return sends.reduce((sum, count) => sum + count - 1, 0);
}

function countEach(words: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

function listed(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
}

type LoadFigures = Load & { rows: number; lost: number; doubled: number; raw_insert_p99_ms: number };

async function loadAll(
  to: Installation,
  rate: number,
  poster: ReturnType<typeof createPoster>,
): Promise<LoadFigures> {
  const mark = `wamid.${randomBytes(4).toString('hex')}.`;
  const plan: LoadPlan = {
    rate,
    seconds: options.seconds,
    chats: options.chats,
    accountKey: LOAD_NUMBER,
    mark,
  };
  // A cold process compiles while it answers, and nobody knows anybody yet: that isn't what is measured.
  await runLoad(poster, { ...plan, seconds: Math.min(5, options.seconds), mark: `${mark}warm.` });
  const load = await runLoad(poster, plan);
  const raw = await rawInsertP99(to.bare, { rate, seconds: Math.min(RAW_SECONDS, options.seconds) });
  const ids = await to.database.inTenant(to.tenantId, (tx) =>
    tx.inbox.findMany({
      where: { externalId: { startsWith: mark }, NOT: { externalId: { startsWith: `${mark}warm.` } } },
      select: { externalId: true },
    }),
  );
  const rows = new Set(ids.map(({ externalId }) => externalId)).size;
  return {
    ...load,
    rows,
    lost: Math.max(0, load.answered - rows),
    doubled: ids.length - rows,
    raw_insert_p99_ms: raw,
  };
}

function tell(figures: Record<string, number>, replayed: ReplayFigures | undefined): void {
  const more = replayed && { refused: replayed.reasons, ledger: replayed.ledger };
  const json = JSON.stringify({ figures, ...more }, null, 2);
  if (typeof options.json === 'string') writeFileSync(options.json, `${json}\n`);
  if (options.json === true) {
    process.stdout.write(`${json}\n`);
    return;
  }
  if (replayed) {
    const table = new Table({
      head: ['file', 'found', 'what became of it'],
      style: { head: [], border: [], compact: true },
    });
    table.push(...replayed.lines.map(({ file, found, outcomes }) => [file, found, outcomes.join('\n')]));
    process.stdout.write(`${table.toString()}\n`);
    process.stdout.write(`refused: ${listed(replayed.reasons) || 'nothing'}\n`);
    process.stdout.write(`in the ledger: ${listed(replayed.ledger) || 'nothing'}\n`);
  }
  for (const [name, value] of Object.entries(figures)) process.stdout.write(`${name.padEnd(20)} ${value}\n`);
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('A number above 0.');
  return value;
}
