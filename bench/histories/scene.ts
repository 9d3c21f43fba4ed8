// What a golden history is made of: a scene in a chat of its own, on a desk that is set up for it.
import { takeChat, releaseChat } from '../../prisma/stores/takeover.js';
import { until, type Desk, type DeskOptions } from '../desk.js';

/** A kind of turn: what is said and done in a chat of its own, which has the name of the kind. */
export type Scene = (desk: Desk, chat: string) => Promise<void>;

export interface SceneGroup {
  desk: DeskOptions;
  scenes: Record<string, Scene>;
  /** What stands beside the desk, and how the desk knows it. */
  beside?: () => Promise<{ desk: DeskOptions; stop(): Promise<void> }>;
  /** Temporal suggests a new history after so many events. Absent: after thousands, as it does by itself. */
  suggestsNewAfter?: number;
}

export const ASK = 'Is anything free on Friday morning?';

/** Books a time that no other scene takes. */
export function book(time: string, day = 'Friday'): string {
  return `Book ${day} at ${time} please`;
}

/** A person has the chat until they give it back. */
export async function takeOver(desk: Desk, chat: string, untilAt?: Date): Promise<void> {
  const { tenantId } = desk;
  const chatId = await desk.chatId(chat);
  await desk.inScope(tenantId, (scope) => takeChat(scope, { chatId, by: 'business', until: untilAt }));
  await desk.conversations.deskChanged({ tenantId, chatId });
}

export async function giveBack(desk: Desk, chat: string): Promise<void> {
  const { tenantId } = desk;
  const chatId = await desk.chatId(chat);
  await desk.inScope(tenantId, (scope) => releaseChat(scope, { chatId, by: 'business' }));
  await desk.conversations.deskChanged({ tenantId, chatId });
}

export async function untilAudited(desk: Desk, chat: string, event: string): Promise<void> {
  const stream = await desk.chatId(chat);
  await until(
    async () => {
      const count = await desk.observer.inTenant(desk.tenantId, (tx) =>
        tx.audit.count({ where: { stream, event } }),
      );
      return count > 0 ? true : undefined;
    },
    60_000,
    `${event} in ${chat}`,
  );
}

/** Its run has taken note of what became of this request. */
export async function untilHeard(desk: Desk, approvalId: string): Promise<void> {
  await until(
    async () => {
      const { heardAt } = await desk.observer.inTenant(desk.tenantId, (tx) =>
        tx.approval.findUniqueOrThrow({ where: { id: approvalId } }),
      );
      return heardAt ?? undefined;
    },
    60_000,
    'the run to take note',
  );
}
