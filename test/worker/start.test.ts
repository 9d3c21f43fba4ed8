// With a broken configuration no process of ours starts: it says everything that is wrong, and ends with 78.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT_CONFIGURATION } from '../../config/problems.js';
import { Copy, TENANT } from '../config/copy.js';
import { startProgram } from './processes.js';

const PROGRAMS = ['worker/main.ts', 'gateway/main.ts'];

describe('a process with a broken configuration', function () {
  this.timeout(60_000);
  let copy: Copy;
  let folder: string;
  let environment: Record<string, string>;

  beforeEach(() => {
    copy = new Copy();
    folder = mkdtempSync(join(tmpdir(), 'aroko-start-'));
    const file = join(folder, 'api-token');
    writeFileSync(file, 'a-token-that-is-long-enough-to-be-one');
    environment = {
      // Nobody listens there: a process that came this far would wait.
      AROKO_DATABASE_URL: 'postgres://aroko_app@127.0.0.1:1/aroko',
      AROKO_MASTER_KEY_FILE: join(folder, 'master-key'),
      AROKO_CONFIG_DIR: copy.directory,
      AROKO_API_TOKEN_FILE: file,
      AROKO_METRICS_TOKEN_FILE: join(folder, 'no-such-file'),
      ANTHROPIC_API_KEY: 'local',
    };
  });
  afterEach(() => {
    copy.remove();
    rmSync(folder, { recursive: true });
  });

  for (const program of PROGRAMS) {
    it(`ends with 78 and says all of it (${program})`, async () => {
      copy.replace(`${TENANT}/business.yaml`, 'Europe/Istanbul', 'Europe/Istambul');
      copy.write(`${TENANT}/desk.yaml`, 'shift: { enabled: true }');
      const started = startProgram(program, environment);
      const told: { type?: string; message?: string }[] = [];
      started.process.on('message', (message) => told.push(JSON.parse(JSON.stringify(message))));
      assert.equal(await started.ended, EXIT_CONFIGURATION, started.output());
      assert.match(started.output(), /^The configuration has 2 problems:$/m);
      for (const words of [
        join(copy.directory, TENANT, 'business.yaml:'),
        'business.timeZone',
        'did you mean Europe/Istanbul?',
        'shift.staffed',
        'right would be: the hours of at least one day, or enabled: false',
      ]) {
        assert.ok(started.output().includes(words), `${words} is not in\n${started.output()}`);
      }
      assert.deepEqual(
        told.map(({ type }) => type),
        ['failed'],
        'its parent hears it too, and no "ready"',
      );
      assert.ok(told[0]?.message?.includes('business.timeZone'));
    });
  }

  it('ends with 78 as well where a token file is named that isn’t there', async () => {
    const started = startProgram('worker/main.ts', environment);
    assert.equal(await started.ended, EXIT_CONFIGURATION);
    assert.match(started.output(), /AROKO_METRICS_TOKEN_FILE: .*no-such-file can't be read/);
  });
});
