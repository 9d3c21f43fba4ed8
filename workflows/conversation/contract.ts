// All that outsiders import of a conversation: its input and its signals.
import { defineSignal } from '@temporalio/workflow';
import type { SayKind } from '../domain/message.js';

export interface ConversationInput {
  tenantId: string;
  chatId: string;
  /** Carried over continue-as-new; absent at a fresh start, when Postgres knows what is unfinished. */
  doneUpTo?: number;
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

export const CONVERSATION_WORKFLOW = 'conversationWorkflow';
export const inboxChanged = defineSignal<[InboxChanged]>('inboxChanged');
export const say = defineSignal<[Say]>('say');
