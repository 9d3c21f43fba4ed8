/**
 * The command behind `npm start`: reads the options, starts everything, waits for the signal to stop.
 * Nothing heavy is imported before the options are read, so that --help answers at once.
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { projectRoot } from './child.js';
import { SetupProblem, emptyDataDirectory, openDataDirectory } from './data-directory.js';
import { holdDirectory } from './hold.js';
import { commandLine, isRunning, parentOf } from './processes.js';
import { createScreen, type Screen } from './screen.js';

interface Options {
  port: number;
  dataDir: string;
  reset?: true;
  yes?: true;
  temporal?: string;
  modelMode: 'demo' | 'scenario';
  workerProgram?: string;
  color: boolean;
}

const exitConfiguration = 78;

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new InvalidArgumentError('A port is a number from 0 (any free one) to 65535.');
  }
  return port;
}

function readOptions(): Options {
  return new Command('npm start --')
    .description(
      'Starts Aroko on this machine: its own Postgres and Temporal, the assistant, a web chat, a console.',
    )
    .option('-p, --port <n>', 'port of chat and console; the next free one if it is busy', parsePort, 3000)
    .addOption(
      new Option('-d, --data-dir <dir>', 'where everything is kept').default(
        join(projectRoot, '.aroko'),
        '.aroko in the checkout',
      ),
    )
    .option('--temporal <path>', 'Temporal CLI to use (default: found, or fetched once)')
    .option('--reset', 'delete all data first and start empty; asks before')
    .option('--yes', 'answer yes to what --reset asks')
    .option('--no-color', 'no colours')
    .addOption(new Option('--model-mode <mode>').choices(['demo', 'scenario']).default('demo').hideHelp())
    .addOption(new Option('--worker-program <file>').hideHelp())
    .addHelpText(
      'after',
      '\nWith ANTHROPIC_API_KEY set, Claude answers; without it, a small demo model does.',
    )
    .parse()
    .opts<Options>();
}

async function isConfirmed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(question).finally(() => terminal.close());
  return /^y(es)?$/i.test(answer.trim());
}

/** Deletes the data after a yes; false when the person thought better of it. */
async function reset(options: Options, screen: Screen): Promise<boolean> {
  const directory = openDataDirectory(options.dataDir);
  if (!options.yes && !process.stdin.isTTY) {
    throw new SetupProblem(
      '--reset deletes all data and asks first, but there is no terminal to ask on. Add --yes.',
    );
  }
  const question = `  Delete all conversations, bookings and keys in ${directory.root}? [y/N] `;
  if (!options.yes && !(await isConfirmed(question))) {
    screen.note('Nothing was deleted.');
    return false;
  }
  const hold = await holdDirectory({ directory, say: screen.note });
  emptyDataDirectory(directory);
  hold.release();
  screen.note(`${directory.root} is empty now.`);
  return true;
}

/** Ctrl-C in npm arrives twice within moments, from the terminal and from npm: that is one wish. */
const sameWishMs = 1_000;

/** Calls `onStop` at the first wish to end and `onForce` at the second. */
function onSignals({ onStop, onForce }: { onStop: () => void; onForce: () => void }): void {
  let firstAt: number | undefined;
  const handle = (): void => {
    if (firstAt === undefined) {
      firstAt = Date.now();
      onStop();
    } else if (Date.now() - firstAt > sameWishMs) onForce();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, handle);
}

/**
 * Under npm a signal to npm ends the shell between, and never reaches us: then the end of npm or of that shell is
 * the wish to stop.
 */
function onNpmEnd(onStop: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const isShell = /[\0 ]-c[\0 ]/.test(commandLine(process.ppid));
  const above = [process.ppid, ...(isShell ? [parentOf(process.ppid)] : [])];
  const watched = above.filter((pid) => pid !== undefined && pid > 1);
  const timer = setInterval(() => {
    if (watched.every((pid) => pid !== undefined && isRunning(pid))) return;
    clearInterval(timer);
    onStop();
  }, 500);
  timer.unref();
}

async function main(): Promise<void> {
  const options = readOptions();
  const color = options.color && process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '';
  const screen = createScreen({ stream: process.stdout, color });
  try {
    if (options.reset && !(await reset(options, screen))) return;
    await run(options, screen);
  } catch (error) {
    screen.failure(error, options.dataDir);
    process.exit(error instanceof SetupProblem ? exitConfiguration : 1);
  }
}

async function run(options: Options, screen: Screen): Promise<void> {
  screen.plain('\n  Starting Aroko …');
  const { launch } = await import('./launch.js');
  const started = launch({
    dataDir: options.dataDir,
    port: options.port,
    temporalCli: options.temporal,
    modelMode: options.modelMode,
    workerProgram: options.workerProgram,
    screen,
    environment: process.env,
    onGiveUp: (reason) => {
      screen.failure(new SetupProblem(`${reason} Aroko stops; the logs tell why.`), options.dataDir);
      end(1);
    },
  });
  let isEnding = false;
  const end = (code: number): void => {
    if (isEnding) return;
    isEnding = true;
    const began = Date.now();
    started
      .stop()
      .then((wasRunning) => {
        if (wasRunning) screen.done('Stopped', Date.now() - began, 'everything is kept');
      })
      .catch((error: unknown) => screen.failure(error, options.dataDir))
      .finally(() => process.exit(code));
  };
  const stop = (): void => {
    screen.plain('\n  Stopping …');
    end(0);
  };
  onSignals({ onStop: stop, onForce: () => process.exit(130) });
  onNpmEnd(stop);
  try {
    await started.ready;
  } catch (error) {
    if (isEnding) return;
    screen.failure(error, openDataDirectory(options.dataDir).logs);
    end(error instanceof SetupProblem ? exitConfiguration : 1);
  }
}

await main();
