/** What the person in front of the terminal sees: short calm lines while things start, one screen when all is ready. */
import { basename, join, relative } from 'node:path';
import { SingleBar } from 'cli-progress';
import { ConfigurationError } from '../config/problems.js';
import { ChildFailure, ChildRefusal } from './child.js';
import { SetupProblem } from './data-directory.js';
import type { Progress } from './temporal/wheel.js';

/** Everything the launcher may say. */
export interface Screen {
  /** A step that is done, with the time it took. */
  done: (what: string, tookMs: number, detail?: string) => void;
  /** A line worth knowing that is no step: a busy port, a stopped orphan, a restart. */
  note: (line: string) => void;
  plain: (line: string) => void;
  failure: (error: unknown, logs: string) => void;
  ready: (facts: ReadyFacts) => void;
  progress: Progress;
}

/** What the last screen tells. */
export interface ReadyFacts {
  tookMs: number;
  chat: string;
  console: string;
  temporalUi: string;
  /** Which model answers, and where it isn't a real one, how to use one. */
  model: string[];
  logs: string;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const megabytes = (bytes: number): number => Math.round(bytes / 1e6);

/** Relative to where the person stands, unless that is longer. */
function shortPath(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.length < path.length ? fromHere : path;
}

const isFrame = (line: string): boolean => line.trimStart().startsWith('at ');

function createProgress(note: (line: string) => void, isTerminal: boolean): Progress {
  return (label, total) => {
    if (!isTerminal) {
      note(`${label} (${megabytes(total)} MB, once per user) …`);
      return { update: () => undefined, done: () => undefined };
    }
    const bar = new SingleBar({
      format: `  ${label}  {bar}  {value} of {total} MB`,
      barsize: 24,
      clearOnComplete: true,
      hideCursor: true,
    });
    bar.start(megabytes(total), 0);
    return { update: (value) => bar.update(megabytes(value)), done: () => bar.stop() };
  };
}

/** Whether the person at the keyboard can mend it; what the error says then is all that helps. */
export function isToBeMended(error: unknown): boolean {
  return [SetupProblem, ConfigurationError, ChildRefusal].some((type) => error instanceof type);
}

/** Writes to the given stream; colours only where they are wanted and shown. */
export function createScreen(want: {
  stream: NodeJS.WritableStream & { isTTY?: boolean };
  color: boolean;
}): Screen {
  const { stream } = want;
  // A reader that went away (a closed pipe) must not take the installation with it.
  stream.on('error', () => undefined);
  const paint = (code: number) => (text: string) => (want.color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const bold = paint(1);
  const dim = paint(2);
  const red = paint(31);
  const green = paint(32);
  const yellow = paint(33);
  const plain = (line: string): void => void stream.write(`${line}\n`);
  const note = (line: string): void => plain(`  ${yellow('•')} ${line}`);
  return {
    plain,
    note,
    done: (what, tookMs, detail) =>
      plain(
        `  ${green('✓')} ${what.padEnd(12)} ${dim(seconds(tookMs))}${detail === undefined ? '' : `  ${dim(detail)}`}`,
      ),
    failure: (error, logs) => {
      const message = error instanceof Error ? error.message : String(error);
      plain(`\n  ${red('✗')} ${message.split('\n').join('\n    ')}`);
      if (error instanceof SetupProblem) return;
      if (isToBeMended(error)) {
        plain('\n    Mend what it names and start again; your data is kept.');
        return;
      }
      if (!(error instanceof ChildFailure)) {
        const where = error instanceof Error ? (error.stack ?? '').split('\n').filter(isFrame) : [];
        plain('    This is a fault in Aroko itself. It happened here:');
        for (const line of where) plain(`    ${dim(line)}`);
        return;
      }
      if (error.lastLines.length > 0) plain(`\n    The last lines of its log:`);
      for (const line of error.lastLines) plain(`      ${dim(line)}`);
      plain(`\n    The whole log: ${shortPath(join(logs, basename(error.logFile)))}`);
      plain('    Mend what it names and start again; your data is kept.');
    },
    ready: (facts) => {
      const row = (label: string, value: string): void => plain(`  ${label.padEnd(16)}${value}`);
      plain(`\n  ${bold('Aroko is ready')} ${dim(`(${seconds(facts.tookMs)})`)}\n`);
      row('Chat', facts.chat);
      row('Owner console', facts.console);
      row('', dim('signs you in, once; start again for a new link'));
      row('Temporal UI', facts.temporalUi);
      plain('');
      facts.model.forEach((line, index) => row(index === 0 ? 'Model' : '', line));
      row('Logs', shortPath(facts.logs));
      row('Stop', 'Ctrl-C');
      plain('');
    },
    progress: createProgress(note, stream.isTTY === true),
  };
}
