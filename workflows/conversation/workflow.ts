// One chat, one session: order, waiting, and the only voice towards the customer. Handlers only note; one loop acts.
import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  log,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
  TemporalFailure,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { databaseWork, modelWork } from '../activity-options.js';
import type { Activities } from '../activity-ports.js';
import { toolRunWorkflowId } from '../domain/ids.js';
import type { PreparedTurn } from '../domain/turn.js';
import { decideApproval, TOOL_RUN_WORKFLOW, type ToolRunInput } from '../tool-run/contract.js';
import { type ConversationInput, inboxChanged, say, type Say } from './contract.js';
import {
  type ConversationState,
  nextThing,
  noteAcknowledged,
  noteInbox,
  noteInboxEmpty,
  noteRunEnded,
  noteRunStarted,
  noteSaid,
  noteSay,
  noteTurn,
  startState,
} from './state.js';

const { prepareTurn, deliver, acknowledge, apologize } = proxyActivities<Activities>(databaseWork);
const { answer } = proxyActivities<Activities>(modelWork);

/** Answers one chat for as long as its session lasts; the next message after that starts a fresh one from Postgres. */
export async function conversationWorkflow(input: ConversationInput): Promise<void> {
  const state = startState({ doneUpTo: input.doneUpTo ?? 0, now: Date.now() });
  setHandler(inboxChanged, (bell) => noteInbox(state, bell, Date.now()));
  setHandler(say, (what) => noteSay(state, what, Date.now()));
  const timer = lazyTimer();

  for (;;) {
    const next = nextThing(state, Date.now());
    switch (next.kind) {
      case 'say':
        await deliverSay(input, state, next.say);
        break;
      case 'silentEnd':
        await mendSilentEnd(input, state, next.turnId);
        break;
      case 'acknowledge':
        await acknowledge({ tenantId: input.tenantId, turnId: next.turnId });
        noteAcknowledged(state, next.turnId);
        break;
      case 'turn':
        await takeTurn(input, state);
        break;
      case 'wait':
        setCurrentDetails(describe(state));
        await timer.waitFor(next.until, () => nextThing(state, Date.now()).kind !== 'wait');
        break;
      case 'end':
        await condition(allHandlersFinished);
        return;
    }
    if (workflowInfo().continueAsNewSuggested && isBetweenTurns(state)) {
      await continueAsNew<typeof conversationWorkflow>({ ...input, doneUpTo: state.doneUpTo });
    }
  }
}

async function takeTurn(input: ConversationInput, state: ConversationState): Promise<void> {
  const rungUpTo = state.upTo;
  const turn = await prepareTurn({ tenantId: input.tenantId, chatId: input.chatId, after: state.doneUpTo });
  if (turn === null) {
    noteInboxEmpty(state, rungUpTo);
    return;
  }
  noteTurn(state, turn);
  await followRoute(input, state, turn);
}

async function followRoute(
  input: ConversationInput,
  state: ConversationState,
  turn: PreparedTurn,
): Promise<void> {
  const { route } = turn.decision;
  const { tenantId } = input;
  switch (route.kind) {
    case 'answer': {
      const { outboxId } = await answerOrApologize({ tenantId, turnId: turn.turnId });
      await deliver({ tenantId, outboxId });
      return;
    }
    case 'fixed':
    case 'handOff':
      await deliver({ tenantId, outboxId: route.outboxId });
      return;
    case 'silent':
      return;
    case 'decided':
      await wakeRun(route);
      return;
    case 'tools':
      await startRun(input, state, turn, route.candidates);
      return;
  }
}

/** A failed turn never ends a conversation, and never leaves a customer without a word. */
async function answerOrApologize(turn: { tenantId: string; turnId: string }): Promise<{ outboxId: string }> {
  try {
    return await answer.executeWithOptions({ ...modelWork, summary: 'normal chat' }, [turn]);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('turn_failed', { turnId: turn.turnId });
    return apologize({ ...turn, reason: 'assistant_unavailable' });
  }
}

/** The row has decided; a run that is gone meanwhile has settled it by itself. */
async function wakeRun({ runId, approvalId }: { runId: string; approvalId: string }): Promise<void> {
  try {
    await getExternalWorkflowHandle(toolRunWorkflowId({ turnId: runId })).signal(decideApproval, {
      approvalId,
    });
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    log.warn('run_gone', { turnId: runId });
  }
}

async function startRun(
  input: ConversationInput,
  state: ConversationState,
  turn: PreparedTurn,
  candidates: string[],
): Promise<void> {
  const { tenantId, chatId } = input;
  const { turnId } = turn;
  try {
    const run = await startChild(TOOL_RUN_WORKFLOW, {
      args: [{ tenantId, chatId, turnId } satisfies ToolRunInput],
      workflowId: toolRunWorkflowId({ turnId }),
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      // The run outlives this session: an owner may answer hours later.
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `tools: ${candidates.join(', ')}`,
    });
    const ended = (): void => noteRunEnded(state, turnId);
    void run.result().then(ended, ended);
  } catch (error) {
    // Started by an earlier session of this chat: it says its words to us all the same.
    if (!isAlreadyStarted(error)) throw error;
  }
  noteRunStarted(state, { turnId, profile: turn.decision.profile, now: Date.now() });
}

/** The class isn't among what the sandbox exports; its name is part of the SDK's contract. */
function isAlreadyStarted(error: unknown): boolean {
  return error instanceof TemporalFailure && error.name === 'WorkflowExecutionAlreadyStartedError';
}

async function deliverSay(input: ConversationInput, state: ConversationState, what: Say): Promise<void> {
  await deliver.executeWithOptions({ ...databaseWork, summary: what.kind }, [
    { tenantId: input.tenantId, outboxId: what.outboxId },
  ]);
  state.says.shift();
  noteSaid(state, what);
}

/** The run was terminated, or failed beyond its own means: its customer still gets an honest word. */
async function mendSilentEnd(
  input: ConversationInput,
  state: ConversationState,
  turnId: string,
): Promise<void> {
  state.silentEnds.shift();
  state.runs.delete(turnId);
  const { outboxId } = await apologize({ tenantId: input.tenantId, turnId, reason: 'assistant_unavailable' });
  await deliver({ tenantId: input.tenantId, outboxId });
}

function isBetweenTurns(state: ConversationState): boolean {
  return state.runs.size === 0 && state.says.length === 0 && state.silentEnds.length === 0;
}

function describe(state: ConversationState): string {
  if (state.runs.size === 0) return `answered up to message ${state.doneUpTo}, waiting for the next`;
  const runs = [...state.runs.keys()].map((turnId) => `- \`${toolRunWorkflowId({ turnId })}\``);
  return [`answered up to message ${state.doneUpTo}; under way:`, ...runs].join('\n');
}

/** One timer for the nearest deadline, kept while a later deadline moves: a timer that is reset costs an action each time. */
function lazyTimer(): { waitFor(until: number, isWoken: () => boolean): Promise<void> } {
  let firesAt = Number.POSITIVE_INFINITY;
  return {
    async waitFor(until, isWoken) {
      if (until < firesAt) {
        firesAt = until;
        void sleep(until - Date.now()).then(() => {
          if (firesAt === until) firesAt = Number.POSITIVE_INFINITY;
        });
      }
      const armed = firesAt;
      await condition(() => isWoken() || firesAt !== armed);
    },
  };
}
