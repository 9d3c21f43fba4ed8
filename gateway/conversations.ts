// The only client calls to Temporal: rings and signals. A lost one costs seconds, never a message, because Postgres
// knows what is due and the sweep rings again; so failures are logged here and go no further.
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { errorFacts, type Logger } from '../config/logger.js';
import {
  CONVERSATION_WORKFLOW,
  inboxChanged,
  say,
  type ConversationInput,
  type InboxChanged,
  type Say,
} from '../workflows/conversation/contract.js';
import { conversationWorkflowId, TASK_QUEUE, toolRunWorkflowId } from '../workflows/domain/ids.js';
import { decideApproval } from '../workflows/tool-run/contract.js';

export interface ChatRef {
  tenantId: string;
  chatId: string;
}

export type Rung = 'rung' | 'failed';
export type Woken = 'woken' | 'no_run' | 'failed';

/** What the gateway asks of Temporal. None of these rejects: the outcome is the value. */
export interface Conversations {
  /** Tells the chat's conversation, started where there is none, that the inbox has rows up to `upTo`. */
  ring(bell: ChatRef & InboxChanged): Promise<Rung>;
  /** Hands the conversation words of a run again, which it hasn't delivered yet. */
  say(what: ChatRef & Say): Promise<Rung>;
  /** Wakes the run that waits for this approval; it looks at the row itself. */
  wakeRun(decided: { turnId: string; approvalId: string }): Promise<Woken>;
  /** Temporal answers, within 3 s. */
  isReachable(): Promise<boolean>;
  /** All calls under way have ended. */
  settled(): Promise<void>;
}

/** Enough for bursts; more only queues up inside Temporal's frontend. */
const CALLS_AT_ONCE = 16;
/** A ring that takes longer is given up: the sweep comes by every 5 s anyway. */
const CALL_DEADLINE_MS = 5_000;
const HEALTH_DEADLINE_MS = 3_000;

export function createConversations(deps: { client: Client; logger: Logger }): Conversations {
  const { client, logger } = deps;
  const limit = pLimit(CALLS_AT_ONCE);
  const underWay = new Set<Promise<unknown>>();
  // Bells that wait for their turn, by chat: a later one raises the number of the waiting one instead of queueing up.
  const waiting = new Map<string, { upTo: number; rung: Promise<Rung> }>();

  function call<T>(work: () => Promise<T>): Promise<T> {
    const promise = limit(() => client.withDeadline(Date.now() + CALL_DEADLINE_MS, work));
    underWay.add(promise);
    const done = () => underWay.delete(promise);
    promise.then(done, done);
    return promise;
  }

  async function toConversation(chat: ChatRef, send: (start: Start) => Promise<unknown>): Promise<Rung> {
    try {
      await send({
        workflowId: conversationWorkflowId(chat),
        taskQueue: TASK_QUEUE,
        args: [{ tenantId: chat.tenantId, chatId: chat.chatId }],
        staticSummary: 'conversation on web',
      });
      return 'rung';
    } catch (error) {
      logger.warn('conversation.ring_failed', { ...chat, ...errorFacts(error) });
      return 'failed';
    }
  }

  return {
    ring({ tenantId, chatId, upTo }) {
      const key = `${tenantId}/${chatId}`;
      const known = waiting.get(key);
      if (known) {
        known.upTo = Math.max(known.upTo, upTo);
        return known.rung;
      }
      const bell: { upTo: number; rung: Promise<Rung> } = { upTo, rung: Promise.resolve('rung') };
      bell.rung = call(() =>
        toConversation({ tenantId, chatId }, (start) => {
          waiting.delete(key);
          return client.workflow.signalWithStart(CONVERSATION_WORKFLOW, {
            ...start,
            signal: inboxChanged,
            signalArgs: [{ upTo: bell.upTo }],
          });
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
