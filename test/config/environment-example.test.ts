import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  commandVariables,
  EnvironmentError,
  gatewayEnvironment,
  gatewayVariables,
  workerEnvironment,
  workerVariables,
} from '../../config/environment.js';

/** Programs that read variables of their own. */
const PROGRAMS = readdirSync('prisma').filter((name) => name.endsWith('-main.ts'));
const OWN = PROGRAMS.flatMap(
  (name) => readFileSync(join('prisma', name), 'utf8').match(/\bAROKO_[A-Z_]+[A-Z]\b/g) ?? [],
);

const SHAPES = [workerVariables.shape, gatewayVariables.shape, commandVariables.shape];

interface Line {
  name: string;
  value: string;
  isSet: boolean;
}

const lines = readFileSync('.env.example', 'utf8')
  .split('\n')
  .flatMap((text): Line[] => {
    const [, hash, name, value] = /^(#?)([A-Z][A-Z0-9_]+)=(.*)$/.exec(text) ?? [];
    return name === undefined || value === undefined ? [] : [{ name, value, isSet: hash === '' }];
  });
const of = (name: string): Line => lines.find((line) => line.name === name) ?? assert.fail(`no ${name}`);

describe('.env.example', () => {
  it('names every variable that a process reads, each once, and no other', () => {
    const known = new Set([...SHAPES.flatMap((shape) => Object.keys(shape)), ...OWN]);
    assert.deepEqual(lines.map(({ name }) => name).sort(), [...known].sort());
  });

  it('sets what has to be set, and leaves the rest to its default', () => {
    for (const shape of [workerVariables.shape, gatewayVariables.shape]) {
      for (const [name, schema] of Object.entries(shape)) {
        assert.equal(of(name).isSet, !schema.safeParse(undefined).success, name);
      }
    }
  });

  it('shows the defaults as they are', () => {
    for (const shape of SHAPES.slice(0, 2)) {
      for (const [name, schema] of Object.entries(shape)) {
        const fallback = schema.safeParse(undefined);
        if (fallback.success && fallback.data !== undefined)
          assert.equal(of(name).value, String(fallback.data), name);
      }
    }
  });

  it('is an environment that both processes take, with and without what is commented out', () => {
    const set = Object.fromEntries(
      lines.filter(({ isSet }) => isSet).map(({ name, value }) => [name, value]),
    );
    const all = Object.fromEntries(lines.map(({ name, value }) => [name, value]));
    for (const environment of [set, all]) {
      assert.doesNotThrow(() => workerEnvironment(environment));
      assert.doesNotThrow(() => gatewayEnvironment(environment));
    }
    assert.deepEqual(workerEnvironment(all).health, { host: '127.0.0.1', port: 3001 });
    assert.throws(() => workerEnvironment({ ...set, AROKO_MASTER_KEY_FILE: '' }), EnvironmentError);
  });
});
