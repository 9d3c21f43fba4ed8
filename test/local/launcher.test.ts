// The command behind `npm start` where it can't start: what it prints, with what it ends, and that nothing stays behind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ConfigurationError } from '../../config/problems.js';
import { ChildFailure, ChildRefusal, projectRoot } from '../../local/child.js';
import { SetupProblem } from '../../local/data-directory.js';
import { createScreen, isToBeMended } from '../../local/screen.js';

const FRAME = /^\s*at /m;

describe('the launcher', function () {
  this.timeout(30_000);
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'aroko-launcher-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function run(
    args: string[],
    variables: Record<string, string>,
  ): Promise<{ code: number | null; output: string }> {
    const child = spawn(process.execPath, ['--import', 'tsx', 'local/main.ts', ...args], {
      cwd: projectRoot,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...variables },
    });
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const [out, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
    return { code, output: out + errors };
  }

  it('names every mistake of the configuration as the person’s to mend, and starts nothing', async () => {
    const config = join(folder, 'config');
    cpSync(join(projectRoot, 'config'), config, { recursive: true });
    const file = join(config, 'tenants', 'harbour-desk', 'business.yaml');
    const broken = readFileSync(file, 'utf8').replace(/timeZone: .*/, 'timeZone: Mars/Olympus');
    writeFileSync(file, broken);
    const { code, output } = await run(['--data-dir', join(folder, 'data'), '--port', '0'], {
      AROKO_CONFIG_DIR: config,
    });
    assert.equal(code, 78, output);
    assert.ok(output.includes(file), output);
    assert.match(output, /business\.timeZone\s+"Mars\/Olympus" is not a time zone; right would be: /);
    assert.doesNotMatch(output, /fault in Aroko/);
    assert.doesNotMatch(output, FRAME);
    assert.doesNotMatch(output, /✓/);
  });
});

describe('what stops a start', () => {
  const shown = async (error: unknown): Promise<string> => {
    const stream = new PassThrough();
    createScreen({ stream, color: false }).failure(error, 'logs');
    stream.end();
    return text(stream);
  };
  const wrong = {
    file: 'config/tenants/a/tools.yaml',
    path: 'tools.a',
    line: 3,
    wrong: 'is missing',
    right: 'x',
  };
  const mendable = [
    new SetupProblem('The folder is full.'),
    new ConfigurationError([wrong]),
    new ChildRefusal('worker', 'refused its configuration: no key', 'worker.log', ['info: starting']),
  ];
  for (const error of mendable) {
    it(`is said plainly and without a stack when it is a ${error.name}`, async () => {
      assert.equal(isToBeMended(error), true);
      const words = await shown(error);
      for (const line of error.message.split('\n')) assert.ok(words.includes(line.trim()), words);
      assert.doesNotMatch(words, /fault in Aroko|its log/);
      assert.doesNotMatch(words, FRAME);
    });
  }

  it('is followed by the end of the log when a part broke', async () => {
    const error = new ChildFailure('worker', 'ended with code 1', 'worker.log', ['error: no memory']);
    assert.equal(isToBeMended(error), false);
    assert.match(await shown(error), /worker ended with code 1[^]*error: no memory[^]*worker\.log/);
  });

  it('is called our own fault, with the place, when it is one', async () => {
    const words = await shown(new TypeError('x is not a function'));
    assert.match(words, /fault in Aroko itself/);
    assert.match(words, FRAME);
  });
});
