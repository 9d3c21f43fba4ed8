// One run of named tests in a copy of the checkout, and what became of them.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const reportSchema = z.object({
  passes: z.array(z.object({ title: z.string() })),
  failures: z.array(
    z.object({
      title: z.string(),
      err: z.object({ message: z.string().optional(), code: z.string().optional() }),
    }),
  ),
});

export interface TestRun {
  passed: string[];
  /** With what each complains of; `isAssertion`: it has seen something wrong, and did not just break. */
  failed: { title: string; complaint: string; isAssertion: boolean }[];
  /** Absent: it ran to its end. */
  brokeOff?: string;
  seconds: number;
}

/** A server has to start, and the machine may be busy. */
const LIMIT_MS = 240_000;

/** Runs the tests whose title holds this text. Absent: all of the files. */
export async function runTests(
  directory: string,
  { files, title }: { files: readonly string[]; title?: string },
): Promise<TestRun> {
  const report = join(directory, 'mutants-report.json');
  rmSync(report, { force: true });
  const reporter = ['--reporter', 'json', '--reporter-option', `output=${report}`];
  const only = title === undefined ? [] : ['--fgrep', title];
  const began = performance.now();
  const child = spawn('node', ['node_modules/mocha/bin/mocha.js', ...reporter, ...only, ...files], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: LIMIT_MS,
  });
  let words = '';
  child.stderr.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-2_000)));
  const end = (): void => void child.kill();
  process.once('exit', end);
  await new Promise((resolve) => child.once('close', resolve));
  process.off('exit', end);
  const seconds = (performance.now() - began) / 1_000;
  if (!existsSync(report)) return { passed: [], failed: [], brokeOff: words || 'without a word', seconds };
  const { passes, failures } = reportSchema.parse(JSON.parse(readFileSync(report, 'utf8')));
  return {
    passed: passes.map((test) => test.title),
    failed: failures.map((test) => ({
      title: test.title,
      complaint: complaintOf(test.err.message ?? ''),
      isAssertion: test.err.code === 'ERR_ASSERTION',
    })),
    seconds,
  };
}

/** Of a comparison what was seen and not expected, else the first line. */
function complaintOf(message: string): string {
  const [first = '', ...lines] = message.split('\n');
  const seen = lines.filter((line) => /^\+ +\S/.test(line) && !line.startsWith('+ actual'));
  return seen.length === 0 ? first : `saw ${seen.map((line) => line.slice(1).trim()).join(' ')}`;
}
