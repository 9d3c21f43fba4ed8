// Where today's code leaves a recorded history, found by ourselves: the SDK says that they differ, and not what either
// would do.
import { diffArrays } from 'diff';
import { isDeepStrictEqual } from 'node:util';
import { describeCommand, isSameCommand, type ObservedCommand } from './command.js';
import type { RecordedCommand, RecordedHistory } from './read-history.js';

export interface Divergence {
  /** The first command of the history that today's code doesn't give; undefined: the history has none left. */
  recorded: RecordedCommand | undefined;
  /** What today's code does there; undefined: nothing, it waits for something else or has ended. */
  today: ObservedCommand | undefined;
  /** The last thing both do. */
  before: ObservedCommand | undefined;
  /** Both sides around the place, as a diff: ` ` both, `-` the history only, `+` today only. */
  lines: string[];
}

/** How many commands are shown before the place. */
const CONTEXT = 3;

/**
 * The first place where the two don't fit, or undefined. What is given after the history's last command is no difference:
 * a run that is under way has more to do.
 */
export function findDivergence(
  { commands }: Pick<RecordedHistory, 'commands'>,
  observed: readonly ObservedCommand[],
): Divergence | undefined {
  const index = commands.findIndex(({ command }, place) => {
    const today = observed[place];
    return today === undefined || !isSameCommand(command, today.command);
  });
  return index < 0 ? undefined : divergenceAt(index, commands, observed);
}

/** The history is over, and today's code would do more. */
export function excessOf(
  { commands }: Pick<RecordedHistory, 'commands'>,
  observed: readonly ObservedCommand[],
): Divergence | undefined {
  return observed.length > commands.length ? divergenceAt(commands.length, commands, observed) : undefined;
}

function divergenceAt(
  index: number,
  commands: readonly RecordedCommand[],
  observed: readonly ObservedCommand[],
): Divergence {
  const recorded = commands[index];
  // The rest of the history is of no use here: today's code never came that far.
  const inSameTask = commands.filter(
    (one, place) => place >= index && one.taskEventId === recorded?.taskEventId,
  );
  const from = Math.max(0, index - CONTEXT);
  return {
    recorded,
    today: observed[index],
    before: observed[index - 1],
    lines: linesOf(
      [...commands.slice(from, index), ...inSameTask],
      observed.slice(from).map(({ command }) => describeCommand(command)),
    ),
  };
}

function linesOf(recorded: readonly RecordedCommand[], today: readonly string[]): string[] {
  const numbers = recorded.map(({ eventId }) => String(eventId));
  const width = Math.max(2, ...numbers.map((number) => number.length));
  let place = 0;
  return diffArrays(
    recorded.map(({ command }) => describeCommand(command)),
    [...today],
  ).flatMap(({ value, added, removed }) =>
    value.map((words) => {
      const number = (added ? '' : (numbers[place++] ?? '')).padStart(width);
      return `${added ? '+' : removed ? '-' : ' '} ${number}  ${words}`;
    }),
  );
}

/**
 * What has changed without breaking anything: other arguments for an activity, other lengths of timers. A run under way
 * goes on with the recorded ones until it comes to a new command.
 */
export function harmlessChanges(
  { commands }: Pick<RecordedHistory, 'commands'>,
  observed: readonly ObservedCommand[],
): { eventId: number; what: string }[] {
  return commands.flatMap(({ eventId, command }, index) => {
    const today = observed[index]?.command;
    if (command.kind === 'activity' && today?.kind === 'activity') {
      if (isDeepStrictEqual(command.args, today.args)) return [];
      return [{ eventId, what: `activity ${command.name} would get other arguments` }];
    }
    if (command.kind === 'timer' && today?.kind === 'timer' && command.durationMs !== today.durationMs) {
      return [{ eventId, what: `${describeCommand(command)} would be a ${describeCommand(today)}` }];
    }
    return [];
  });
}
