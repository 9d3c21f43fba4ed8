// Two dozen stories of approvals (sixty with AROKO_TEST_WHOLE=1) on real Temporal and real Postgres, told at once: owners answer
// over each other, time runs out, steps are delivered twice, workers are killed with -9 right before and right after an effect.
// Each story has to end as the pure model of it does (test/support/approval-model.ts).
import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import fc from 'fast-check';
import { WORKFLOWS } from '../../worker/workflow-source.js';
import { openDesk, until, type Desk } from '../../bench/desk.js';
import { toolRunWorkflowId } from '../../workflows/domain/ids.js';
import { comeToRest, startModel, wrongIn, type Model } from '../support/approval-model.js';
import { effectsIn, effectsWithoutTheirYes } from '../support/every-effect.js';
import { entriesOf, NOTE_FOR_TWO, ownersDecide, TOOL, withLedger } from '../support/interleavings/ledger.js';
import {
  aStory,
  letTimeBeOver,
  ring,
  tell,
  type Asked,
  type Story,
} from '../support/interleavings/stories.js';
import { freshDatabase } from '../support/postgres.js';
import { freshNamespace } from '../support/temporal.js';
import { isWhole } from '../support/whole.js';

const SEED = 20_261_201;
const STORIES = isWhole() ? 60 : 24;
const WITHIN_MS = 120_000;

interface Told {
  story: Story;
  asked: Asked;
  /** As it ends on the pure model. */
  model: Model;
}

describe('stories of approvals, told at once', function () {
  this.timeout(300_000);
  const folder = mkdtempSync(join(tmpdir(), 'aroko-ledger-'));
  const ledger = join(folder, 'effects');
  const workers: ChildProcess[] = [];
  const killed: string[] = [];
  let desk: Desk;
  let told: Told[] = [];

  async function startWorkers(where: object, count: number): Promise<void> {
    for (let number = 0; number < count; number += 1) {
      workers.push(
        fork('test/support/interleavings/worker-main.ts', [JSON.stringify(where)], {
          execArgv: ['--import', 'tsx'],
        }),
      );
    }
    await Promise.all(workers.map((worker) => once(worker, 'message')));
  }

  /** The first two kill themselves around an effect; whoever comes next takes over at once. */
  async function takeTurns(): Promise<void> {
    for (const [number, worker] of workers.entries()) {
      // The test is over.
      if (!worker.connected) return;
      const point = (['before', 'after'] as const)[number];
      if (point) worker.send({ die: point });
      worker.send('begin');
      const [, signal] = await once(worker, 'exit');
      if (point) killed.push(`${point}: ${String(signal)}`);
    }
  }

  async function ask(stories: Story[]): Promise<Asked[]> {
    const sent = await Promise.all(
      stories.map(async ({ needed }, index) => {
        const text = `Book 2031-03-04 at 10:00 please, ${index}.`;
        const note = needed === 2 ? { note: NOTE_FOR_TWO } : {};
        const input = { date: '2031-03-04', time: '10:00', ...note };
        await desk.model.script({ match: text, withTools: true, toolUse: [{ name: TOOL, input }] });
        return desk.send(`customer-${index}`, text);
      }),
    );
    const rows = await until(
      async () => {
        const found = await desk.database.inTenant(desk.tenantId, (tx) =>
          tx.approval.findMany({
            where: { state: 'open' },
            select: { turnId: true, stepId: true, needed: true },
          }),
        );
        return found.length === stories.length ? found : undefined;
      },
      WITHIN_MS,
      'owners to be asked about each',
    );
    const messages = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.inbox.findMany({ where: { externalId: { in: sent } }, select: { id: true, externalId: true } }),
    );
    return stories.map(({ needed }, index) => {
      const turnId = messages.find(({ externalId }) => externalId === sent[index])?.id;
      const row = rows.find((one) => one.turnId === turnId);
      assert.ok(row);
      assert.equal(row.needed, needed);
      return { turnId: row.turnId, stepId: row.stepId };
    });
  }

  before(async () => {
    const [urls, temporal] = await Promise.all([freshDatabase(), freshNamespace()]);
    const masterKey = new Uint8Array(randomBytes(32));
    desk = await openDesk(
      { applicationUrl: urls.applicationUrl, temporal },
      {
        configure: ownersDecide,
        masterKey,
        withoutWorker: true,
        wrapDeps: (deps) => ({ ...deps, providers: withLedger(deps.providers, { file: ledger }) }),
      },
    );
    const bundle = join(folder, 'workflows.cjs');
    const { code } = await bundleWorkflowCode({
      workflowsPath: WORKFLOWS,
      logger: new DefaultLogger('ERROR'),
    });
    writeFileSync(bundle, code);
    const where = {
      databaseUrl: urls.applicationUrl,
      masterKey: Buffer.from(masterKey).toString('hex'),
      modelUrl: desk.model.url,
      ledger,
      bundle,
      temporal,
    };
    await startWorkers(where, 3);
    void takeTurns();
    const stories = fc.sample(aStory, { seed: SEED, numRuns: STORIES });
    const asked = await ask(stories);
    told = await Promise.all(
      stories.map(async (story, index) => {
        const one = asked[index];
        assert.ok(one);
        const model = await tell(desk, one, story, startModel({ needed: story.needed }));
        // Whatever is still open runs out now.
        await letTimeBeOver(desk, one);
        await ring(desk, one);
        return { story, asked: one, model: comeToRest(model) };
      }),
    );
  });
  after(async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    await desk.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('end, each of them, also those whose worker was killed', async () => {
    const ends = Promise.all(
      told.map(({ asked }) => desk.client.workflow.getHandle(toolRunWorkflowId(asked)).result()),
    );
    let hasEnded = false;
    void ends.then(() => (hasEnded = true));
    await Promise.race([
      ends,
      until(async () => (hasEnded ? true : undefined), WITHIN_MS, 'all runs to end'),
    ]);
    const open = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.toolRun.count({ where: { open: true } }),
    );
    assert.equal(open, 0);
    assert.deepEqual(killed, ['before: SIGKILL', 'after: SIGKILL']);
  });

  it('did what they did once, with a yes that was used up, to exactly that, and end as their model does', async () => {
    const entries = entriesOf(ledger);
    const ends = new Map<string, number>();
    for (const { asked, model, story } of told) {
      const words = JSON.stringify(story);
      const { step, approvals } = await desk.database.inTenant(desk.tenantId, async (tx) => ({
        step: await tx.step.findUniqueOrThrow({ where: { id: asked.stepId } }),
        approvals: await tx.approval.findMany({
          where: { stepId: asked.stepId },
          include: { decisions: true },
        }),
      }));
      const done = entries.filter(({ stepId }) => stepId === asked.stepId);
      assert.deepEqual(wrongIn(model), [], words);
      assert.equal(step.state, model.step.state, words);
      assert.equal(done.length, model.effects.length, words);
      const used = approvals.filter(({ state }) => state === 'used');
      assert.equal(used.length, done.length, words);
      for (const { argumentsHash } of done) {
        const [yes] = used;
        assert.equal(argumentsHash, yes?.argumentsHash, words);
        assert.equal(argumentsHash, step.argumentsHash, words);
        const yeses = yes?.decisions.filter(({ decision }) => decision === 'approve');
        assert.equal(new Set(yeses?.map(({ approver }) => approver)).size, story.needed, words);
        assert.ok(
          yes?.decisions.every(({ decision }) => decision === 'approve'),
          words,
        );
      }
      const end = `${step.state}, ${model.requests.at(-1)?.state}`;
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    assert.deepEqual(
      entries.filter(({ stepId }) => told.every(({ asked }) => asked.stepId !== stepId)),
      [],
    );
    for (const end of ['succeeded, used', 'refused, rejected', 'refused, expired', 'refused, approved']) {
      assert.ok(ends.has(end), `${end}: no story; there are ${JSON.stringify([...ends])}`);
    }
  });

  it('left histories in which every effect has its yes', async () => {
    let effects = 0;
    for (const { asked, story } of told) {
      const history: unknown = JSON.parse(historyToJSON(await desk.historyOfRun(asked.turnId)));
      assert.deepEqual(effectsWithoutTheirYes(history), [], JSON.stringify(story));
      effects += effectsIn(history);
    }
    assert.ok(effects >= 10, `${effects} of them did something`);
  });
});
