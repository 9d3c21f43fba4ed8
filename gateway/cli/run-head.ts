// The head of a run's story: what it is, where it stands, and where else it can be read.
import type { RunRecord } from '../../prisma/stores/views/run-record.js';
import { inWords, type Cell, type Print } from './output.js';
import type { Target } from './target.js';

export type TemporalSide =
  | { state: 'known'; status: string; events: number }
  | { state: 'forgotten' }
  | { state: 'away' }
  /** The turn never had a run. */
  | { state: 'none' };

export interface Links {
  run: string | undefined;
  conversation: string | undefined;
}

/** Where a person can read a history; undefined where no UI is known. */
export function linkTo(temporal: Target['temporal'], workflowId: string): string | undefined {
  const { uiUrl, namespace } = temporal;
  if (uiUrl === undefined) return undefined;
  const [place, workflow] = [namespace, workflowId].map(encodeURIComponent);
  return `${uiUrl.replace(/\/+$/, '')}/namespaces/${place}/workflows/${workflow}`;
}

export function printHead(
  print: Print,
  record: RunRecord,
  { temporal, links }: { temporal: TemporalSide; links: Links },
): void {
  const { run, turn } = record;
  const from = run?.startedAt ?? turn.claimedAt;
  const until = run ? run.closedAt : turn.closedAt;
  const known: [string, Cell][] = [
    ['Run', record.turnId],
    ['State', run ? withMore(run.state, run.code) : 'no run: no tool was needed'],
    ['Turn', withMore(turn.state, turn.outcome)],
    ['Started', `${at(from)} UTC`],
    ['Took', until ? inWords(until.getTime() - from.getTime()) : 'not over yet'],
    ['Chat', record.chatId],
    ['Workflow', run ? record.workflowId : undefined],
    ['Temporal', temporalInWords(temporal)],
    ['History', historyInWords(record)],
    ['Conversation', record.conversationId],
    ['Read the run', links.run],
    ['Read the chat', links.conversation],
  ];
  print.pairs(known.filter(([, value]) => value !== undefined));
}

function withMore(state: string, more: string | null): string {
  return more === null ? state : `${state} (${more})`;
}

function temporalInWords(side: TemporalSide): string {
  switch (side.state) {
    case 'known':
      return `${side.status}, ${side.events} events`;
    case 'forgotten':
      return 'has forgotten it';
    case 'away':
      return 'can’t be reached';
    case 'none':
      return 'the conversation answered, no run was started';
  }
}

function historyInWords({ histories: [newest] }: RunRecord): string {
  if (!newest) return 'not kept by us';
  if (newest.missing !== undefined) return `not kept: ${newest.missing.replace('_', ' ')}`;
  return `kept since ${at(newest.keptAt)}, ${newest.events} events`;
}

/** UTC, as the logs have it. */
export function at(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '');
}
