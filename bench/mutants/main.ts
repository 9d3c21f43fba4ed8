// `npm run test:mutants`: plants six bugs one by one in a throwaway copy, and shows which test catches each. It fails where one
// survives, where another test than the named one complains, and where the tests aren't green without a bug.
import Table from 'cli-table3';
import { BUGS, type Bug } from './bugs.js';
import { copyOf, planted, type Copy } from './plant.js';
import { runTests, type TestRun } from './run-test.js';

const root = process.cwd();
const say = (words: string): void => void process.stdout.write(`${words}\n`);

// Told before anything is copied: a text that is gone means that its bug has to be written anew.
for (const bug of BUGS) planted(root, bug);

const copy = copyOf(root);
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
process.once('exit', () => copy.remove());

let isGood = await isGreenWithout(copy);
if (isGood) {
  const table = new Table({
    head: ['bug', 'planted in', 'caught by', 'time'],
    style: { head: [], border: [] },
  });
  for (const [index, bug] of BUGS.entries()) {
    say(`${index + 1} of ${BUGS.length}: ${bug.name} …`);
    const { caught, row } = await judge(copy, bug);
    table.push(row);
    if (!caught) isGood = false;
  }
  say(table.toString());
  say(isGood ? 'Every bug is caught.' : 'A bug has survived.');
}
process.exitCode = isGood ? 0 : 1;

async function isGreenWithout({ directory }: Copy): Promise<boolean> {
  const files = [...new Set(BUGS.map(({ caughtBy }) => caughtBy.file))];
  say(`without a bug: ${files.join(', ')} …`);
  const run = await runTests(directory, { files });
  const missing = BUGS.filter(({ caughtBy }) => !run.passed.includes(caughtBy.title));
  for (const { title, complaint } of run.failed) say(`  fails without a bug: ${title}: ${complaint}`);
  for (const { caughtBy } of missing) say(`  not among the tests that pass: ${caughtBy.title}`);
  if (run.brokeOff !== undefined) say(`  broke off: ${run.brokeOff}`);
  say(`  ${run.passed.length} passed, ${run.failed.length} failed (${run.seconds.toFixed(1)} s)`);
  return run.failed.length === 0 && missing.length === 0 && run.brokeOff === undefined;
}

async function judge({ directory, plant }: Copy, bug: Bug): Promise<{ caught: boolean; row: string[] }> {
  const takeOut = plant(bug);
  const { file, title } = bug.caughtBy;
  let run: TestRun;
  try {
    run = await runTests(directory, { files: [file], title });
  } finally {
    takeOut();
  }
  const failure = run.failed.find((test) => test.title === title && test.isAssertion);
  const verdict = failure
    ? `${file}\n${title}\n(${failure.complaint})`
    : run.passed.includes(title)
      ? `SURVIVED: ${title}`
      : `BROKE OFF: ${run.brokeOff ?? run.failed[0]?.complaint ?? 'no such test'}`;
  const files = [...new Set(bug.plant.map((one) => one.file))].join('\n');
  return { caught: failure !== undefined, row: [bug.name, files, verdict, `${run.seconds.toFixed(1)} s`] };
}
