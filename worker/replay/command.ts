// What a workflow asks of Temporal, reduced to what has to stay the same for a history to fit. Known on both sides of the
// sandbox's wall, so types only.

export type Command =
  | { kind: 'activity'; name: string; args?: unknown }
  | { kind: 'timer'; durationMs?: number | undefined; number?: number }
  | { kind: 'child'; name: string; workflowId: string }
  | { kind: 'signal'; name: string; workflowId: string }
  | { kind: 'continueAsNew' }
  | { kind: 'complete' }
  | { kind: 'fail'; error?: { name: string; message: string } };

/** A command that today's code gave while it was replayed. */
export interface ObservedCommand {
  command: Command;
  /** The history was known up to this event when the command was given. */
  afterEventId: number;
  /** Where in the code, as the source map tells it. */
  stack: string;
}

/** In words, the same for what a history holds and for what today's code does. */
export function describeCommand(command: Command): string {
  switch (command.kind) {
    case 'activity':
      return `activity ${command.name}`;
    case 'timer':
      return command.durationMs === undefined ? 'timer' : `timer of ${durationInWords(command.durationMs)}`;
    case 'child':
      return `child ${command.name} (${command.workflowId})`;
    case 'signal':
      return `signal ${command.name} to ${command.workflowId}`;
    case 'continueAsNew':
      return 'goes on as a new execution';
    case 'complete':
      return 'end of the workflow';
    case 'fail':
      return 'failure of the workflow';
  }
}

/**
 * Whether one stands for the other in a replay: kind and name have to be the same. Arguments and durations may change, a
 * run under way doesn't notice.
 */
export function isSameCommand(one: Command, other: Command): boolean {
  if (one.kind !== other.kind) return false;
  if (!('name' in one) || !('name' in other)) return true;
  if (one.name !== other.name) return false;
  return !('workflowId' in one) || !('workflowId' in other) || one.workflowId === other.workflowId;
}

const UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

export function durationInWords(milliseconds: number): string {
  const [name, size] = UNITS.find(([, each]) => milliseconds >= each) ?? ['ms', 1];
  return `${Math.round((milliseconds / size) * 10) / 10} ${name}`;
}
