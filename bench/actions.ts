// What a turn costs: Temporal actions and events, round trips to Postgres, model calls and prompt tokens, for each kind of
// turn. Counted from real histories, on the wire to Postgres, and from the rows of the model calls.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { startEmbedded } from '../local/embedded.js';
import { bootstrapDatabase } from '../prisma/bootstrap.js';
import { migrate } from '../prisma/migrate.js';
import { conversationWorkflowId } from '../workflows/domain/ids.js';
import { actionsOf } from './actions-of.js';
import { openDesk, type Desk } from './desk.js';
import { startRelay, type Relay } from './round-trips.js';

const KINDS = ['normal', 'tool', 'approval'] as const;
type Kind = (typeof KINDS)[number];

/** What is promised per turn; anything above makes the exit code 1. */
const PROMISED: Record<Kind, { actions: number; model_calls: number; prompt_tokens?: number }> = {
  normal: { actions: 4, model_calls: 1, prompt_tokens: 1_500 },
  tool: { actions: 12, model_calls: 2 },
  approval: { actions: 17, model_calls: 2 },
};
const PLANNER_PROMPT_TOKENS = 2_500;
/** What a well-known WhatsApp agent sends to its model for a greeting: all of its tools, every time. */
const WELL_KNOWN_AGENT_GREETING_TOKENS = 13_770;

interface Cost {
  actions: number;
  events: number;
  db_round_trips: number;
  model_calls: number;
  prompt_tokens: number;
  planner_prompt_tokens: number;
}

const options = new Command('bench:actions')
  .description('Counts what each kind of turn costs')
  .option('--json <file>', 'write the figures to this file')
  .parse()
  .opts<{ json?: string }>();

const folder = await mkdtemp(join(tmpdir(), 'aroko-bench-'));
const silent = (): void => undefined;
const embedded = await startEmbedded({ dataDir: join(folder, 'data'), log: silent });
try {
  const { superuserUrl } = embedded.postgres;
  const urls = await bootstrapDatabase({ superuserUrl, passwords: embedded.passwords });
  await migrate({ ownerUrl: urls.ownerUrl });
  const relay = await startRelay(urls.applicationUrl);
  const temporal = { address: embedded.temporal.address, namespace: 'default' };
  const desk = await openDesk({ applicationUrl: relay.url, observerUrl: urls.applicationUrl, temporal });
  const costs = await measureAll(desk, relay);
  await desk.stop();
  await relay.close();
  await report(costs);
} finally {
  await embedded.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measureAll(desk: Desk, relay: Relay): Promise<Record<Kind, Cost>> {
  const normal = await measure(desk, relay, 'normal', async (chat) => {
    await desk.settled(await desk.send(chat, 'Hello!'));
  });
  const tool = await measure(desk, relay, 'tool', async (chat) => {
    await desk.settled(await desk.send(chat, 'Is anything free on Saturday morning?'));
  });
  const approval = await measure(desk, relay, 'approval', async (chat) => {
    const id = await desk.send(chat, 'Book Friday at 10:00 please');
    const { ref } = await desk.openApproval();
    await desk.decide(ref, 'approve');
    await desk.settled(id);
  });
  return { normal, tool, approval };
}

/** Measured as the second turn of its chat: what belongs to the session is paid already. */
async function measure(
  desk: Desk,
  relay: Relay,
  chat: string,
  turn: (chat: string) => Promise<void>,
): Promise<Cost> {
  await desk.settled(await desk.send(chat, 'Good morning!'));
  await settle(desk);
  const before = await countAll(desk, chat);
  const roundTripsBefore = relay.count();
  await turn(chat);
  await settle(desk);
  const roundTrips = relay.count() - roundTripsBefore;
  const after = await countAll(desk, chat);
  return {
    actions: after.actions - before.actions,
    events: after.events - before.events,
    db_round_trips: roundTrips,
    model_calls: after.calls.length - before.calls.length,
    prompt_tokens: after.tokens - before.tokens,
    planner_prompt_tokens: Math.max(0, ...after.calls.map((call) => call.planner)),
  };
}

/** The last workflow task is reported a moment after the last row is written. */
async function settle(desk: Desk): Promise<void> {
  await desk.conversations.settled();
  await sleep(700);
}

async function countAll(
  desk: Desk,
  chat: string,
): Promise<{ actions: number; events: number; tokens: number; calls: { planner: number }[] }> {
  const { tenantId } = desk;
  const chatId = await desk.chatId(chat);
  const histories = [
    await desk.client.workflow.getHandle(conversationWorkflowId({ tenantId, chatId })).fetchHistory(),
  ];
  const [runs, calls] = await desk.observer.inTenant(tenantId, async (tx) => [
    await tx.toolRun.findMany({ where: { chatId }, select: { turnId: true } }),
    await tx.modelCall.findMany({ where: { chatId } }),
  ]);
  for (const { turnId } of runs) histories.push(await desk.historyOfRun(turnId));
  const counts = histories.map(actionsOf);
  return {
    actions: counts.reduce((sum, count) => sum + count.actions, 0),
    events: counts.reduce((sum, count) => sum + count.events, 0),
    tokens: calls.reduce((sum, call) => sum + call.inputTokens, 0),
    calls: calls.map((call) => ({ planner: call.purpose === 'plan' ? call.inputTokens : 0 })),
  };
}

async function report(costs: Record<Kind, Cost>): Promise<void> {
  console.table(costs);
  const greeting = costs.normal.prompt_tokens;
  const ratio = (WELL_KNOWN_AGENT_GREETING_TOKENS / Math.max(1, greeting)).toFixed(0);
  console.log(
    `A greeting: ${greeting} prompt tokens; a well-known agent sends ${WELL_KNOWN_AGENT_GREETING_TOKENS} (${ratio} times as many).`,
  );
  const broken = KINDS.flatMap((kind) => brokenPromises(kind, costs[kind]));
  for (const promise of broken) console.error(`not held: ${promise}`);
  if (broken.length > 0) process.exitCode = 1;
  if (options.json === undefined) return;
  const figures = Object.fromEntries(
    KINDS.flatMap((kind) => Object.entries(costs[kind]).map(([name, value]) => [`${kind}_${name}`, value])),
  );
  await writeFile(options.json, `${JSON.stringify({ figures }, null, 2)}\n`);
}

function brokenPromises(kind: Kind, cost: Cost): string[] {
  const promised = PROMISED[kind];
  return [
    ...(cost.actions > promised.actions
      ? [`${kind}: ${cost.actions} actions, ${promised.actions} promised`]
      : []),
    ...(cost.model_calls > promised.model_calls
      ? [`${kind}: ${cost.model_calls} model calls, ${promised.model_calls} promised`]
      : []),
    ...(promised.prompt_tokens !== undefined && cost.prompt_tokens > promised.prompt_tokens
      ? [`${kind}: ${cost.prompt_tokens} prompt tokens, ${promised.prompt_tokens} promised`]
      : []),
    ...(cost.planner_prompt_tokens > PLANNER_PROMPT_TOKENS
      ? [`${kind}: ${cost.planner_prompt_tokens} prompt tokens for a plan, ${PLANNER_PROMPT_TOKENS} promised`]
      : []),
  ];
}
