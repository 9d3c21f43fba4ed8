// What came of a replay, in words for an engineer, and the same as data for programs.
import { describeCommand, type ObservedCommand } from './command.js';
import type { Divergence } from './compare.js';
import { placeInWords, placeOf } from './place.js';
import type { RecordedHistory } from './read-history.js';
import type { ReplayOutcome } from './replayer.js';

export interface ReplayReport {
  workflowId: string;
  workflowType: string;
  events: number;
  /** Today's code does what the history says. */
  isSame: boolean;
  outcome: ReplayOutcome['kind'];
  /** How the recorded run ended; absent: it was under way. */
  ended?: string;
  /** What went wrong when it was recorded, in the order of the history. */
  recorded: { eventId: number; what: string }[];
  /** Where the two part. */
  difference?: {
    eventId?: number;
    history?: string;
    today?: string;
    /** The file of the workflow to look at, with its line. */
    lookAt?: string;
    sdkSays: string;
  };
  /** Changes that break nothing. */
  changes: { eventId: number; what: string }[];
  /** For people. */
  words: string[];
}

export function reportOf(history: RecordedHistory, outcome: ReplayOutcome): ReplayReport {
  const { workflowId, workflowType, eventCount: events, troubles, ending } = history;
  const difference = differenceOf(outcome);
  return {
    workflowId,
    workflowType,
    events,
    isSame: outcome.kind === 'same',
    outcome: outcome.kind,
    ...(ending && { ended: ending.what }),
    recorded: troubles,
    ...(difference && { difference }),
    changes: outcome.kind === 'same' ? outcome.changes : [],
    words: [
      ...headOf(history),
      '',
      ...bodyOf(history, outcome),
      ...(history.isWithoutFlags
        ? [
            '',
            'The history says nothing of the SDK that made it (made by hand?); the rules of today are assumed.',
          ]
        : []),
    ],
  };
}

function headOf({
  workflowId,
  workflowType,
  eventCount,
  ending,
  troubles,
  patches,
}: RecordedHistory): string[] {
  const end = ending ? `${ending.what} (event ${ending.eventId})` : 'was still under way when this was taken';
  return [
    workflowId,
    `  ${workflowType}, ${eventCount} events; it ${end}.`,
    ...(patches.length > 0 ? [`  Patches it was made with: ${patches.join(', ')}.`] : []),
    ...(troubles.length > 0 ? ['  What went wrong then:'] : ['  Nothing went wrong in it.']),
    ...troubles.map(({ eventId, what }) => `    event ${eventId}: ${what}`),
  ];
}

function bodyOf(history: RecordedHistory, outcome: ReplayOutcome): string[] {
  switch (outcome.kind) {
    case 'same':
      return sameInWords(history, outcome);
    case 'differs':
      return differsInWords(history, outcome);
    case 'breaks':
      return breaksInWords(outcome);
    case 'patchGone':
      return [
        `Differs. The history was made with the patch ${outcome.patch}, which today’s code doesn’t ask for.`,
        '  What to do: put patched() back, or deprecatePatch() in its place. Either stays until no run is left that was',
        '    made with it; docs/operating.md has the rules.',
        ...sdkWords(outcome.sdkSays),
      ];
    case 'unknownWorkflow':
      return [
        `Today’s code has no workflow ${outcome.workflowType}.`,
        `  What to do: a workflow type stays in workflows/index.ts for as long as runs of it may be under way.`,
      ];
  }
}

function sameInWords(
  history: RecordedHistory,
  { commands, changes }: ReplayOutcome & { kind: 'same' },
): string[] {
  const again =
    history.troubles.length > 0
      ? ' and comes to the same end: what failed then lies in what was answered to the workflow, not in its own code.'
      : '.';
  return [
    `Same. Today’s code gives the same ${commands} commands${again}`,
    ...(changes.length > 0 ? ['  Changed without breaking a run under way:'] : []),
    ...changes.map(({ eventId, what }) => `    event ${eventId}: ${what}`),
  ];
}

function differsInWords(
  history: RecordedHistory,
  { divergence, sdkSays }: ReplayOutcome & { kind: 'differs' },
): string[] {
  if (!divergence) {
    return ['Differs. Today’s code does not fit this history.', ...adviceFor(history), ...sdkWords(sdkSays)];
  }
  const { recorded, today, lines } = divergence;
  return [
    `Differs ${recorded ? `at event ${recorded.eventId}` : `after the end of the history`}.`,
    `  The history:   ${recorded ? describeCommand(recorded.command) : 'nothing more'}`,
    `  Today’s code:  ${today ? describeCommand(today.command) : todaysSilence(divergence)}`,
    ...lookAtLine(divergence),
    '',
    ...lines.map((line) => `    ${line}`),
    '',
    ...adviceFor(history),
    ...sdkWords(sdkSays),
  ];
}

function todaysSilence({ before }: Divergence): string {
  const ended = before?.command.kind === 'complete' || before?.command.kind === 'fail';
  return ended ? 'nothing, it has ended before' : 'nothing, it waits for something else';
}

function adviceFor(history: RecordedHistory): string[] {
  const open = history.ending
    ? 'Runs like this one that are under way would stop at this point'
    : 'This run is under way, and would stop at this point';
  return [
    `  What to do: ${open} once this code is deployed.`,
    "    Keep the old order for them: if (patched('a-name')) { the new way } else { the old way }.",
    '    Where that gets confusing, give the new way a workflow type of its own beside the old one.',
    '    Then record a history of the new way; docs/operating.md has the rules.',
  ];
}

function sdkWords(sdkSays: string): string[] {
  return ['', `  In the SDK’s words: ${sdkSays}`];
}

function breaksInWords({ error, before }: ReplayOutcome & { kind: 'breaks' }): string[] {
  const place = placeOf(error.stack) ?? placeOf(before?.stack ?? '');
  return [
    `Breaks. Today’s code throws ${error.name}: ${error.message}`,
    ...(place ? [`  Look at:       ${placeInWords(place)}`] : []),
    ...(before ? [`  After:         ${describeCommand(before.command)}`] : []),
    '  What to do: mend it. A run that meets this is tried again and again and gets no further until the code is mended.',
  ];
}

function lookAtLine(divergence: Divergence): string[] {
  const words = lookAtOf(divergence);
  return words === undefined ? [] : [`  Look at:       ${words}`];
}

/** Where today's code gives the other command; where it gives none, the last place that both share. */
function lookAtOf({ today, before }: Divergence): string | undefined {
  const at = (one: ObservedCommand | undefined): string | undefined => {
    const place = placeOf(one?.stack ?? '');
    return place && placeInWords(place);
  };
  if (today) return at(today) ?? at(before);
  const last = at(before);
  return last === undefined ? undefined : `${last}, and what follows it`;
}

function differenceOf(outcome: ReplayOutcome): ReplayReport['difference'] {
  switch (outcome.kind) {
    case 'same':
      return undefined;
    case 'patchGone':
      return { sdkSays: outcome.sdkSays };
    case 'unknownWorkflow':
      return { sdkSays: `no workflow ${outcome.workflowType}`, lookAt: 'workflows/index.ts' };
    case 'breaks': {
      const place = placeOf(outcome.error.stack);
      const { name, message } = outcome.error;
      return { sdkSays: `${name}: ${message}`, ...(place && { lookAt: placeInWords(place) }) };
    }
    case 'differs': {
      const { divergence, sdkSays } = outcome;
      const lookAt = divergence && lookAtOf(divergence);
      return {
        ...(divergence?.recorded && {
          eventId: divergence.recorded.eventId,
          history: describeCommand(divergence.recorded.command),
        }),
        ...(divergence?.today && { today: describeCommand(divergence.today.command) }),
        ...(lookAt !== undefined && { lookAt }),
        sdkSays,
      };
    }
  }
}
