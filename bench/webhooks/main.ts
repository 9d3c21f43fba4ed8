// npm run bench:webhooks -- --data DIR [--json [FILE]] [--rate 200 --seconds 60]
// Posts every webhook below a folder, signed, to an installation of its own, and tells what became of each; and messages at a
// steady rate, with the time that accepting them takes. Composition root. Exits 0 only if nothing crashed, was lost or doubled.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import cliProgress from 'cli-progress';
import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';
import { startInstallation, type Installation } from './installation.js';
import { rawInsertP99, runLoad, type Load, type LoadPlan } from './load.js';
import { createPoster } from './post.js';
import { numbersOf, readData, replay, withOwnIds, type Replay } from './replay.js';

interface Options {
  data?: string;
  json?: string | true;
  rate?: number;
  seconds: number;
  chats: number;
  profile: string;
  distinct?: true;
  verbose?: true;
}

/** The number of the load; no real one is that short. */
const LOAD_NUMBER = '10000';
const RAW_SECONDS = 5;

const options = new Command('bench:webhooks')
  .description('Posts webhooks of the WhatsApp Cloud API, and tells what becomes of them')
  .option('--data <dir>', 'folder with JSON files of webhooks, at any depth')
  .option('--json [file]', 'the figures as JSON, to this file or to the standard output')
  .option('--rate <count>', 'messages in a second, beside or instead of the data', positive)
  .option('--seconds <count>', 'how long', positive, 60)
  .option('--chats <count>', 'among so many customers', positive, 200)
  .option('--profile <name>', 'profile of the numbers', 'desk')
  .option('--distinct', 'give the messages of each webhook ids of their own')
  .option('--verbose', 'tell what is being started')
  .parse()
  .opts<Options>();

if (options.data === undefined && options.rate === undefined) {
  process.stderr.write('Nothing to do: name a folder with --data, a rate with --rate, or both.\n');
  process.exit(2);
}

const read = options.data === undefined ? [] : readData(options.data);
const data = options.distinct ? withOwnIds(read) : read;
const installation = await startInstallation({
  numbers: [...new Set([LOAD_NUMBER, ...numbersOf(data)])],
  profile: options.profile,
  environment: process.env,
  verbose: options.verbose === true,
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
    doubled: (replayed?.doubled ?? 0) + (loaded?.doubled ?? 0),
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

type ReplayFigures = Replay & { lost: number; doubled: number; open: number };

async function replayAll(to: Installation, poster: ReturnType<typeof createPoster>): Promise<ReplayFigures> {
  const bar = new cliProgress.SingleBar({ stream: process.stderr, format: '{bar} {value}/{total} files' });
  bar.start(data.length, 0);
  const replayed = await replay(data, poster, () => bar.increment());
  bar.stop();
  const refusedMessages = Object.entries(replayed.reasons)
    .filter(([reason]) => reason !== 'not_json')
    .reduce((sum, [, count]) => sum + count, 0);
  const { rows, open } = await to.database.inTenant(to.tenantId, async (tx) => ({
    rows: await tx.inbox.count(),
    open: await tx.inbox.count({ where: { state: 'accepted' } }),
  }));
  // A message is in the ledger, or it was refused with a reason and is kept as an event: else it is lost.
  const lost =
    Math.max(0, replayed.messages - replayed.accepted - refusedMessages) + Math.max(0, replayed.rows - rows);
  return { ...replayed, lost, doubled: Math.max(0, rows - replayed.rows), open };
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
  const json = JSON.stringify({ figures, ...(replayed && { refused: replayed.reasons }) }, null, 2);
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
    for (const [reason, count] of Object.entries(replayed.reasons))
      process.stdout.write(`${reason}: ${count}\n`);
  }
  for (const [name, value] of Object.entries(figures)) process.stdout.write(`${name.padEnd(20)} ${value}\n`);
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('A number above 0.');
  return value;
}
