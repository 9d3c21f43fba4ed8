// Golden histories of a staffed desk: sessions with grace and pauses, people who answer first, owners who decide in a chat.
import { randomUUID } from 'node:crypto';
import type { Policy } from '../../config/configuration.js';
import { conversationWorkflowId } from '../../workflows/domain/ids.js';
import { until, type Desk } from '../desk.js';
import { ASK, book, takeOver, type Scene, type SceneGroup } from './scene.js';

async function untilEnded(desk: Desk, chat: string): Promise<void> {
  const handle = desk.client.workflow.getHandle(
    conversationWorkflowId({ tenantId: desk.tenantId, chatId: await desk.chatId(chat) }),
  );
  await until(
    async () => ((await handle.describe()).status.name === 'COMPLETED' ? true : undefined),
    60_000,
    `the conversation of ${chat} to end`,
  );
}

const STAFFED: Record<string, Scene> = {
  async 'session-with-grace'(desk, chat) {
    await desk.send(chat, 'Hello!');
    await desk.repliesWithin(chat, 1);
    await desk.settled(await desk.send(chat, 'I have a question'), 60_000);
    await desk.send(chat, 'Thank you');
    await desk.settled(await desk.send(chat, 'Thanks!'), 60_000);
    await untilEnded(desk, chat);
  },
  async 'session-of-a-person'(desk, chat) {
    await desk.send(chat, 'Hello!');
    await desk.repliesWithin(chat, 1);
    await takeOver(desk, chat, new Date(Date.now() + 3_000));
    await untilEnded(desk, chat);
  },
  async 'words-held'(desk, chat) {
    await desk.model.script({ match: 'free', withTools: true, delayMs: 2_000 });
    const id = await desk.send(chat, ASK);
    await until(
      async () => {
        const count = await desk.observer.inTenant(desk.tenantId, (tx) =>
          tx.toolRun.count({ where: { open: true } }),
        );
        return count > 0 ? true : undefined;
      },
      60_000,
      'the run to start',
    );
    await takeOver(desk, chat, new Date(Date.now() + 5_000));
    await desk.settled(id, 60_000);
    await desk.model.clear();
  },
};

/** Quick enough for a recording, with every kind of wait in it. */
export const staffed: SceneGroup = {
  desk: {
    configure: (shipped) => ({
      ...shipped,
      profiles: {
        ...shipped.profiles,
        quick: {
          graceMs: 2_500,
          debounceMs: 600,
          debounceMaxMs: 900,
          acknowledgeAfterMs: 4_000,
          inactivityMs: 7_000,
          leaseMs: 4_000,
        },
      },
      channels: { ...shipped.channels, web: { ...shipped.channels.web, profile: 'quick' } },
      assistant: { ...shipped.assistant, firstMessage: { en: 'Welcome to the desk.' } },
    }),
  },
  scenes: STAFFED,
};

/** An owner writes in a web chat of their own. */
async function sayAsOwner(desk: Desk, chat: string, text: string): Promise<void> {
  const [owner] = desk.configuration.owners;
  if (!owner) throw new Error('the shipped configuration has an owner');
  const externalId = randomUUID();
  await desk.inbox.acceptMessage({
    channel: 'web',
    accountKey: desk.configuration.channels.web.accountKey,
    chatAddress: chat,
    externalId,
    kind: 'text',
    text,
    speaker: `owner:${owner.id}`,
    arrival: 'owner_command',
  });
  await desk.settled(externalId, 60_000);
}

const OWNED: Record<string, Scene> = {
  /** The owner's own chat; the customer's is another golden history. */
  async 'owner-commands'(desk, chat) {
    await sayAsOwner(desk, chat, 'STATUS');
    const id = await desk.send(`${chat}-customer`, book('16:30'));
    const { ref } = await desk.openApproval();
    await sayAsOwner(desk, chat, `APPROVE ${ref}`);
    await desk.settled(id, 60_000);
  },
  async 'owner-told-and-reminded'(desk, chat) {
    await sayAsOwner(desk, `${chat}-owner`, 'STATUS');
    const id = await desk.send(chat, book('15:30'));
    const { ref, approvalId } = await desk.openApproval();
    await until(
      async () => {
        const { remindedAt } = await desk.observer.inTenant(desk.tenantId, (tx) =>
          tx.approval.findUniqueOrThrow({ where: { id: approvalId } }),
        );
        return remindedAt ?? undefined;
      },
      120_000,
      'the reminder',
    );
    await desk.decide(ref, 'reject');
    await desk.settled(id, 60_000);
  },
};

/** A minute is the shortest time in which a rule can remind. */
const remindSoon = {
  name: 'remind-soon',
  when: { effects: ['reversible', 'irreversible'] },
  then: 'approve',
  expiresAfterMinutes: 30,
  remindAfterMinutes: 1,
} as const;

export const owned: SceneGroup = {
  desk: {
    configure: (shipped) => ({
      ...shipped,
      policy: {
        ...shipped.policy,
        rules: [{ ...remindSoon, when: { effects: [...remindSoon.when.effects] } }, ...shipped.policy.rules],
      },
    }),
  },
  scenes: OWNED,
};

const AGREED: Record<string, Scene> = {
  async 'two-approvers'(desk, chat) {
    const id = await desk.send(chat, book('12:30'));
    const { ref } = await desk.openApproval();
    for (const owner of desk.configuration.owners.slice(0, 2)) {
      await desk.decisions.decideApproval({
        tenantId: desk.tenantId,
        key: { ref },
        decision: 'approve',
        approver: { surface: 'console', id: owner.id },
      });
    }
    await desk.settled(id, 60_000);
  },
};

const bothAgree = {
  name: 'both-agree',
  when: { effects: ['reversible'] },
  then: 'approve',
  needed: 2,
  expiresAfterMinutes: 30,
} satisfies Policy['rules'][number];

/** A request that takes the yes of two. */
export const agreed: SceneGroup = {
  desk: {
    configure: (shipped) => ({
      ...shipped,
      owners: ['first', 'second'].map((owner) => ({
        id: owner,
        name: owner,
        addresses: { whatsapp: [] },
        groups: [],
      })),
      policy: { ...shipped.policy, rules: [bothAgree, ...shipped.policy.rules] },
    }),
  },
  scenes: AGREED,
};
