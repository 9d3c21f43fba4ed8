// The compose file and the Dockerfile can't be run here; what can be read off them is: pinned images, nothing open beyond
// this machine, secrets from files, every named thing declared, and commands that the build really has.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { DockerfileParser, type From } from 'dockerfile-ast';
import { parse } from 'yaml';
import { z } from 'zod';
import { gatewayVariables, workerVariables } from '../../config/environment.js';

const service = z.object({
  image: z.string(),
  command: z.array(z.string()).optional(),
  user: z.string().optional(),
  ports: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  networks: z.array(z.string()),
  volumes: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: z.record(z.string(), z.unknown()).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  restart: z.string(),
});
const compose = z.object({
  services: z.record(z.string(), service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
  networks: z.record(z.string(), z.object({ internal: z.boolean() }).nullable()),
  volumes: z.record(z.string(), z.unknown()),
});

const file = compose.parse(parse(readFileSync('temporal-compose.yml', 'utf8'), { merge: true }));
const dockerfile = DockerfileParser.parse(readFileSync('Dockerfile', 'utf8'));

describe('temporal-compose.yml', () => {
  for (const [name, each] of Object.entries(file.services)) {
    it(`${name} is pinned, local, and without a secret in its environment`, () => {
      assert.match(each.image, /:\d+\.\d+(\.\d+)?/);
      for (const port of each.ports) assert.match(port, /^127\.0\.0\.1:/);
      for (const variable of Object.keys(each.environment)) {
        assert.ok(
          !/PASSWORD|PWD|SECRET|TOKEN|KEY|URL$/.test(variable) || /_FILE$|_DIR$|_UI_URL$/.test(variable),
          variable,
        );
      }
    });

    it(`${name} names only what is declared`, () => {
      const undeclared = [
        ...each.secrets.filter((secret) => !(secret in file.secrets)),
        ...each.networks.filter((network) => !(network in file.networks)),
        ...each.volumes
          .map((volume) => volume.split(':')[0] ?? '')
          .filter((volume) => (volume.startsWith('./') ? !existsSync(volume) : !(volume in file.volumes))),
        ...Object.keys(each.depends_on).filter((other) => !(other in file.services)),
      ];
      assert.deepEqual(undeclared, []);
    });

    it(`${name} mounts every secret that its environment points to`, () => {
      const wanted = Object.entries(each.environment).flatMap(([, value]) => {
        const [, secret] = /^\/run\/secrets\/(.+)$/.exec(value) ?? [];
        return secret === undefined ? [] : [secret];
      });
      assert.deepEqual(
        wanted.filter((secret) => !each.secrets.includes(secret)),
        [],
      );
    });
  }

  it('keeps Temporal and both databases where nobody outside reaches them', () => {
    for (const name of ['temporal', 'temporal-postgres', 'aroko-postgres']) {
      const networks = file.services[name]?.networks ?? [];
      assert.ok(
        networks.length > 0 && networks.every((network) => file.networks[network]?.internal === true),
        name,
      );
      assert.deepEqual(file.services[name]?.ports, [], name);
    }
  });

  it('tells worker and gateway everything that they need, and nothing that they don’t know', () => {
    for (const [name, variables] of [
      ['worker', workerVariables],
      ['gateway', gatewayVariables],
    ] as const) {
      const environment = Object.keys(file.services[name]?.environment ?? {});
      const known = Object.keys(variables.shape);
      const given = environment.map((variable) =>
        known.includes(variable) ? variable : variable.replace(/_FILE$/, ''),
      );
      assert.deepEqual(
        given.filter((variable) => !known.includes(variable)),
        [],
        `${name} doesn't know`,
      );
      const present = Object.fromEntries(given.map((variable) => [variable, '1']));
      const missing = variables
        .safeParse(present)
        .error?.issues.filter(({ path }) => !given.includes(String(path[0])));
      assert.deepEqual(missing ?? [], [], `${name} needs`);
    }
  });

  it('lets a neighbour read the metrics of worker and gateway, with the token for that', () => {
    for (const name of ['worker', 'gateway'])
      assert.equal(
        file.services[name]?.environment['AROKO_METRICS_TOKEN_FILE'],
        '/run/secrets/metrics-token',
        name,
      );
    const scraped = /targets: \['(worker):(\d+)'\]/.exec(
      readFileSync('docs/observability/README.md', 'utf8'),
    );
    const { AROKO_WORKER_HEALTH_HOST: host, AROKO_WORKER_HEALTH_PORT: port } =
      file.services['worker']?.environment ?? {};
    assert.deepEqual([host, port], ['0.0.0.0', scraped?.[2]]);
  });

  it('gives worker and gateway the configuration of this folder, to be edited here and read again', () => {
    for (const name of ['worker', 'gateway'])
      assert.deepEqual(file.services[name]?.volumes, ['./config:/app/config:ro'], name);
    const workdir = dockerfile.getInstructions().find((each) => each.getKeyword() === 'WORKDIR');
    assert.equal(workdir?.getArgumentsContent(), '/app');
  });

  it('waits for what has to be there first, and says how each service is', () => {
    for (const name of ['worker', 'gateway']) {
      assert.deepEqual(file.services[name]?.depends_on['setup'], {
        condition: 'service_completed_successfully',
      });
      assert.ok(file.services[name]?.healthcheck, name);
    }
  });

  it('runs only programs that the build has', () => {
    for (const { command } of Object.values(file.services)) {
      const [program, script] = command ?? [];
      if (program !== 'node' || script === undefined) continue;
      const source = script.replace(/^dist\//, '').replace(/\.js$/, '.ts');
      assert.ok(existsSync(source), script);
    }
  });
});

describe('the Dockerfile', () => {
  const instructions = dockerfile.getInstructions();
  const named = (keyword: string) => instructions.filter((each) => each.getKeyword() === keyword);

  it('has two pinned stages, and only the first one builds', () => {
    const images = dockerfile.getFROMs().map((from: From) => from.getImage() ?? '');
    assert.equal(images.length, 2);
    for (const image of images) assert.match(image, /^node:\d+\.\d+\.\d+-/);
    const [, last] = dockerfile.getFROMs();
    const second = last?.getRange().start.line ?? 0;
    assert.deepEqual(
      named('RUN').filter((each) => each.getRange().start.line > second),
      [],
    );
  });

  it('does not run as root, and takes nothing of the machine that builds it into the last stage', () => {
    assert.match(named('USER').at(-1)?.getArgumentsContent() ?? '', /^[1-9]\d*(:[1-9]\d*)?$/);
    const [, last] = dockerfile.getFROMs();
    const second = last?.getRange().start.line ?? 0;
    for (const copy of dockerfile.getCOPYs().filter((each) => each.getRange().start.line > second))
      assert.deepEqual(copy.getFlags().map(String), ['--from=build']);
  });

  it('copies only what the tree or the build has', () => {
    for (const copy of named('COPY')) {
      const sources = copy
        .getArguments()
        .slice(0, -1)
        .map((argument) => argument.getValue().replace(/^\/app\//, ''));
      for (const source of sources.filter(
        (each) => !['dist', 'node_modules', '.'].includes(each) && !each.startsWith('--'),
      ))
        assert.ok(existsSync(source), source);
    }
  });

  it('leaves secrets, data and the repository out of the build', () => {
    const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
    for (const name of ['.git', '.aroko', '.env', 'secrets', 'node_modules'])
      assert.ok(ignored.includes(name), name);
  });
});
