// A staffed desk with short times, on the web chat: the same code as on a phone's channel, where the commit is the delivery.
import { randomBytes } from 'node:crypto';
import type { TenantConfiguration } from '../../../config/configuration.js';
import { takeChat, releaseChat } from '../../../prisma/stores/takeover.js';
import { conversationWorkflowId } from '../../../workflows/domain/ids.js';
import type { Speaker } from '../../../workflows/domain/incoming.js';
import type { Profile } from '../../../workflows/domain/turn.js';
import { startDesk, until, type Desk } from '../../support/desk.js';

/** Long enough for a busy machine, short enough for a test. */
export const QUICK: Profile = {
  graceMs: 4_000,
  debounceMs: 1_500,
  debounceMaxMs: 2_500,
  acknowledgeAfterMs: 4_000,
  inactivityMs: 10_000,
  leaseMs: 4_000,
};

export const FIRST_MESSAGE = 'Welcome to the desk. Somebody will be with you.';

type Configure = (configuration: TenantConfiguration) => TenantConfiguration;

export interface QuickDesk extends Desk {
  /** A person writes in the chat: they have it until then, or until they give it back. `since`: it is committed. */
  personWrites(chat: string, until: Date): Promise<{ since: Date }>;
  personReleases(chat: string): Promise<void>;
  /** The lease of a person who has the chat runs out by itself, in two seconds. */
  leaseEndsSoon(chat: string): Promise<void>;
  writeAs(speaker: Speaker, chat: string, text: string): Promise<string>;
  /** All sessions of a chat, oldest first. */
  sessions(chat: string): Promise<{ state: string; by: string | null }[]>;
  sessionIs(chat: string, state: string, by?: string): Promise<void>;
  texts(chat: string): Promise<string[]>;
  conversationStatus(chat: string): Promise<string>;
}

export async function startQuickDesk({
  profile = {},
  configure = (same) => same,
}: { profile?: Partial<Profile>; configure?: Configure } = {}): Promise<QuickDesk> {
  const desk = await startDesk({
    configure: (shipped) =>
      configure({
        ...shipped,
        profiles: { ...shipped.profiles, quick: { ...QUICK, ...profile } },
        channels: { ...shipped.channels, web: { ...shipped.channels.web, profile: 'quick' } },
        assistant: { ...shipped.assistant, firstMessage: { en: FIRST_MESSAGE } },
      }),
  });
  const rung = async (chat: string): Promise<{ tenantId: string; chatId: string }> => {
    const at = { tenantId: desk.tenantId, chatId: await desk.chatId(chat) };
    await desk.conversations.deskChanged(at);
    return at;
  };
  const sessions: QuickDesk['sessions'] = async (chat) => {
    const chatId = await desk.chatId(chat);
    const rows = await desk.database.inTenant(desk.tenantId, (tx) =>
      tx.chatSession.findMany({ where: { chatId }, orderBy: { openedAt: 'asc' } }),
    );
    return rows.map(({ state, resolvedBy: by }) => ({ state, by }));
  };
  const { settled } = desk;
  return Object.assign(desk, {
    // Sessions wait, and a busy machine waits longer.
    settled: (externalId: string, withinMs = 60_000) => settled(externalId, withinMs),
    async personWrites(chat: string, until: Date) {
      const chatId = await desk.chatId(chat);
      await desk.inScope(desk.tenantId, (scope) => takeChat(scope, { chatId, by: 'business', until }));
      const since = new Date();
      await rung(chat);
      return { since };
    },
    async personReleases(chat: string) {
      const chatId = await desk.chatId(chat);
      await desk.inScope(desk.tenantId, (scope) => releaseChat(scope, { chatId, by: 'owner:ada' }));
      await rung(chat);
    },
    async leaseEndsSoon(chat: string) {
      const id = await desk.chatId(chat);
      const pausedUntil = new Date(Date.now() + 2_000);
      await desk.database.inTenant(desk.tenantId, (tx) =>
        tx.chat.update({ where: { id }, data: { pausedUntil } }),
      );
      await rung(chat);
    },
    async writeAs(speaker: Speaker, chat: string, text: string) {
      const externalId = randomBytes(8).toString('hex');
      await desk.inbox.acceptMessage({
        channel: 'web',
        accountKey: desk.configuration.channels.web.accountKey,
        chatAddress: chat,
        externalId,
        kind: 'text',
        text,
        speaker,
      });
      return externalId;
    },
    sessions,
    async sessionIs(chat: string, state: string, by?: string) {
      await until(
        async () => {
          const last = (await sessions(chat)).at(-1);
          return last?.state === state && (by === undefined || last.by === by) ? true : undefined;
        },
        60_000,
        `the session to be ${state}`,
      );
    },
    async texts(chat: string) {
      return (await desk.replies(chat)).map(({ text }) => text);
    },
    async conversationStatus(chat: string) {
      const where = { tenantId: desk.tenantId, chatId: await desk.chatId(chat) };
      const { status } = await desk.client.workflow.getHandle(conversationWorkflowId(where)).describe();
      return status.name;
    },
  });
}
