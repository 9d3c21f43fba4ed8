import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Facts, Logger } from '../../config/logger.js';
import { guard } from '../../config/logger.js';
import { createCurrentConfiguration, type CurrentConfiguration } from '../../config/reload.js';
import { Copy, TENANT } from './copy.js';

/** Keeps what would be logged, after the guard has been at it. */
function keptLog(): { log: Logger; lines: { name: string; facts: Facts }[] } {
  const lines: { name: string; facts: Facts }[] = [];
  const write = (name: string, facts: Facts = {}): void => void lines.push({ name, facts: guard(facts) });
  const log: Logger = { event: write, debug: write, warn: write, error: write, child: () => log };
  return { log, lines };
}

describe('a configuration that is read again', () => {
  const file = `${TENANT}/policy.yaml`;
  let copy: Copy;
  let current: CurrentConfiguration;
  let lines: { name: string; facts: Facts }[];
  let said: string[];

  beforeEach(() => {
    copy = new Copy();
    said = [];
    const kept = keptLog();
    lines = kept.lines;
    current = createCurrentConfiguration({
      directory: copy.directory,
      log: kept.log,
      say: (text) => void said.push(text),
    });
  });
  afterEach(() => copy.remove());

  const tenant = () => current.tenants.get('harbour-desk') ?? assert.fail();
  const logged = (name: string) => lines.filter((line) => line.name === name).map(({ facts }) => facts);

  it('is active from the next look on, and whoever looked before keeps what they have', () => {
    const before = tenant();
    copy.replace(file, 'approvalMinutes: 120', 'approvalMinutes: 90');
    assert.deepEqual(current.reload(), { outcome: 'reloaded', changed: ['harbour-desk'] });
    assert.equal(tenant().policy.approvalMinutes, 90);
    assert.equal(before.policy.approvalMinutes, 120);
    assert.notEqual(tenant().hash, before.hash);
    assert.deepEqual(logged('configuration.reloaded'), [
      { tenant: 'harbour-desk', hash: tenant().hash, changed: true },
    ]);
  });

  it('stays the same object where nothing has changed, so that nothing is built anew', () => {
    const before = tenant();
    assert.deepEqual(current.reload(), { outcome: 'reloaded', changed: [] });
    assert.equal(tenant(), before);
    assert.equal(logged('configuration.reloaded')[0]?.['changed'], false);
  });

  it('tells who listens what has changed, and nothing of a bad file', () => {
    const heard: string[][] = [];
    current.onChange((changed) => heard.push(changed.map(({ slug }) => slug)));
    copy.write(file, 'policy: { approvalMinutes: soon }');
    current.reload();
    copy.write(file, 'policy: { approvalMinutes: 60 }');
    current.reload();
    assert.deepEqual(heard, [['harbour-desk']]);
  });

  it('changes nothing when it is broken: the log counts the problems and names their places, a person is told all', () => {
    const before = tenant();
    copy.write(file, 'policy: { approvalMinutes: soon, aproval: 3 }');
    assert.equal(current.reload().outcome, 'rejected');
    assert.equal(tenant(), before);
    assert.equal(current.state, 'newer_rejected');
    assert.deepEqual(logged('configuration.rejected'), [{ problems: 2 }]);
    assert.deepEqual(
      logged('configuration.problem').map(({ path, line }) => `${path} ${line}`),
      ['policy.aproval 1', 'policy.approvalMinutes 1'].sort(),
    );
    assert.match(said.join(''), /"soon"; right would be: a number[\s\S]*stays active/);
    assert.ok(!JSON.stringify(lines).includes('soon'), 'the log holds no value');
  });

  it('is taken once it is mended', () => {
    copy.write(file, 'policy: [');
    current.reload();
    copy.write(file, 'policy: { approvalMinutes: 30 }');
    assert.equal(current.reload().outcome, 'reloaded');
    assert.equal(current.state, 'active');
    assert.equal(tenant().policy.approvalMinutes, 30);
  });

  it('can bring a business, and can take none away', () => {
    cpSync(join(copy.directory, TENANT), join(copy.directory, 'tenants/second'), { recursive: true });
    copy.replace('tenants/second/business.yaml', 'accountKey: harbour-desk', 'accountKey: second');
    assert.deepEqual(current.reload(), { outcome: 'reloaded', changed: ['second'] });
    rmSync(join(copy.directory, 'tenants/second'), { recursive: true });
    assert.equal(current.reload().outcome, 'rejected');
    assert.ok(current.tenants.has('second'));
    assert.match(said.join(''), /tenants\/second[\s\S]*folder is gone/);
  });

  it('never says a secret that stands where its name belongs', () => {
    const canary = 'EAAGcanary0secret';
    copy.replace(`${TENANT}/business.yaml`, 'channels:\n  web:\n    accountKey: harbour-desk\n', '');
    copy.write(
      `${TENANT}/desk.yaml`,
      `channels: { web: { accountKey: harbour-desk }, whatsapp: [{ accountKey: '100200300', displayNumber: '+905550001100',
        accessToken: ${canary}, appSecrets: [a], verifyToken: b }] }`,
    );
    assert.equal(current.reload().outcome, 'rejected');
    assert.ok(said.length > 0 && lines.length > 0);
    assert.ok(!`${said.join('')} ${JSON.stringify(lines)}`.includes(canary));
  });
});
