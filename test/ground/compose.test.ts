// The compose file can't be run here; what can be read off it is: pinned images, nothing open beyond this machine, secrets
// from files, every named thing declared.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const service = z.object({
  image: z.string(),
  ports: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  networks: z.array(z.string()),
  volumes: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: z.record(z.string(), z.unknown()).default({}),
});
const compose = z.object({
  services: z.record(z.string(), service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
  networks: z.record(z.string(), z.unknown()),
  volumes: z.record(z.string(), z.unknown()),
});

describe('temporal-compose.yml', () => {
  const file = compose.parse(parse(readFileSync('temporal-compose.yml', 'utf8')));

  for (const [name, each] of Object.entries(file.services)) {
    it(`${name} is pinned, local, and without a secret in its environment`, () => {
      assert.match(each.image, /:\d+\.\d+(\.\d+)?/);
      for (const port of each.ports) assert.match(port, /^127\.0\.0\.1:/);
      for (const variable of Object.keys(each.environment)) {
        assert.ok(!/PASSWORD|PWD|SECRET|TOKEN/.test(variable) || variable.endsWith('_FILE'), variable);
      }
    });

    it(`${name} names only what is declared`, () => {
      const undeclared = [
        ...each.secrets.filter((secret) => !(secret in file.secrets)),
        ...each.networks.filter((network) => !(network in file.networks)),
        ...each.volumes
          .map((volume) => volume.split(':')[0] ?? '')
          .filter((volume) => !(volume in file.volumes)),
        ...Object.keys(each.depends_on).filter((other) => !(other in file.services)),
      ];
      assert.deepEqual(undeclared, []);
    });
  }
});
