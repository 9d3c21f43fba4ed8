// The platform's 24-hour window (spec G6): free text may be sent for 24 hours after the customer last wrote; later only
// approved templates. The web chat has no such window.
import type { Scope } from './scope.js';

const WINDOW_MS = 24 * 60 * 60 * 1000;
/** A message that leaves in the last moment arrives too late. */
const MARGIN_MS = 30_000;

/** Channels whose platform keeps such a window. */
const WINDOWED = ['whatsapp-cloud'];

export interface ReplyWindow {
  /** Free text may be sent now. */
  isOpen: boolean;
  /** Absent: the channel has no window, or the customer has never written. */
  closesAt?: Date;
}

/** What the rows say of one chat at one moment. */
export function windowAt(
  { channel, customerWroteAt }: { channel: string; customerWroteAt: Date | null },
  now: Date,
): ReplyWindow {
  if (!WINDOWED.includes(channel)) return { isOpen: true };
  if (customerWroteAt === null) return { isOpen: false };
  const closesAt = new Date(customerWroteAt.getTime() + WINDOW_MS);
  return { isOpen: now.getTime() < closesAt.getTime() - MARGIN_MS, closesAt };
}

/** Whether free text may be sent in this chat now, and until when. */
export async function windowOf(scope: Scope, chatId: string, now: Date): Promise<ReplyWindow> {
  const { account, customerWroteAt } = await scope.tx.chat.findUniqueOrThrow({
    where: { id: chatId },
    select: { customerWroteAt: true, account: { select: { channel: true } } },
  });
  return windowAt({ channel: account.channel, customerWroteAt }, now);
}

/** When the windows of these chats close, by chat id; a chat without a window is missing. For lists of approvals. */
export async function windowClosesAt(scope: Scope, chatIds: readonly string[]): Promise<Map<string, Date>> {
  const rows = await scope.tx.chat.findMany({
    where: { id: { in: [...new Set(chatIds)] } },
    select: { id: true, customerWroteAt: true, account: { select: { channel: true } } },
  });
  const now = new Date();
  return new Map(
    rows.flatMap(({ id, account, customerWroteAt }): [string, Date][] => {
      const { closesAt } = windowAt({ channel: account.channel, customerWroteAt }, now);
      return closesAt ? [[id, closesAt]] : [];
    }),
  );
}
