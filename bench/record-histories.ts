// Records golden histories: one of each kind of conversation and run, from a real server. They are kept for ever and
// replayed by the tests, so that a change of workflow code that would break runs under way is seen before it ships.
import { mkdtemp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Command } from 'commander';
import { startEmbedded } from '../local/embedded.js';
import { bootstrapDatabase } from '../prisma/bootstrap.js';
import { migrate } from '../prisma/migrate.js';
import { conversationWorkflowId, toolRunWorkflowId } from '../workflows/domain/ids.js';
import { decideApproval } from '../workflows/tool-run/contract.js';
import { openDesk, until, type Desk } from './desk.js';

/** A kind of turn: what is said and done in a chat of its own. */
type Scene = (desk: Desk, chat: string) => Promise<void>;

const ASK = 'Is anything free on Friday morning?';
const BOOK = 'Book Friday at 10:00 please';

const SCENES: Record<string, Scene> = {
  async 'normal-chat'(desk, chat) {
    await desk.settled(await desk.send(chat, 'Hello!'));
    await desk.settled(await desk.send(chat, 'Thank you!'));
  },
  async 'fixed-reply'(desk, chat) {
    await desk.settled(await desk.send(chat, '/help'));
  },
  async 'tool-read'(desk, chat) {
    await desk.settled(await desk.send(chat, ASK));
  },
  async 'approval-approved'(desk, chat) {
    const id = await desk.send(chat, BOOK);
    await desk.decide((await desk.openApproval()).ref, 'approve');
    await desk.settled(id);
  },
  async 'approval-rejected'(desk, chat) {
    const id = await desk.send(chat, 'Book Friday at 11:00 please');
    await desk.decide((await desk.openApproval()).ref, 'reject');
    await desk.settled(id);
  },
  async 'approval-from-temporal'(desk, chat) {
    const id = await desk.send(chat, 'Book Friday at 11:30 please');
    const { ref, turnId } = await desk.openApproval();
    const run = desk.client.workflow.getHandle(toolRunWorkflowId({ turnId }));
    await run.signal(decideApproval, { ref, decision: 'approve' });
    await desk.settled(id);
  },
  async 'approval-expired'(desk, chat) {
    const id = await desk.send(chat, 'Book Friday at 12:00 please');
    const { approvalId } = await desk.openApproval();
    await desk.observer.inTenant(desk.tenantId, (tx) =>
      tx.approval.update({ where: { id: approvalId }, data: { expiresAt: new Date() } }),
    );
    await desk.conversations.wakeRun({ turnId: (await turnOf(desk, approvalId)) ?? '', approvalId });
    await desk.settled(id);
  },
  async 'question-and-answer'(desk, chat) {
    await desk.settled(await desk.send(chat, 'book me something'));
    const id = await desk.send(chat, 'Friday at 15:00');
    await desk.decide((await desk.openApproval()).ref, 'approve');
    await desk.settled(id);
  },
  async 'no-tool'(desk, chat) {
    await desk.model.script({ match: 'free', withTools: true, text: 'nothing fits' });
    await desk.settled(await desk.send(chat, ASK));
  },
  async 'rejected-plan'(desk, chat) {
    const toolUse = [{ name: 'unheard_of', input: {} }];
    await desk.model.script({ match: 'free', withTools: true, toolUse });
    await desk.settled(await desk.send(chat, ASK));
  },
  async 'already-under-way'(desk, chat) {
    const first = await desk.send(chat, 'Book Friday at 16:00 please');
    const { ref } = await desk.openApproval();
    await desk.settled(await desk.send(chat, 'Please do book Friday at 16:00'));
    await desk.decide(ref, 'approve');
    await desk.settled(first);
  },
  async 'run-terminated'(desk, chat) {
    const id = await desk.send(chat, 'Book Friday at 17:00 please');
    const { turnId } = await desk.openApproval();
    await desk.client.workflow.getHandle(toolRunWorkflowId({ turnId })).terminate('an engineer');
    await desk.settled(id);
  },
  async 'model-away'(desk, chat) {
    await desk.model.script({ status: 401 });
    await desk.settled(await desk.send(chat, 'Hello there!'));
  },
  async 'planner-away'(desk, chat) {
    await desk.model.script({ match: 'free', withTools: true, status: 401 });
    await desk.settled(await desk.send(chat, ASK));
  },
};

/** The same, where policy asks the requester. */
const CONFIRM_SCENES: Record<string, Scene> = {
  async 'confirm-yes'(desk, chat) {
    await desk.settled(await desk.send(chat, 'Book Thursday at 10:00 please'));
    await desk.settled(await desk.send(chat, 'yes'));
    await desk.repliesWithin(chat, 2);
  },
  async 'confirm-no'(desk, chat) {
    await desk.settled(await desk.send(chat, 'Book Thursday at 11:00 please'));
    await desk.settled(await desk.send(chat, 'no'));
    await desk.repliesWithin(chat, 2);
  },
};

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

const folder = await mkdtemp(join(tmpdir(), 'aroko-histories-'));
const embedded = await startEmbedded({ dataDir: join(folder, 'data'), log: () => undefined });
try {
  const { superuserUrl } = embedded.postgres;
  const urls = await bootstrapDatabase({ superuserUrl, passwords: embedded.passwords });
  await migrate({ ownerUrl: urls.ownerUrl });
  const temporal = { address: embedded.temporal.address, namespace: 'default' };
  const where = { applicationUrl: urls.applicationUrl, temporal };
  await mkdir(options.into, { recursive: true });
  await play(() => openDesk(where), SCENES);
  const askThemselves = { name: 'ask-themselves', when: {}, then: 'confirm' } as const;
  const configure = (shipped: Desk['configuration']): Desk['configuration'] => ({
    ...shipped,
    policy: { ...shipped.policy, rules: [askThemselves] },
  });
  await play(() => openDesk(where, { configure }), CONFIRM_SCENES);
} finally {
  await embedded.stop();
  await rm(folder, { recursive: true, force: true });
}

function kinds(): string[] {
  return [SCENES, CONFIRM_SCENES].flatMap((scenes) => Object.keys(scenes));
}

/** Kinds of which a conversation lies in the folder. */
async function recordedIn(into: string): Promise<Set<string>> {
  const files = await readdir(into).catch(() => []);
  return new Set(files.flatMap((file) => /^(.+)\.conversation\.json$/.exec(file)?.[1] ?? []));
}

async function play(open: () => Promise<Desk>, scenes: Record<string, Scene>): Promise<void> {
  const chosen = Object.entries(scenes).filter(([kind]) => wanted.has(kind));
  if (chosen.length === 0) return;
  const desk = await open();
  for (const [kind, scene] of chosen) {
    await scene(desk, kind);
    await desk.conversations.settled();
    await record(desk, kind);
    console.log(`recorded ${kind}`);
  }
  await desk.stop();
}

async function record(desk: Desk, kind: string): Promise<void> {
  const { tenantId } = desk;
  const chatId = await desk.chatId(kind);
  const runs = await desk.observer.inTenant(tenantId, (tx) =>
    tx.toolRun.findMany({ where: { chatId }, select: { turnId: true }, orderBy: { startedAt: 'asc' } }),
  );
  await keep(desk, `${kind}.conversation`, conversationWorkflowId({ tenantId, chatId }));
  for (const [index, { turnId }] of runs.entries()) {
    await untilClosed(desk, turnId);
    await keep(desk, `${kind}.run-${index + 1}`, toolRunWorkflowId({ turnId }));
  }
}

async function keep(desk: Desk, name: string, workflowId: string): Promise<void> {
  const history = await desk.client.workflow.getHandle(workflowId).fetchHistory();
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
    10_000,
    'the run to close',
  );
}

async function turnOf(desk: Desk, approvalId: string): Promise<string | undefined> {
  const row = await desk.observer.inTenant(desk.tenantId, (tx) =>
    tx.approval.findUnique({ where: { id: approvalId }, select: { turnId: true } }),
  );
  return row?.turnId;
}
