// Records golden histories: one of each kind of conversation and run, from a real server. They are kept for ever and
// replayed by the tests, so that a change of workflow code that would break runs under way is seen before it ships.
import { randomBytes } from 'node:crypto';
import { mkdtemp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Command } from 'commander';
import { startEmbedded } from '../local/embedded.js';
import { bootstrapDatabase } from '../prisma/bootstrap.js';
import { migrate } from '../prisma/migrate.js';
import { temporalWithShortHistories } from '../test/support/short-histories.js';
import { conversationWorkflowId, toolRunWorkflowId } from '../workflows/domain/ids.js';
import { openDesk, until, type Desk, type History } from './desk.js';
import { broken } from './histories/broken.js';
import { carriedOver } from './histories/carried-over.js';
import { confirmed, ordinary } from './histories/ordinary.js';
import { askingOperators } from './histories/operators.js';
import { previousRunOf } from './histories/runs-of.js';
import type { Scene, SceneGroup } from './histories/scene.js';
import { agreed, owned, staffed } from './histories/staffed.js';

const GROUPS: SceneGroup[] = [
  ordinary,
  confirmed,
  broken,
  staffed,
  owned,
  agreed,
  askingOperators,
  carriedOver,
];

const options = new Command('histories:record')
  .description(
    'Records golden histories of each kind that has none yet; what lies there already stays as it is',
  )
  .option('--only <kinds...>', 'only these kinds, by their names')
  .option('--into <folder>', 'where they are kept', 'test/histories')
  .option(
    '--again',
    'also kinds that are recorded: runs of the old form may be under way, so theirs are lost',
  )
  .addHelpText('after', () => `\nKinds: ${kinds().join(', ')}`)
  .parse()
  .opts<{ only?: string[]; into: string; again?: true }>();

const asked = options.only ?? kinds();
const unheardOf = asked.filter((kind) => !kinds().includes(kind));
if (unheardOf.length > 0) {
  console.error(`There is no kind ${unheardOf.join(', ')}. Kinds: ${kinds().join(', ')}`);
  process.exit(1);
}
const recorded = await recordedIn(options.into);
const wanted = new Set(asked.filter((kind) => options.again === true || !recorded.has(kind)));
for (const kind of asked) if (!wanted.has(kind)) console.log(`${kind} is recorded already`);
if (wanted.size === 0) process.exit(0);

await mkdir(options.into, { recursive: true });
const chosen = GROUPS.filter(({ scenes }) => Object.keys(scenes).some((kind) => wanted.has(kind)));
for (const suggestsNewAfter of new Set(chosen.map((group) => group.suggestsNewAfter))) {
  const groups = chosen.filter((group) => group.suggestsNewAfter === suggestsNewAfter);
  await playOnOneServer(groups, suggestsNewAfter);
}

async function playOnOneServer(groups: SceneGroup[], suggestsNewAfter?: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'aroko-histories-'));
  const embedded = await startEmbedded({
    dataDir: join(folder, 'data'),
    log: () => undefined,
    ...(suggestsNewAfter !== undefined && {
      temporalCli: await temporalWithShortHistories(folder, suggestsNewAfter),
    }),
  });
  try {
    const { superuserUrl } = embedded.postgres;
    const urls = await bootstrapDatabase({ superuserUrl, passwords: embedded.passwords });
    await migrate({ ownerUrl: urls.ownerUrl });
    const temporal = { address: embedded.temporal.address, namespace: 'default' };
    const where = { applicationUrl: urls.applicationUrl, temporal };
    // One key for all desks: they follow one another in one database.
    const masterKey = new Uint8Array(randomBytes(32));
    for (const group of groups) {
      const beside = await group.beside?.();
      const desk = await openDesk(where, { ...group.desk, ...beside?.desk, masterKey });
      await play(desk, group.scenes);
      await desk.stop();
      await beside?.stop();
    }
  } finally {
    await embedded.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function kinds(): string[] {
  return GROUPS.flatMap(({ scenes }) => Object.keys(scenes));
}

/** Kinds of which a conversation lies in the folder. */
async function recordedIn(into: string): Promise<Set<string>> {
  const files = await readdir(into).catch(() => []);
  return new Set(files.flatMap((file) => /^(.+)\.conversation\.json$/.exec(file)?.[1] ?? []));
}

async function play(desk: Desk, scenes: Record<string, Scene>): Promise<void> {
  for (const [kind, scene] of Object.entries(scenes)) {
    if (!wanted.has(kind)) continue;
    await scene(desk, kind);
    await desk.conversations.settled();
    await record(desk, kind);
    console.log(`recorded ${kind}`);
  }
}

async function record(desk: Desk, kind: string): Promise<void> {
  const { tenantId } = desk;
  const chatId = await desk.chatId(kind);
  const runs = await desk.observer.inTenant(tenantId, (tx) =>
    tx.toolRun.findMany({ where: { chatId }, select: { turnId: true }, orderBy: { startedAt: 'asc' } }),
  );
  await keepConversation(desk, kind, conversationWorkflowId({ tenantId, chatId }));
  for (const [index, { turnId }] of runs.entries()) {
    await untilClosed(desk, turnId);
    const workflowId = toolRunWorkflowId({ turnId });
    await keep(`${kind}.run-${index + 1}`, workflowId, await desk.historyOfRun(turnId));
  }
}

/** A conversation that went on in new histories is several; the last one has the plain name. */
async function keepConversation(desk: Desk, kind: string, workflowId: string): Promise<void> {
  const fetch = (runId?: string): Promise<History> =>
    desk.client.workflow.getHandle(workflowId, runId).fetchHistory();
  let history = await fetch();
  await keep(`${kind}.conversation`, workflowId, history);
  for (let before = 1; ; before += 1) {
    const runId = previousRunOf(history);
    if (runId === undefined) return;
    history = await fetch(runId);
    await keep(`${kind}.conversation-${before}-before`, workflowId, history);
  }
}

async function keep(name: string, workflowId: string, history: History): Promise<void> {
  const file = join(options.into, `${name}.json`);
  // Stack traces of failures name the folder of whoever records.
  const json = historyToJSON(history).replaceAll(process.cwd(), '.');
  await writeFile(file, `{"workflowId":${JSON.stringify(workflowId)},"history":${json}}\n`);
}

async function untilClosed(desk: Desk, turnId: string): Promise<void> {
  await until(
    async () => {
      const { status } = await desk.client.workflow.getHandle(toolRunWorkflowId({ turnId })).describe();
      return status.name === 'RUNNING' ? undefined : true;
    },
    60_000,
    'the run to close',
  );
}
