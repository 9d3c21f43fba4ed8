// The only client calls to Temporal: rings and signals. A lost one costs seconds, never a message, because Postgres
// knows what is due and the sweep rings again; so failures are logged here and go no further.
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { errorFacts, type Logger } from '../config/logger.js';
import {
  CONVERSATION_WORKFLOW,
  deskChanged,
  inboxChanged,
  runEnded,
  say,
  type ConversationInput,
  type InboxChanged,
  type Say,
} from '../workflows/conversation/contract.js';
import { conversationWorkflowId, TASK_QUEUE, toolRunWorkflowId } from '../workflows/domain/ids.js';
import { decideApproval } from '../workflows/tool-run/contract.js';
import { createCalm } from './calm.js';

export interface ChatRef {
  tenantId: string;
  chatId: string;
}

export type Rung = 'rung' | 'failed';
export type Woken = 'woken' | 'no_run' | 'failed';

/** What the gateway asks of Temporal. None of these rejects: the outcome is the value. */
export interface Conversations {
  /** Counts `work` as messages being stored until it ends: while that is much, rings of new messages wait, a second at most. */
  whileStoring<Result>(work: Promise<Result>): Promise<Result>;
  /**
   * Tells the chat's conversation, started where there is none, that the inbox has rows up to `upTo`. `channel`: what the
   * engineer reads beside a new one in the Temporal UI; absent where whoever rings doesn't know it.
   */
  ring(bell: ChatRef & InboxChanged & { channel?: string }): Promise<Rung>;
  /** Hands the conversation words of a run again, which it hasn't delivered yet. */
  say(what: ChatRef & Say): Promise<Rung>;
  /**
   * Tells the chat's conversation that somebody has taken the chat or given it back. Where there is none, none is needed,
   * unless something is left to be done there: `starts`.
   */
  deskChanged(chat: ChatRef & { starts?: boolean }): Promise<Rung>;
  /** Tells the conversation that the workflow of a run is gone: its customer gets an honest word. */
  runEnded(run: ChatRef & { turnId: string }): Promise<Rung>;
  /** Whether the workflow of a run is closed, or gone. Undefined: nobody knows just now. */
  isRunClosed(run: { turnId: string }): Promise<boolean | undefined>;
  /** Wakes the run that waits for this approval; it looks at the row itself. */
  wakeRun(decided: { turnId: string; approvalId: string }): Promise<Woken>;
  /** Temporal answers, within 3 s. */
  isReachable(): Promise<boolean>;
  /** All calls under way have ended. */
  settled(): Promise<void>;
}

/** Enough for bursts; more only queues up inside Temporal's frontend. */
const CALLS_AT_ONCE = 16;
/**
 * Rings of new messages: when many come at once they wait here, where bells of one chat become one, and leave the machine to
 * those that are still to be accepted.
 */
const RINGS_AT_ONCE = 4;
/** A bell waits so long at most for a calm moment. */
const RING_WAITS_MS = 1_000;
/** A ring that takes longer is given up: the sweep comes by every 5 s anyway. */
const CALL_DEADLINE_MS = 5_000;
const HEALTH_DEADLINE_MS = 3_000;

export function createConversations(deps: { client: Client; logger: Logger }): Conversations {
  const { client, logger } = deps;
  const calm = createCalm();
  const calls = pLimit(CALLS_AT_ONCE);
  const rings = pLimit(RINGS_AT_ONCE);
  const underWay = new Set<Promise<unknown>>();
  // Bells that wait for their turn, by chat: a later one raises the number of the waiting one instead of queueing up.
  const waiting = new Map<string, { upTo: number; rung: Promise<Rung> }>();

  function tracked<T>(promise: Promise<T>): Promise<T> {
    underWay.add(promise);
    const done = () => underWay.delete(promise);
    promise.then(done, done);
    return promise;
  }

  function call<T>(work: () => Promise<T>): Promise<T> {
    return tracked(calls(() => client.withDeadline(Date.now() + CALL_DEADLINE_MS, work)));
  }

  async function toConversation(
    { tenantId, chatId, channel }: ChatRef & { channel?: string },
    send: (start: Start) => Promise<unknown>,
  ): Promise<Rung> {
    try {
      await send({
        workflowId: conversationWorkflowId({ tenantId, chatId }),
        taskQueue: TASK_QUEUE,
        args: [{ tenantId, chatId }],
        staticSummary: channel === undefined ? 'conversation' : `conversation on ${channel}`,
      });
      return 'rung';
    } catch (error) {
      logger.warn('conversation.ring_failed', { tenantId, chatId, ...errorFacts(error) });
      return 'failed';
    }
  }

  return {
    whileStoring: (work) => calm.whileStoring(work),
    ring({ tenantId, chatId, upTo, channel }) {
      const key = `${tenantId}/${chatId}`;
      const known = waiting.get(key);
      if (known) {
        known.upTo = Math.max(known.upTo, upTo);
        return known.rung;
      }
      const bell: { upTo: number; rung: Promise<Rung> } = { upTo, rung: Promise.resolve('rung') };
      const latest = Date.now() + RING_WAITS_MS;
      const sendBell = () =>
        toConversation({ tenantId, chatId, ...(channel !== undefined && { channel }) }, (start) => {
          waiting.delete(key);
          return client.workflow.signalWithStart(CONVERSATION_WORKFLOW, {
            ...start,
            signal: inboxChanged,
            signalArgs: [{ upTo: bell.upTo }],
          });
        });
      bell.rung = tracked(
        rings(async () => {
          await calm.calmOr(latest);
          return call(sendBell);
        }),
      );
      waiting.set(key, bell);
      return bell.rung;
    },
    say({ tenantId, chatId, ...what }) {
      return call(() =>
        toConversation({ tenantId, chatId }, (start) =>
          client.workflow.signalWithStart(CONVERSATION_WORKFLOW, {
            ...start,
            signal: say,
            signalArgs: [what],
          }),
        ),
      );
    },
    deskChanged({ tenantId, chatId, starts = false }) {
      const chat = { tenantId, chatId };
      return call(async () => {
        if (starts) {
          return toConversation(chat, (start) =>
            client.workflow.signalWithStart(CONVERSATION_WORKFLOW, {
              ...start,
              signal: deskChanged,
              signalArgs: [],
            }),
          );
        }
        try {
          await client.workflow.getHandle(conversationWorkflowId(chat)).signal(deskChanged);
          return 'rung';
        } catch (error) {
          if (error instanceof WorkflowNotFoundError) return 'rung';
          logger.warn('conversation.ring_failed', { ...chat, ...errorFacts(error) });
          return 'failed';
        }
      });
    },
    runEnded({ tenantId, chatId, turnId }) {
      return call(() =>
        toConversation({ tenantId, chatId }, (start) =>
          client.workflow.signalWithStart(CONVERSATION_WORKFLOW, {
            ...start,
            signal: runEnded,
            signalArgs: [{ turnId }],
          }),
        ),
      );
    },
    isRunClosed({ turnId }) {
      return call(async () => {
        try {
          const { status } = await client.workflow.getHandle(toolRunWorkflowId({ turnId })).describe();
          return status.name !== 'RUNNING';
        } catch (error) {
          if (error instanceof WorkflowNotFoundError) return true;
          logger.warn('run.look_failed', { turnId, ...errorFacts(error) });
          return undefined;
        }
      });
    },
    wakeRun({ turnId, approvalId }) {
      return call(async () => {
        try {
          await client.workflow
            .getHandle(toolRunWorkflowId({ turnId }))
            .signal(decideApproval, { approvalId });
          return 'woken';
        } catch (error) {
          if (error instanceof WorkflowNotFoundError) return 'no_run';
          logger.warn('approval.wake_failed', { turnId, approvalId, ...errorFacts(error) });
          return 'failed';
        }
      });
    },
    async isReachable() {
      try {
        const { namespace } = client.options;
        await client.withDeadline(Date.now() + HEALTH_DEADLINE_MS, () =>
          client.workflowService.describeNamespace({ namespace }),
        );
        return true;
      } catch {
        return false;
      }
    },
    async settled() {
      await Promise.allSettled(underWay);
    },
  };
}

interface Start {
  workflowId: string;
  taskQueue: string;
  args: [ConversationInput];
  staticSummary: string;
}
