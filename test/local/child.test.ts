import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { childEnvironment, chooseModel, describeModel } from '../../local/child-environment.js';
import { ChildFailure, ChildRefusal, startChild, type Child } from '../../local/child.js';
import { openDataDirectory } from '../../local/data-directory.js';
import { isRunning } from '../../local/processes.js';

const ready = z.object({ type: z.literal('ready'), word: z.string() });

describe('a child', () => {
  let folder: string;
  let pid: number | undefined;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'aroko-child-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const start = (script: string, readyWithinMs = 5_000): Promise<Child<z.infer<typeof ready>>> =>
    startChild({
      name: 'worker',
      args: ['-e', script],
      logFile: join(folder, 'worker.log'),
      ready,
      readyWithinMs,
      onSpawn: (spawned) => (pid = spawned),
    });
  const failureOf = async (script: string, readyWithinMs?: number): Promise<ChildFailure> => {
    const error: unknown = await start(script, readyWithinMs).catch((reason: unknown) => reason);
    assert.ok(error instanceof ChildFailure);
    assert.equal(pid !== undefined && isRunning(pid), false, 'nothing is left running');
    return error;
  };

  it('is ready when it says so, and its output is in a closed log', async () => {
    const child = await start(
      "console.log('hello'); process.send({ type: 'ready', word: 'yes' }); setInterval(() => {}, 9)",
    );
    assert.equal(child.ready.word, 'yes');
    await child.stop(1_000);
    assert.equal(await child.exited, 'was ended by SIGTERM');
    assert.equal(readFileSync(join(folder, 'worker.log'), 'utf8'), 'hello\n');
    assert.equal(statSync(join(folder, 'worker.log')).mode & 0o777, 0o600);
  });

  it('that fails tells its reason and the last lines of its log, JSON lines made readable', async () => {
    const failure = await failureOf(
      "console.log(JSON.stringify({ level: 'error', message: 'no key' })); process.send({ type: 'failed', message: 'AROKO_DATABASE_URL is missing' }); setTimeout(() => process.exit(78), 50)",
    );
    assert.ok(failure instanceof ChildRefusal, 'a person has to mend it');
    assert.equal(failure.message, 'worker refused its configuration: AROKO_DATABASE_URL is missing');
    assert.deepEqual(failure.lastLines, ['error: no key']);
  });

  it('that says nothing in time is ended', async () => {
    const failure = await failureOf('setInterval(() => {}, 9)', 300);
    assert.ok(!(failure instanceof ChildRefusal));
    assert.equal(failure.message, "worker wasn't ready within 0.3 s");
  });
});

describe('the model that answers', () => {
  const addresses = { applicationUrl: 'postgresql://app', temporal: { address: 'a:1', uiUrl: 'http://u' } };
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'aroko-model-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const table = [
    {
      inherited: {},
      kind: 'demo',
      label: 'demo model',
      key: 'local',
      url: 'http://demo',
      says: /demo model/,
    },
    {
      inherited: { ANTHROPIC_API_KEY: 'sk' },
      kind: 'claude',
      label: undefined,
      key: 'sk',
      url: undefined,
      says: /Claude/,
    },
    {
      inherited: { ANTHROPIC_BASE_URL: 'http://llama' },
      kind: 'compatible',
      label: 'model at http://llama',
      key: 'local',
      url: 'http://llama',
      says: /http:\/\/llama/,
    },
    {
      inherited: { ANTHROPIC_API_KEY: '' },
      kind: 'demo',
      label: 'demo model',
      key: 'local',
      url: 'http://demo',
      says: /demo/,
    },
  ];
  for (const row of table) {
    it(`is ${row.kind} with ${JSON.stringify(row.inherited)}, and is called so`, () => {
      const choice = chooseModel(row.inherited);
      assert.equal(choice.kind, row.kind);
      assert.match(describeModel(choice).join(' '), row.says);
      const environment = childEnvironment({
        ...addresses,
        inherited: row.inherited,
        directory: openDataDirectory(folder),
        choice,
        demoUrl: choice.kind === 'demo' ? 'http://demo' : undefined,
      });
      assert.equal(environment['ANTHROPIC_API_KEY'], row.key);
      assert.equal(environment['ANTHROPIC_BASE_URL'], row.url);
      assert.equal(environment['AROKO_MODEL_LABEL'], row.label);
    });
  }
});
