// One chat, one session: order, waiting, and the only voice towards the customer. Handlers only note; one loop acts.
import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  log,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  startChild,
  TemporalFailure,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { databaseWork, modelWork, sendWork } from '../activity-options.js';
import type { Activities } from '../activity-ports.js';
import { toolRunWorkflowId } from '../domain/ids.js';
import { TOOL_RUN_WORKFLOW, type ToolRunInput } from '../tool-run/contract.js';
import { act, type Effects } from './acts.js';
import { returnRun, ring } from './bells.js';
import { type ConversationInput, deskChanged, inboxChanged, runEnded, say } from './contract.js';
import { describe } from './describe.js';
import {
  type ConversationState,
  isBusy,
  nextThing,
  type NextThing,
  noteDeskChanged,
  noteInbox,
  noteRunEnded,
  noteRunFoundClosed,
  noteSay,
  startState,
} from './state.js';
import { lazyTimer } from './timer.js';

const { prepareTurn, apologize, deskState, resolveSession } = proxyActivities<Activities>(databaseWork);
const { deliver, acknowledge } = proxyActivities<Activities>(sendWork);
const { answer } = proxyActivities<Activities>(modelWork);

/** Answers one chat for as long as its session lasts; the next message after that starts a fresh one from Postgres. */
export async function conversationWorkflow(input: ConversationInput): Promise<void> {
  const state = startState({ ...input, now: Date.now() });
  const effects = effectsOf(input, state);
  setHandler(inboxChanged, (bell) => noteInbox(state, bell, Date.now(), effects.random));
  setHandler(say, (what) => noteSay(state, what, Date.now()));
  setHandler(deskChanged, () => noteDeskChanged(state));
  setHandler(runEnded, (ended) => noteRunFoundClosed(state, ended));
  const timer = lazyTimer({ reusesOlder: () => state.desk.pace !== undefined });

  for (;;) {
    const next = nextThing(state, Date.now());
    switch (next.kind) {
      case 'wait':
        setCurrentDetails(describe(state));
        await timer.waitFor(next.until, () => isSooner(nextThing(state, Date.now()), next.until));
        break;
      case 'end':
        await condition(allHandlersFinished);
        return;
      default:
        await act({ input, state, effects }, next);
    }
    if (workflowInfo().continueAsNewSuggested && isBetweenTurns(state)) {
      await continueAsNew<typeof conversationWorkflow>(carryOver(input, state));
    }
  }
}

/** Something is to be done now, or by an earlier time than was waited for: a handler may have brought either. */
function isSooner(next: NextThing, until: number): boolean {
  return next.kind !== 'wait' || next.until < until;
}

function effectsOf({ tenantId, chatId }: ConversationInput, state: ConversationState): Effects {
  return {
    prepareTurn,
    acknowledge,
    apologize,
    deskState,
    resolveSession,
    deliver: (words, kind) =>
      kind === undefined
        ? deliver(words)
        : deliver.executeWithOptions({ ...sendWork, summary: kind }, [words]),
    async answer(turn) {
      try {
        return await answer.executeWithOptions({ ...modelWork, summary: 'normal chat' }, [turn]);
      } catch (error) {
        if (!(error instanceof ActivityFailure)) throw error;
        log.warn('turn_failed', { turnId: turn.turnId });
        return undefined;
      }
    },
    startRun: (turn) => startRun(state, { tenantId, chatId, ...turn }),
    ring: (bell) => ring(tenantId, bell),
    returnRun,
    now: () => Date.now(),
    // The workflow's own generator: a replay draws the same.
    random: () => Math.random(),
  };
}

async function startRun(
  state: ConversationState,
  { candidates, ...run }: ToolRunInput & { candidates: string[] },
): Promise<void> {
  const { turnId } = run;
  try {
    const child = await startChild(TOOL_RUN_WORKFLOW, {
      args: [run],
      workflowId: toolRunWorkflowId({ turnId }),
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      // The run outlives this session: an owner may answer hours later.
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `tools: ${candidates.join(', ')}`,
    });
    const ended = (): void => noteRunEnded(state, turnId);
    void child.result().then(ended, ended);
  } catch (error) {
    // Started by an earlier session of this chat: it says its words to us all the same.
    if (!isAlreadyStarted(error)) throw error;
  }
}

/** The class isn't among what the sandbox exports; its name is part of the SDK's contract. */
function isAlreadyStarted(error: unknown): boolean {
  return error instanceof TemporalFailure && error.name === 'WorkflowExecutionAlreadyStartedError';
}

function isBetweenTurns(state: ConversationState): boolean {
  return !isBusy(state) && state.says.length === 0 && state.silentEnds.length === 0 && !state.desk.isRung;
}

function carryOver(input: ConversationInput, { doneUpTo, desk }: ConversationState): ConversationInput {
  const { tenantId, chatId } = input;
  const { session: opened, pace } = desk;
  return { tenantId, chatId, doneUpTo, ...(opened && pace && { session: { opened, pace } }) };
}
