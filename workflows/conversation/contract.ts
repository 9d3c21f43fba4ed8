// All that outsiders import of a conversation: its input and its signals.
import { defineSignal } from '@temporalio/workflow';
import type { SayKind } from '../domain/message.js';
import type { SessionOpened } from '../domain/session.js';

export interface ConversationInput {
  tenantId: string;
  chatId: string;
  /** Carried over continue-as-new; absent at a fresh start, when Postgres knows what is unfinished. */
  doneUpTo?: number;
  /** The open session, carried over in the same way. */
  session?: SessionOpened;
}

/** A doorbell: rows up to this inbox sequence are committed. Lost, doubled or late bells change nothing. */
export interface InboxChanged {
  upTo: number;
}

/** A run has written something for the customer; only the conversation delivers it. */
export interface Say {
  turnId: string;
  outboxId: string;
  kind: SayKind;
  /** The run says nothing more after this. */
  final: boolean;
}

/** Somebody has looked and found the workflow of this turn's run closed, without a last word in the outbox. */
export interface RunEnded {
  turnId: string;
}

export const CONVERSATION_WORKFLOW = 'conversationWorkflow';
export const inboxChanged = defineSignal<[InboxChanged]>('inboxChanged');
export const say = defineSignal<[Say]>('say');
/** A doorbell without content: the chat was taken or given back, its session was ended by hand, an operator has answered. */
export const deskChanged = defineSignal('deskChanged');
export const runEnded = defineSignal<[RunEnded]>('runEnded');
