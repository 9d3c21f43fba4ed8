/**
 * The command behind `npm start`: reads the options, starts everything, waits for the signal to stop.
 * Nothing heavy is imported before the options are read, so that --help answers at once.
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { EXIT_CONFIGURATION } from '../config/problems.js';
import { projectRoot } from './child.js';
import { SetupProblem, emptyDataDirectory, openDataDirectory } from './data-directory.js';
import { holdDirectory } from './hold.js';
import { commandLine, isRunning, parentOf } from './processes.js';
import { createScreen, isToBeMended, type Screen } from './screen.js';

interface Options {
  port: number;
  dataDir: string;
  reset?: true;
  yes?: true;
  temporal?: string;
  modelMode: 'demo' | 'scenario';
  workerProgram?: string;
  giveWay: boolean;
  color: boolean;
}

const exitCodeOf = (error: unknown): number => (isToBeMended(error) ? EXIT_CONFIGURATION : 1);

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
      'Starts your assistant on this computer: a chat page for your customers and a console for you. The databases it ' +
        'needs are started with it. When all is ready it prints the addresses to open in a browser. Ctrl-C stops it; ' +
        'everything is kept for the next start.',
    )
    .option(
      '-p, --port <number>',
      'port in the address of the chat page and the console; if it is taken, the next free one',
      parsePort,
      3000,
    )
    .addOption(
      new Option(
        '-d, --data-dir <folder>',
        'where conversations, bookings and keys are kept; another folder is another, separate assistant',
      ).default(join(projectRoot, '.aroko'), 'the folder .aroko beside this program'),
    )
    .option('--reset', 'delete all conversations, bookings and keys, then start empty; asks you first')
    .option('--yes', 'with --reset: delete without asking')
    .option(
      '--temporal <file>',
      'a Temporal program (CLI) of your own; otherwise one is found, or fetched once',
    )
    .option(
      '--no-give-way',
      'on a machine with much else to do: answer as soon as it can, also where messages are taken in more slowly for it',
    )
    .option('--no-color', 'print without colours')
    .helpOption('-h, --help', 'show this and start nothing')
    .addOption(new Option('--model-mode <mode>').choices(['demo', 'scenario']).default('demo').hideHelp())
    .addOption(new Option('--worker-program <file>').hideHelp())
    .addHelpText(
      'after',
      [
        '',
        'Who answers your customers:',
        '  a demo model    a small program for trying things out; it needs no account and no network',
        '  Claude          when the environment variable ANTHROPIC_API_KEY holds your key',
        '',
        'When you are open, what you offer and your rules: all in config/tenants/. Change it and start again.',
        '',
        'Examples:',
        '  npm start                        start, or go on where you stopped',
        '  npm start -- --port 8080         the same, at another address',
        '  npm start -- --reset             forget everything and begin anew',
      ].join('\n'),
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
    process.exit(exitCodeOf(error));
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
    givesWay: options.giveWay,
    screen,
    environment: process.env,
    onGiveUp: (reason, refusal) => {
      const fault = refusal ?? new SetupProblem(`${reason} Aroko stops; the logs tell why.`);
      screen.failure(fault, options.dataDir);
      end(refusal ? exitCodeOf(refusal) : 1);
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
    end(exitCodeOf(error));
  }
}

await main();
