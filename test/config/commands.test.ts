import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { parse } from 'yaml';
import { addConfigCommands } from '../../gateway/cli/commands/config.js';
import { createOutput } from '../../gateway/cli/output.js';
import { explained } from '../../gateway/cli/problem.js';
import { Copy, TENANT } from './copy.js';

const SECRET = 'EAAG0canary0of0a0secret';

describe('the commands of the configuration', () => {
  let copy: Copy;
  let secrets: string;
  beforeEach(() => {
    copy = new Copy();
    secrets = mkdtempSync(join(tmpdir(), 'aroko-secrets-'));
  });
  afterEach(() => {
    copy.remove();
    rmSync(secrets, { recursive: true });
  });

  async function run(...words: string[]): Promise<{ exitCode: number; text: string; problem: string }> {
    let text = '';
    const stdout = new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString();
        done();
      },
    });
    const program = new Command('aroko')
      .option('--json')
      .option('--tenant <slug>')
      .exitOverride()
      .configureOutput({ writeErr: () => undefined });
    const isJson = () => program.opts()['json'] === true;
    const output = createOutput({ stdout, stderr: stdout, isJson });
    addConfigCommands(program, { output, configDirectory: copy.directory, secretsDirectory: secrets });
    try {
      await program.parseAsync(words, { from: 'user' });
      return { exitCode: 0, text, problem: '' };
    } catch (error) {
      const { exitCode, message } = explained(error);
      return { exitCode, text, problem: message };
    }
  }

  function addAccount(): void {
    copy.replace(`${TENANT}/business.yaml`, 'channels:\n  web:\n    accountKey: harbour-desk\n', '');
    copy.write(
      `${TENANT}/desk.yaml`,
      `channels: { web: { accountKey: harbour-desk }, whatsapp: [{ accountKey: '100200300', displayNumber: '+905550001100',
        accessToken: desk-access-token, appSecrets: [desk-app-secret], verifyToken: desk-verify-token }] }`,
    );
    writeFileSync(join(secrets, 'desk-access-token'), `${SECRET}\n`);
    writeFileSync(join(secrets, 'desk-app-secret'), '');
  }

  it('check tells that all is right, and which version that is', async () => {
    const { exitCode, text } = await run('config', 'check');
    assert.equal(exitCode, 0);
    assert.match(text, /is right\.[\s\S]*Harbour Desk \(harbour-desk, Europe\/Istanbul\)/);
    const { tenants } = JSON.parse((await run('--json', 'config', 'check')).text);
    assert.deepEqual(tenants, [{ slug: 'harbour-desk', hash: copy.load().hash }]);
  });

  it('check ends with 78 and every problem where something is wrong, also in a folder that is named', async () => {
    const other = new Copy();
    other.replace(`${TENANT}/business.yaml`, 'timeZone:', 'timezon:');
    other.replace('defaults/limits.yaml', 'maxSteps:', 'maxStep:');
    const { exitCode, problem } = await run('config', 'check', '--dir', other.directory);
    other.remove();
    assert.equal(exitCode, 78);
    for (const words of [
      'business.timezon',
      'did you mean timeZone?',
      'limits.maxStep',
      'did you mean maxSteps?',
    ]) {
      assert.ok(problem.includes(words), words);
    }
    assert.equal((await run('config', 'check')).exitCode, 0);
  });

  it('show merges, and says of each value where it is written', async () => {
    copy.write(`${TENANT}/limits.yaml`, 'limits:\n  maxCandidates: 3\n');
    const { exitCode, text } = await run('config', 'show');
    assert.equal(exitCode, 0);
    assert.match(text, /^ {2}maxCandidates: 3 # tenants\/harbour-desk\/limits\.yaml:2$/m);
    assert.match(text, /^ {2}questionMinutes: \d+ # defaults\/limits\.yaml:\d+$/m);
    assert.match(text, /^ {4}profile: instant # built in$/m);
    assert.match(text, /^ {2}languages: \[ en, tr \] # defaults\/assistant\.yaml:\d+$/m);
    const shown = parse(text);
    const { limits, business, policy } = copy.load();
    assert.deepEqual(shown.limits, limits);
    assert.deepEqual(shown.business, business);
    assert.deepEqual(shown.policy.rules, policy.rules);
    assert.equal(shown.phrases, undefined);
    assert.match(text, /Not shown, being long: phrases, scrubbing, detection, systemMessages/);
  });

  it('show takes sections by name, and refuses one that is not there', async () => {
    const { text } = await run('config', 'show', '--section', 'phrases', 'shift');
    assert.deepEqual(Object.keys(parse(text)), ['shift', 'phrases']);
    assert.match(text, /acknowledgement: .*# phrases\/en\.yaml:\d+/);
    assert.notEqual((await run('config', 'show', '--section', 'frases')).exitCode, 0);
  });

  it('show names the secrets and whether their files are there, and never what is in them', async () => {
    addAccount();
    for (const words of [
      ['config', 'show'],
      ['--json', 'config', 'show'],
      ['config', 'check'],
    ]) {
      const { exitCode, text } = await run(...words);
      assert.equal(exitCode, 0);
      assert.ok(!text.includes(SECRET), words.join(' '));
    }
    const { secrets: named } = JSON.parse((await run('--json', 'config', 'show')).text);
    assert.deepEqual(named, [
      { name: 'desk-access-token', places: ['channels.whatsapp.0.accessToken'], isThere: true },
      { name: 'desk-app-secret', places: ['channels.whatsapp.0.appSecrets.0'], isThere: false },
      { name: 'desk-verify-token', places: ['channels.whatsapp.0.verifyToken'], isThere: false },
    ]);
    assert.match(
      (await run('config', 'show')).text,
      /desk-access-token +there +channels\.whatsapp\.0\.accessToken/,
    );
  });

  it('show asks which business where there are several', async () => {
    const second = 'tenants/second';
    copy.copy(TENANT, second);
    copy.replace(`${second}/business.yaml`, 'accountKey: harbour-desk', 'accountKey: second');
    const { exitCode, problem } = await run('config', 'show');
    assert.equal(exitCode, 78);
    assert.match(problem, /name one with --tenant.*harbour-desk, second/);
    assert.match((await run('--tenant', 'second', 'config', 'show')).text, /accountKey: second/);
  });
});
