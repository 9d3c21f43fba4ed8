// A folder of cases from outside the tree. Where it lies is told by AROKO_TEST_DATA; without it, beside the tree.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const caseShape = z.object({
  text: z.string(),
  rule: z.string(),
  expect: z.enum(['redact', 'keep']),
  structured: z.boolean().default(false),
});

export type Case = z.infer<typeof caseShape>;

const FILE = join(
  process.env['AROKO_TEST_DATA'] ?? join('..', 'shared', 'data'),
  'security',
  'secrets.jsonl',
);

/** Where the file would be, and its cases; undefined where it is absent. */
export function readCases(): { file: string; cases: Case[] | undefined } {
  if (!existsSync(FILE)) return { file: FILE, cases: undefined };
  const lines = readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return { file: FILE, cases: lines.map((line) => caseShape.parse(JSON.parse(line))) };
}
