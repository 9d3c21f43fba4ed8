// A bug in a tool makes a run fail. An engineer finds it, reads it, and replays it from the history that was kept; then
// mends the workflow, which the replay notices, or the tool, which it doesn't.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withBrokenTools } from '../../bench/broken-tools.js';
import { keepFailure } from '../../prisma/stores/failures.js';
import { createHistoryKeeper, type HistoryKeeper } from '../../gateway/history-keeper.js';
import { createReplayer } from '../../worker/replay/replayer.js';
import { conversationWorkflowId, toolRunWorkflowId } from '../../workflows/domain/ids.js';
import type { Ran } from '../cli/cli.js';
import { arokoHere } from '../cli/here.js';
import { openDesk, until, type Desk } from '../../bench/desk.js';
import { freshDatabase } from '../support/postgres.js';
import { freshNamespace } from '../support/temporal.js';
import { changedWorkflows, golden, goldenNames } from '../support/golden.js';

const ASK = 'Is anything free on Friday morning? My badge says kingfisher.';
const WORD = /kingfisher/;
/** What the bug throws; it may hold what a customer wrote, so no list and no story shows it by itself. */
const BUG = 'undefined is not a slot of kingfisher';

describe('a run that a bug in a tool made fail', function () {
  this.timeout(120_000);
  let isBroken = true;
  let desk: Desk;
  let keeper: HistoryKeeper;
  let folder: string;
  let variables: Record<string, string>;
  let runId: string;
  const run = (...args: string[]): Promise<Ran> => arokoHere(args, variables);

  before(async () => {
    const masterKey = new Uint8Array(randomBytes(32));
    const [{ applicationUrl }, temporal] = await Promise.all([freshDatabase(), freshNamespace()]);
    const where = { applicationUrl, temporal };
    desk = await openDesk(where, {
      masterKey,
      wrapDeps: (deps) =>
        withBrokenTools(deps, { isBroken: () => isBroken, error: () => new TypeError(BUG) }),
    });
    folder = await mkdtemp(join(tmpdir(), 'aroko-replay-'));
    const masterKeyFile = join(folder, 'master-key');
    await writeFile(masterKeyFile, Buffer.from(masterKey).toString('base64'), { mode: 0o600 });
    variables = {
      AROKO_DATABASE_URL: applicationUrl,
      AROKO_MASTER_KEY_FILE: masterKeyFile,
      AROKO_TEMPORAL_ADDRESS: temporal.address,
      AROKO_TEMPORAL_NAMESPACE: temporal.namespace,
      AROKO_TEMPORAL_UI_URL: 'http://temporal.example',
    };
    keeper = createHistoryKeeper({
      database: desk.database,
      client: desk.client,
      logger: desk.log,
      closedForMs: 0,
    });
    await desk.settled(await desk.send('ada', 'Hello!'), 60_000);
    await desk.settled(await desk.send('ada', ASK), 60_000);
    runId = (await runsOf(desk))[0] ?? '';
    await untilClosed(desk, runId);
  });
  after(async () => {
    await desk.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('is found among the runs that failed, by its code and its tool', async () => {
    const listed = await run('runs', '--failed', '--since', '1h', '--json');
    assert.equal(listed.code, 0, listed.stderr);
    const { runs } = listed.json();
    assert.deepEqual(
      runs.map((one: Record<string, unknown>) => [one['runId'], one['state'], one['code']]),
      [[runId, 'failed', 'TOOL_PROVIDER_ERROR']],
    );
    const { stdout } = await run('runs', '--failed');
    assert.match(stdout, new RegExp(`failed +TOOL_PROVIDER_ERROR +\\w+ .*${runId}`));
    assert.equal((await run('runs', '--failed', '--since', '2100-01-01', '--json')).json().runs.length, 0);
    assert.equal((await run('runs', '--state', 'succeeded', '--json')).json().runs.length, 0);
  });

  it('is found by its row where Temporal is away, and it is said what may be missing', async () => {
    const away = { ...variables, AROKO_TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const { code, stdout, stderr } = await arokoHere(['runs', '--failed'], away);
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(runId));
    assert.match(stderr, /can’t be reached.*What was only terminated there may be missing/);
  });

  it('is read as a story: asked, decided, planned, checked, carried out three times, said', async () => {
    const { code, stdout, stderr } = await run('run', runId);
    assert.equal(code, 0, stderr);
    const places = [
      /^State +failed \(TOOL_PROVIDER_ERROR\)$/m,
      /^Temporal +completed, \d+ events$/m,
      new RegExp(`^Read the run +http://temporal.example/namespaces/.+/workflows/tool-run%2F${runId}$`, 'm'),
      /^Asked$/m,
      /^Decided$/m,
      /^Gate +detector$/m,
      /^Candidates$/m,
      /^Models asked$/m,
      / plan .* ok /,
      /^Planned and checked$/m,
      /^1 +\w+ +accepted +read +allow/m,
      /^Carried out$/m,
      /^1 +\w+ +failed +TOOL_PROVIDER_ERROR +3 /m,
      /^Said$/m,
      / refusal +summary +sent/,
      /^Audit$/m,
      / step_failed .*TOOL_PROVIDER_ERROR/,
    ].map((wanted) => {
      const found = wanted.exec(stdout);
      assert.ok(found, `${wanted} in ${stdout}`);
      return found.index;
    });
    assert.deepEqual(
      places,
      [...places].sort((one, other) => one - other),
      'in this order',
    );
  });

  it('is read without a word of the customer, unless content is asked for, which is audited', async () => {
    await desk.inScope(desk.tenantId, (scope) =>
      keepFailure(scope, {
        activity: 'executeStep',
        workflowId: toolRunWorkflowId({ turnId: runId }),
        type: 'TOOL_PROVIDER_ERROR',
        code: 'TypeError',
        error: new TypeError(BUG),
      }),
    );
    const shut = await run('run', runId);
    assert.match(shut.stdout, /^Failures\n.*\n.* executeStep +TOOL_PROVIDER_ERROR +TypeError$/m);
    assert.doesNotMatch(shut.stdout + (await run('run', runId, '--json')).stdout, WORD);
    const open = await run('run', toolRunWorkflowId({ turnId: runId }), '--show-content');
    assert.match(open.stdout, new RegExp(`executeStep: TypeError: ${BUG}`));
    assert.match(open.stdout, /^ +message \d+: .*badge says kingfisher/m);
    const audited = (await run('run', runId, '--json')).json().audit.at(-1);
    assert.deepEqual([audited.event, audited.actor], ['content_shown', 'cli']);
  });

  it('has its history kept, once, also by a second keeper', async () => {
    assert.deepEqual(await keeper.keepOnce(), { kept: 1, gone: 0, failed: 0 });
    assert.deepEqual(await keeper.keepOnce(), { kept: 0, gone: 0, failed: 0 });
    const { runs } = (await run('runs', '--failed', '--json')).json();
    assert.ok(runs[0].keptHistory);
    assert.match((await run('run', runId)).stdout, /^History +kept since .*, \d+ events$/m);
  });

  it('is replayed from the history that was kept, and fails again in the same way', async () => {
    const file = join(folder, 'failed.json');
    const { code, stdout, stderr } = await run('replay', runId, '--kept', '--save', file);
    assert.equal(code, 0, stderr + stdout);
    assert.match(stdout, /executeStep answered failed \(TOOL_PROVIDER_ERROR\)/);
    assert.match(stdout, /^Same\. .* comes to the same end/m);
    assert.doesNotMatch(await readFile(file, 'utf8'), WORD, 'ids and codes only');
  });

  it('is told from its history to differ once the workflow was changed, and from which event on', async () => {
    const changed = changedWorkflows({
      'tool-run/workflow.ts': [
        [
          'async function conclude(run: ToolRunInput): Promise<void> {',
          'async function conclude(run: ToolRunInput): Promise<void> { await plan(run);',
        ],
      ],
    });
    try {
      const { code, stdout } = await run('replay', runId, '--kept', '--workflows', changed.path);
      assert.equal(code, 1);
      assert.match(stdout, /^Differs at event \d+\.$/m);
      assert.match(stdout, /^ +The history: +activity summarize$/m);
      assert.match(stdout, /^ +Today’s code: +activity plan$/m);
      assert.match(stdout, /^ +Look at: +workflows\/tool-run\/workflow\.ts:\d+$/m);
    } finally {
      changed.remove();
    }
  });

  it('replays as before once the tool was mended, and the same question gets its answer', async () => {
    isBroken = false;
    const replayed = await run('replay', join(folder, 'failed.json'), '--json');
    assert.deepEqual([replayed.code, replayed.json().isSame], [0, true], replayed.stderr);
    assert.match(replayed.stdout, /executeStep answered failed \(TOOL_PROVIDER_ERROR\)/);
    await desk.settled(await desk.send('ada', ASK), 60_000);
    const { runs } = (await run('runs', '--json')).json();
    assert.deepEqual(
      runs.map((one: Record<string, unknown>) => one['state']),
      ['succeeded', 'failed'],
    );
  });

  it('is run again by a reset in Temporal without a second call, a second word or another outcome', async () => {
    const workflowId = toolRunWorkflowId({ turnId: runId });
    const before = await desk.replies('ada');
    const [step] = await stepsOf(desk, runId);
    const handle = desk.client.workflow.getHandle(workflowId);
    const { runId: first } = await handle.describe();
    const { events } = await handle.fetchHistory();
    const task = events?.find((event) => event.workflowTaskCompletedEventAttributes);
    assert.ok(task?.eventId, 'the first task of the workflow');
    await desk.client.workflowService.resetWorkflowExecution({
      namespace: desk.client.options.namespace,
      workflowExecution: { workflowId, runId: first },
      workflowTaskFinishEventId: task.eventId,
      reason: 'the tool is mended',
      requestId: randomUUID(),
    });
    await untilClosed(desk, runId);
    assert.notEqual((await handle.describe()).runId, first);
    assert.deepEqual(await stepsOf(desk, runId), [step]);
    assert.deepEqual(await desk.replies('ada'), before);
    const { stdout } = await run('replay', runId);
    assert.match(stdout, /an engineer reset it/);
    assert.match(stdout, /^Same\./m);
  });

  it('leaves the golden histories as they replayed before', async () => {
    const replayer = await createReplayer();
    for (const name of goldenNames()) {
      assert.equal((await replayer.replay(golden(name))).kind, 'same', name);
    }
  });

  it('is followed by one whose conversation and run an engineer terminated: both are found and kept', async () => {
    await desk.send('bob', 'Book Friday at 10:00 please');
    const { turnId, ref } = await desk.openApproval();
    const { tenantId } = desk;
    const conversation = conversationWorkflowId({ tenantId, chatId: await desk.chatId('bob') });
    await desk.client.workflow.getHandle(conversation).terminate('an engineer');
    await desk.client.workflow.getHandle(toolRunWorkflowId({ turnId })).terminate('an engineer');
    const { runs, conversations } = (await run('runs', '--failed', '--json')).json();
    assert.deepEqual(
      runs.map((one: Record<string, unknown>) => [one['runId'], one['workflow']]),
      [
        [turnId, 'terminated'],
        [runId, undefined],
      ],
      'its row knows nothing of it',
    );
    assert.deepEqual(
      conversations.map((one: Record<string, unknown>) => [one['workflowId'], one['status']]),
      [[conversation, 'terminated']],
    );
    assert.deepEqual(await keeper.keepOnce(), { kept: 2, gone: 0, failed: 0 });
    assert.deepEqual(await keeper.keepOnce(), { kept: 0, gone: 0, failed: 0 });
    assert.match((await run('run', ref)).stdout, new RegExp(`^Run +${turnId}$`, 'm'), 'found by its REF');
    const { code, stdout, stderr } = await run('replay', conversation);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /it was terminated \(event \d+\)/);
  });

  it('is not the only one: a run that Temporal has forgotten is noted as gone, once', async () => {
    const { tenantId } = desk;
    const chatId = await desk.chatId('ada');
    await desk.database.inTenant(tenantId, async (tx) => {
      const { contactId } = await tx.chat.findUniqueOrThrow({ where: { id: chatId } });
      const turnId = randomUUID();
      const at = new Date();
      const sequences = { firstSequence: 9_000, upTo: 9_000 };
      await tx.turn.create({ data: { id: turnId, tenantId, chatId, ...sequences, state: 'closed' } });
      await tx.toolRun.create({
        data: {
          turnId,
          tenantId,
          chatId,
          contactId,
          state: 'failed',
          open: false,
          closedAt: at,
          configHash: 'x',
        },
      });
    });
    assert.deepEqual(await keeper.keepOnce(), { kept: 0, gone: 1, failed: 0 });
    assert.deepEqual(await keeper.keepOnce(), { kept: 0, gone: 0, failed: 0 });
  });

  it('says so where nothing has that id, and where there is no history', async () => {
    const nobody = await run('run', randomUUID());
    assert.deepEqual([nobody.code, nobody.stdout], [1, '']);
    assert.match(nobody.stderr, /Nothing here has the id or REF/);
    const none = await run('replay', toolRunWorkflowId({ turnId: randomUUID() }));
    assert.equal(none.code, 1);
    assert.match(none.stderr, /There is no history of tool-run/);
    const file = join(folder, 'nothing.json');
    await writeFile(file, '{}');
    const nonsense = await run('replay', file);
    assert.deepEqual([nonsense.code, nonsense.stdout], [1, '']);
    assert.match(nonsense.stderr, /This is no history of Temporal/);
  });
});

async function runsOf({ database, tenantId }: Desk): Promise<string[]> {
  const rows = await database.inTenant(tenantId, (tx) =>
    tx.toolRun.findMany({ orderBy: { startedAt: 'asc' }, select: { turnId: true } }),
  );
  return rows.map(({ turnId }) => turnId);
}

async function stepsOf({ database, tenantId }: Desk, turnId: string) {
  return database.inTenant(tenantId, (tx) =>
    tx.step.findMany({ where: { turnId }, select: { id: true, state: true, attempts: true, code: true } }),
  );
}

async function untilClosed(desk: Desk, turnId: string): Promise<void> {
  const run = desk.client.workflow.getHandle(toolRunWorkflowId({ turnId }));
  await until(
    async () => ((await run.describe()).status.name === 'RUNNING' ? undefined : true),
    60_000,
    'the run to close',
  );
}
