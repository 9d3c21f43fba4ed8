// Ids are made by functions, so that the two ends of a wire can't disagree about their form. They are opaque: a
// workflow id reaches logs, the Temporal UI and metrics, so it never holds a name, a number or a text.

/** The one task queue of the worker. web.js accounts will have queues of their own (design: deliveries). */
export const TASK_QUEUE = 'aroko';

/** One conversation workflow per chat; a new one of the same id follows when the last has ended. */
export function conversationWorkflowId(chat: { tenantId: string; chatId: string }): string {
  return `conversation/${chat.tenantId}/${chat.chatId}`;
}

/** One run per flagged turn, for ever: the row `tool_runs(turn_id)` guards what Temporal forgets after retention. */
export function toolRunWorkflowId(turn: { turnId: string }): string {
  return `tool-run/${turn.turnId}`;
}
