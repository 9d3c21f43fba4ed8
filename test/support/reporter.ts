// How a run reads: one line a test as it ends, every skip with its reason, failures in full at the end, the files that
// took longest, and the counts as the last line. With `--reporter-option results=FILE` the counts go into that file
// instead, for a command that adds its own (.ci/test).
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import Mocha, { type MochaOptions, type Runnable, type Runner, type Suite, type Test } from 'mocha';
import { reasonOf } from './skip.js';

const SLOWEST_FILES = 12;
const SLOW_MS = 1_000;
const { Base } = Mocha.reporters;

type Outcome = 'passed' | 'failed' | 'skipped';

export default class Reporter extends Base {
  readonly #began = new Map<string, number>();
  readonly #tookMs = new Map<string, number>();
  readonly #counts: Record<Outcome, number> = { passed: 0, failed: 0, skipped: 0 };
  readonly #results: string | undefined;

  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    this.#results = resultsFile(options);
    const { constants } = Mocha.Runner;
    runner.on(constants.EVENT_SUITE_BEGIN, (suite) => this.#begin(suite));
    runner.on(constants.EVENT_SUITE_END, (suite) => this.#end(suite));
    runner.on(constants.EVENT_TEST_PASS, (test) => this.#passed(test));
    runner.on(constants.EVENT_TEST_FAIL, (test, error: unknown) => this.#failed(test, error));
    runner.on(constants.EVENT_TEST_PENDING, (test) => this.#skipped(test));
    runner.once(constants.EVENT_RUN_END, () => this.#finish());
  }

  #begin(suite: Suite): void {
    if (suite.root) return;
    if (suite.parent?.root && suite.file !== undefined) {
      if (!this.#began.has(suite.file)) say(`\n${Base.color('suite', relative(process.cwd(), suite.file))}`);
      this.#began.set(suite.file, Date.now());
    }
    say(`${indent(suite)}${suite.title}`);
  }

  #end(suite: Suite): void {
    if (!suite.parent?.root || suite.file === undefined) return;
    const took = Date.now() - (this.#began.get(suite.file) ?? Date.now());
    this.#tookMs.set(suite.file, took + (this.#tookMs.get(suite.file) ?? 0));
  }

  #passed(test: Test): void {
    this.#count('passed');
    const took = test.duration ?? 0;
    const time = took < SLOW_MS ? '' : ` (${seconds(took)})`;
    say(`${indent(test.parent)}  ${Base.color('checkmark', 'ok')} ${test.title}${time}`);
  }

  #failed(test: Runnable, error: unknown): void {
    this.#count('failed');
    const [firstLine = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    say(`${indent(test.parent)}  ${Base.color('fail', `FAILED ${test.title}: ${firstLine}`)}`);
  }

  #skipped(test: Test): void {
    this.#count('skipped');
    const reason = reasonOf(test) ?? 'no reason was given';
    say(`${indent(test.parent)}  ${Base.color('pending', `skipped ${test.title}: ${reason}`)}`);
  }

  /** Written at every test, so that a run which is stopped from outside still tells how far it came. */
  #count(outcome: Outcome): void {
    this.#counts[outcome] += 1;
    this.#writeResults('running');
  }

  #writeResults(state: 'running' | 'ended'): void {
    if (this.#results === undefined) return;
    const { passed, failed, skipped } = this.#counts;
    writeFileSync(this.#results, `${passed} ${failed} ${skipped} ${state}\n`);
  }

  #finish(): void {
    if (this.failures.length > 0) Base.list(this.failures);
    const slowest = [...this.#tookMs].sort(([, one], [, other]) => other - one).slice(0, SLOWEST_FILES);
    if (slowest.length > 1) {
      say('\nThe slowest files:');
      for (const [file, took] of slowest) {
        say(`${seconds(took).padStart(8)}  ${relative(process.cwd(), file)}`);
      }
    }
    const { passed, failed, skipped } = this.#counts;
    if (this.#results === undefined) say(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
    this.#writeResults('ended');
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Two blanks for each suite around it. */
function indent(suite: Suite | undefined): string {
  return '  '.repeat(Math.max(0, (suite?.titlePath().length ?? 0) - 1));
}

function resultsFile({ reporterOptions }: MochaOptions): string | undefined {
  const { results } = { results: undefined, ...reporterOptions };
  return typeof results === 'string' ? results : undefined;
}
