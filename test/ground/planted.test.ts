// A checker that finds nothing is only worth something when it would have found it. Each mistake below is made once, in a
// small tree under our own settings; the file beside it without one stays unmentioned.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { z } from 'zod';
import { createOverlay, type Overlay } from './overlay.js';
import { bundleOf, foreignSources } from './workflow-bundle.js';

const CHECKERS = ['lint', 'arrows', 'typecheck', 'format'] as const;
type Checker = (typeof CHECKERS)[number];

interface Planted {
  mistake: string;
  file: string;
  source: string;
  /** Which rules of which checkers name the file; a checker that isn't listed says nothing. */
  found: Partial<Record<Checker, string[]>>;
}

/** Apart, so that this file doesn't switch anything off itself. */
const DISABLE = 'disable';
const LAW = '@typescript-eslint/no-restricted-imports';

const PLANTED: Planted[] = [
  {
    mistake: 'a workflow that is as it should be',
    file: 'workflows/clean.ts',
    source: `import { sleep } from '@temporalio/workflow';
import type { RetryPolicy } from '@temporalio/common';
import { PAUSE_MS } from './domain/pause.js';

export async function pauseWorkflow(retry: RetryPolicy): Promise<number | undefined> {
  await sleep(PAUSE_MS);
  return retry.maximumAttempts;
}
`,
    found: {},
  },
  {
    mistake: 'a domain file that is as it should be',
    file: 'workflows/domain/pause.ts',
    source: 'export const PAUSE_MS = 1_000;\n',
    found: {},
  },
  {
    mistake: 'a workflow that imports node:fs',
    file: 'workflows/reads-files.ts',
    source: `import { existsSync } from 'node:fs';

export async function fileWorkflow(): Promise<boolean> {
  return existsSync('package.json');
}
`,
    found: { lint: [LAW], arrows: ['law-of-workflows'] },
  },
  {
    mistake: 'a workflow that imports a store',
    file: 'workflows/reads-rows.ts',
    source: `import { rows } from '../prisma/rows.js';

export async function rowWorkflow(): Promise<number> {
  return rows.length;
}
`,
    found: { lint: [LAW], arrows: ['law-of-workflows'] },
  },
  {
    mistake: 'a workflow that imports zod',
    file: 'workflows/parses.ts',
    source: `import { z } from 'zod';

export async function parseWorkflow(input: unknown): Promise<string> {
  return z.string().parse(input);
}
`,
    found: { lint: [LAW], arrows: ['law-of-workflows'] },
  },
  {
    mistake: 'a workflow that takes more than types of @temporalio/common',
    file: 'workflows/takes-values.ts',
    source: `import { ApplicationFailure } from '@temporalio/common';

export async function failingWorkflow(): Promise<never> {
  throw ApplicationFailure.nonRetryable('no');
}
`,
    found: { lint: [LAW], arrows: ['law-of-workflows-types'] },
  },
  {
    mistake: 'a workflow with state of its module',
    file: 'workflows/remembers.ts',
    source: `let count = 0;

export async function countWorkflow(): Promise<number> {
  count += 1;
  return count;
}
`,
    found: { lint: ['no-restricted-syntax'], arrows: ['no-orphans'] },
  },
  {
    mistake: 'a domain file that knows Temporal',
    file: 'workflows/domain/sleeps.ts',
    source: `export { sleep } from '@temporalio/workflow';\n`,
    found: { arrows: ['domain-is-pure'] },
  },
  {
    mistake: 'two files that need each other (one)',
    file: 'activities/hen.ts',
    source: `import { egg } from './egg.js';

export const hen = (): string => egg();
`,
    found: { arrows: ['no-circular'] },
  },
  {
    mistake: 'two files that need each other (the other)',
    file: 'activities/egg.ts',
    source: `import { hen } from './hen.js';

export const egg = (): string => hen();
`,
    found: { arrows: ['no-circular'] },
  },
  {
    mistake: 'a gateway that reaches into the worker',
    file: 'gateway/reaches.ts',
    source: `export { part } from '../worker/part.js';\n`,
    found: { arrows: ['arrows-of-gateway'] },
  },
  {
    mistake: 'a process that imports the main of another',
    file: 'local/imports-main.ts',
    source: `import '../prisma/copy-main.js';\n`,
    found: { arrows: ['mains-are-started'] },
  },
  {
    mistake: 'SQL outside the room that knows it',
    file: 'activities/asks-postgres.ts',
    source: `import { Client } from 'pg';

export const client = (): Client => new Client();
`,
    found: { arrows: ['sql-stays-in-prisma'] },
  },
  {
    mistake: 'a file that nobody needs',
    file: 'worker/forgotten.ts',
    source: 'export const FORGOTTEN = true;\n',
    found: { arrows: ['no-orphans'] },
  },
  {
    mistake: 'a store that reads the environment',
    file: 'prisma/rows.ts',
    source: `export const rows = [process.env['ROWS']];\n`,
    found: { lint: ['no-restricted-properties'] },
  },
  {
    mistake: 'a main that reads the environment, as it may',
    file: 'prisma/copy-main.ts',
    source: `import { rows } from './rows.js';

process.stdout.write(process.env['COPY'] ?? rows.join());
`,
    found: {},
  },
  {
    mistake: 'a promise that nobody waits for',
    file: 'activities/floats.ts',
    source: `import { hen } from '../config/clean.js';

export function float(): void {
  Promise.resolve(hen('x'));
}
`,
    found: { lint: ['@typescript-eslint/no-floating-promises'] },
  },
  {
    mistake: 'a promise where somebody expects none',
    file: 'activities/misuses.ts',
    source: `import { hen } from '../config/clean.js';

export function misuse(names: string[]): void {
  names.forEach(async (name) => {
    await Promise.resolve(hen(name));
  });
}
`,
    found: { lint: ['@typescript-eslint/no-misused-promises'] },
  },
  {
    mistake: 'a case that is forgotten, and a comment that switches the checker off',
    file: 'activities/forgets.ts',
    source: `import { hen } from '../config/clean.js';

/* eslint-${DISABLE} */
export function say(kind: 'one' | 'two'): void {
  switch (kind) {
    case 'one':
      hen(kind);
  }
}
`,
    found: { lint: ['@typescript-eslint/switch-exhaustiveness-check', 'no inline configuration'] },
  },
  {
    mistake: 'a value of no type',
    file: 'activities/untyped.ts',
    source: `import { hen } from '../config/clean.js';

export const untyped = (value: any): string => hen(value);
`,
    found: { lint: ['@typescript-eslint/no-explicit-any', '@typescript-eslint/no-unsafe-argument'] },
  },
  {
    mistake: 'a value of the wrong type',
    file: 'config/mistyped.ts',
    source: `import { hen } from './clean.js';

export const count: number = hen('x');
`,
    found: { typecheck: ['TS2322'] },
  },
  {
    mistake: 'a file that Prettier would lay out otherwise',
    file: 'config/ragged.ts',
    source: `import { hen } from "./clean.js"\nexport const ragged=()=>hen( 'x' )\n`,
    found: { format: ['unformatted'] },
  },
  {
    mistake: 'a file of configuration that is as it should be',
    file: 'config/clean.ts',
    source: `export const hen = (name = 'x'): string => name;\n`,
    found: {},
  },
  {
    mistake: 'a part of the worker that is as it should be',
    file: 'worker/part.ts',
    source: `export { hen as part } from '../config/clean.js';\n`,
    found: {},
  },
];

/** What a checker found: the rules, by file. */
type Findings = Map<string, Set<string>>;

function note(findings: Findings, file: string, rule: string): void {
  findings.set(file, (findings.get(file) ?? new Set()).add(rule));
}

async function lint({ directory, run }: Overlay): Promise<Findings> {
  const { output } = await run('eslint/bin/eslint.js', ['--format', 'json', ...ROOMS]);
  const shape = z.array(
    z.object({
      filePath: z.string(),
      messages: z.array(z.object({ ruleId: z.string().nullable(), message: z.string() })),
    }),
  );
  const findings: Findings = new Map();
  for (const { filePath, messages } of shape.parse(JSON.parse(output))) {
    for (const { ruleId, message } of messages) {
      const rule = ruleId ?? (message.includes('noInlineConfig') ? 'no inline configuration' : message);
      note(findings, filePath.slice(directory.length + 1), rule);
    }
  }
  return findings;
}

async function arrows({ run }: Overlay): Promise<Findings> {
  const { output } = await run('dependency-cruiser/bin/dependency-cruise.mjs', [
    ...['--config', '.dependency-cruiser.cjs', '--output-type', 'json'],
    ...ROOMS,
  ]);
  const shape = z.object({
    summary: z.object({
      violations: z.array(
        z.object({
          from: z.string(),
          rule: z.object({ name: z.string() }),
          cycle: z.array(z.object({ name: z.string() })).default([]),
        }),
      ),
    }),
  });
  const findings: Findings = new Map();
  for (const { from, rule, cycle } of shape.parse(JSON.parse(output)).summary.violations) {
    // A cycle is told once, by one of its files.
    for (const file of [from, ...cycle.map(({ name }) => name)]) note(findings, file, rule.name);
  }
  return findings;
}

async function typecheck({ run }: Overlay): Promise<Findings> {
  const { output } = await run('typescript/bin/tsc', ['--noEmit', '--pretty', 'false']);
  const findings: Findings = new Map();
  for (const [, file = '', code = ''] of output.matchAll(/^(\S+?)\(\d+,\d+\): error (TS\d+)/gm)) {
    note(findings, file, code);
  }
  return findings;
}

async function format({ run }: Overlay): Promise<Findings> {
  const { output } = await run('prettier/bin/prettier.cjs', ['--list-different', ...ROOMS]);
  const findings: Findings = new Map();
  for (const file of output.split('\n').filter((line) => line !== '')) note(findings, file, 'unformatted');
  return findings;
}

const ROOMS = [...new Set(PLANTED.map(({ file }) => file.split('/')[0] ?? file))];

describe('a planted mistake', () => {
  let overlay: Overlay;
  const found: Partial<Record<Checker, Findings>> = {};

  before(async function () {
    this.timeout(60_000);
    overlay = await createOverlay(Object.fromEntries(PLANTED.map(({ file, source }) => [file, source])));
    [found.lint, found.arrows, found.typecheck, found.format] = await Promise.all([
      lint(overlay),
      arrows(overlay),
      typecheck(overlay),
      format(overlay),
    ]);
  });

  after(() => overlay.remove());

  for (const planted of PLANTED) {
    const checkers = CHECKERS.filter((checker) => planted.found[checker]);
    const verdict = checkers.length === 0 ? 'is let through' : `is found by ${checkers.join(' and ')}`;
    it(`${planted.mistake}, ${verdict}`, () => {
      for (const checker of CHECKERS) {
        assert.deepEqual(
          [...(found[checker]?.get(planted.file) ?? [])].sort(),
          planted.found[checker] ?? [],
          checker,
        );
      }
    });
  }

  it('node:fs in a workflow fails the bundle', async () => {
    await assert.rejects(bundleOf(join(overlay.directory, 'workflows/reads-files.ts')));
  });

  it('a store in a workflow is seen in the bundle', async () => {
    const bundle = await bundleOf(join(overlay.directory, 'workflows/reads-rows.ts'));
    assert.deepEqual(foreignSources(bundle, overlay.directory), [join(overlay.directory, 'prisma/rows.ts')]);
  });

  it('zod in a workflow is seen in the bundle', async () => {
    const bundle = await bundleOf(join(overlay.directory, 'workflows/parses.ts'));
    const foreign = foreignSources(bundle, overlay.directory);
    assert.ok(foreign.length > 0 && foreign.every((source) => source.includes('/node_modules/zod/')));
  });
});
