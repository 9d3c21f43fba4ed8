// A desk with two owners and a number on WhatsApp, and what a test does with it: ask for something that needs a yes, and speak
// as an owner from wherever owners speak.
import { randomUUID } from 'node:crypto';
import { DateTime } from 'luxon';
import { createGraphClient } from '../../../activities/whatsapp-cloud/graph.js';
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { Tx } from '../../../prisma/database.js';
import { outboxText } from '../../../prisma/stores/outbox.js';
import type { MessageDetails } from '../../../workflows/domain/incoming.js';
import { startDesk, until, type Desk, type DeskOptions } from '../../support/desk.js';
import { startFakeGraph, type FakeGraph } from '../../support/graph/server.js';

export const ACCOUNT = '100000000000001';
/** As the platform gives numbers: without a plus. */
export const PHONES = { ada: '15550100001', bo: '15550100002' } as const;
export type OwnerId = keyof typeof PHONES;

export interface Asked {
  ref: string;
  approvalId: string;
  stepId: string;
  turnId: string;
  chat: string;
  date: string;
  time: string;
}

export interface Said {
  channel?: 'web' | 'whatsapp-cloud';
  quoted?: string;
  button?: string;
  emoji?: string;
  isForwarded?: true;
  /** By the platform's clock. Absent: it doesn't say. */
  sentAt?: Date;
}

export interface OwnerDesk {
  desk: Desk;
  graph: FakeGraph;
  /** A time that nothing else in this file asks for. */
  slot(): { date: string; time: string };
  /** A customer asks for a booking; waits until an owner is asked. */
  ask(options?: { chat?: string; date?: string; time?: string }): Promise<Asked>;
  /** An owner writes, quotes, presses or reacts; answers what they are told. */
  say(owner: OwnerId, text: string, how?: Said): Promise<string>;
  /** The platform's id of a message of ours to an owner that holds this text. */
  noticeTo(owner: OwnerId, text: string, channel?: 'web' | 'whatsapp-cloud'): Promise<string>;
  /** What was sent to an owner on WhatsApp, as words. */
  sentTo(owner: OwnerId): string[];
  inDesk<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The state of a request, and its step's. */
  stateOf(approvalId: string): Promise<{ approval: string; step: string }>;
  /** Waits for what the customer is told in the end. */
  told(asked: Asked, count?: number): Promise<string>;
  isBooked(slot: { date: string; time: string }): Promise<boolean>;
  /** Lets its time be over. */
  expire(approvalId: string): Promise<void>;
  refusals(filter: { subjectId?: string; actor?: string }): Promise<unknown[]>;
  stop(): Promise<void>;
}

const TIMES = [
  '09:00',
  '09:30',
  '10:00',
  '10:30',
  '11:00',
  '11:30',
  '13:30',
  '14:00',
  '15:00',
  '16:00',
  '17:00',
];

export async function startOwnerDesk(
  change: (configuration: TenantConfiguration) => TenantConfiguration = (same) => same,
  { wrapDeps }: Pick<DeskOptions, 'wrapDeps'> = {},
): Promise<OwnerDesk> {
  const number = { accountKey: ACCOUNT, displayNumber: '+15550100000' };
  const graph = await startFakeGraph({ numbers: [number], token: 'good-token' });
  const desk = await startDesk({
    graph: createGraphClient({ secrets: { get: () => 'good-token' }, baseUrl: graph.url }),
    configure: (shipped) => change(withOwners(shipped)),
    ...(wrapDeps && { wrapDeps }),
  });
  const { timeZone } = desk.configuration.business;
  const inDesk: OwnerDesk['inDesk'] = (work) => desk.database.inTenant(desk.tenantId, work);
  let slots = 0;
  let chats = 0;

  function slot(): { date: string; time: string } {
    const day = DateTime.now()
      .setZone(timeZone)
      .plus({ days: 1 + Math.floor(slots / TIMES.length) });
    const weekday = day.weekday > 5 ? day.plus({ days: 8 - day.weekday + 21 }) : day;
    const time = TIMES[slots % TIMES.length] ?? '';
    slots += 1;
    return { date: weekday.toISODate() ?? '', time };
  }

  async function send(owner: OwnerId, text: string, how: Said): Promise<string> {
    const { channel = 'whatsapp-cloud', quoted, button, emoji, isForwarded, sentAt } = how;
    const details: MessageDetails = {
      ...(button !== undefined && { payload: button }),
      ...(emoji !== undefined && { emoji }),
      ...(isForwarded && { isForwarded }),
    };
    const kind = emoji !== undefined ? 'reaction' : button !== undefined ? 'button' : 'text';
    const { messageId } = await desk.inbox.acceptMessage({
      channel,
      accountKey: channel === 'web' ? desk.configuration.channels.web.accountKey : ACCOUNT,
      chatAddress: channel === 'web' ? `owner-${owner}` : PHONES[owner],
      externalId: `wamid.${randomUUID()}`,
      kind,
      text,
      details,
      speaker: `owner:${owner}`,
      arrival: 'owner_command',
      quotedExternalId: quoted,
      sentAt,
    });
    return messageId;
  }

  const owners: OwnerDesk = {
    desk,
    graph,
    slot,
    inDesk,
    async ask({ chat = `customer-${(chats += 1)}`, ...wanted } = {}) {
      const { date, time } = { ...slot(), ...wanted };
      const text = `Book ${date} at ${time} please`;
      const toolUse = [{ name: 'reserve_slot', input: { date, time } }];
      await desk.model.script({ match: text, withTools: true, toolUse });
      const externalId = await desk.send(chat, text);
      const row = await until(
        () =>
          inDesk(async (tx) => {
            const { id } = await tx.inbox.findFirstOrThrow({ where: { externalId }, select: { id: true } });
            // A turn has the id of its first message.
            return (await tx.approval.findFirst({ where: { turnId: id, state: 'open' } })) ?? undefined;
          }),
        60_000,
        'an owner to be asked',
      );
      return {
        ref: row.ref,
        approvalId: row.id,
        stepId: row.stepId,
        turnId: row.turnId,
        chat,
        date,
        time,
      };
    },
    async say(owner, text, how = {}) {
      const messageId = await send(owner, text, how);
      const outboxId = await until(
        () =>
          inDesk(async (tx) => {
            const row = await tx.outbox.findFirst({
              where: { turnId: messageId, state: { in: ['sent', 'failed'] } },
              select: { id: true },
            });
            return row?.id;
          }),
        60_000,
        `an answer to "${text}"`,
      );
      return (await desk.inScope(desk.tenantId, (scope) => outboxText(scope, outboxId))) ?? '';
    },
    async noticeTo(owner, text, channel = 'whatsapp-cloud') {
      const address = channel === 'web' ? `owner-${owner}` : PHONES[owner];
      return until(
        async () => {
          const rows = await inDesk(async (tx) => {
            const addressHmac = Buffer.from(await hmacOf(desk, address));
            return tx.outbox.findMany({
              where: {
                state: 'sent',
                originKind: { startsWith: 'approval_' },
                chatId: await chatOf(tx, addressHmac),
              },
              orderBy: { sequence: 'desc' },
            });
          });
          for (const { id, externalId } of rows) {
            const said = await desk.inScope(desk.tenantId, (scope) => outboxText(scope, id));
            if (said?.includes(text)) return externalId ?? id;
          }
          return undefined;
        },
        60_000,
        `a notice with "${text}"`,
      );
    },
    sentTo: (owner) =>
      graph
        .taken()
        .filter(({ recipient }) => recipient === PHONES[owner])
        .map(({ request }) => JSON.stringify(request)),
    stateOf: (approvalId) =>
      inDesk(async (tx) => {
        const row = await tx.approval.findUniqueOrThrow({
          where: { id: approvalId },
          include: { step: true },
        });
        return { approval: row.state, step: row.step.state };
      }),
    async told({ chat }, count = 2) {
      return (await desk.repliesWithin(chat, count, 60_000)).at(-1)?.text ?? '';
    },
    async isBooked({ date, time }) {
      const startsAt = DateTime.fromISO(`${date}T${time}`, { zone: timeZone }).toJSDate();
      return (await inDesk((tx) => tx.booking.count({ where: { startsAt, state: 'reserved' } }))) === 1;
    },
    async expire(approvalId) {
      await inDesk((tx) =>
        tx.approval.update({ where: { id: approvalId }, data: { expiresAt: new Date() } }),
      );
    },
    refusals: (filter) =>
      inDesk(async (tx) => {
        const rows = await tx.audit.findMany({
          where: { ...filter, event: { in: ['approval_refused', 'approval_code_refused'] } },
          orderBy: { happenedAt: 'asc' },
        });
        return rows.map(({ event, facts }) => ({ event, ...(facts as object) }));
      }),
    async stop() {
      await desk.stop();
      await graph.close();
    },
  };
  return owners;
}

function withOwners(shipped: TenantConfiguration): TenantConfiguration {
  const owner = (id: OwnerId): TenantConfiguration['owners'][number] => ({
    id,
    name: id === 'ada' ? 'Ada' : 'Bo',
    addresses: { whatsapp: [`+${PHONES[id]}`] },
    groups: [],
  });
  return {
    ...shipped,
    owners: [owner('ada'), owner('bo')],
    channels: {
      ...shipped.channels,
      whatsapp: [
        {
          accountKey: ACCOUNT,
          displayNumber: '+15550100000',
          profile: 'instant',
          graphVersion: 'v23.0',
          messagesPerSecond: 80,
          accessToken: 'token',
          appSecrets: ['secret'],
          verifyToken: 'verify',
          templates: { approvalRequest: { name: 'approval_request', language: 'en' } },
        },
      ],
    },
    limits: { ...shipped.limits, openApprovalsPerChat: 50, approvalsPerChatAndHour: 500 },
  };
}

async function hmacOf(desk: Desk, address: string): Promise<Uint8Array> {
  return desk.inScope(desk.tenantId, (scope) => Promise.resolve(scope.content.hmacAddress(address)));
}

async function chatOf(tx: Tx, addressHmac: Buffer<ArrayBuffer>): Promise<string> {
  const chat = await tx.chat.findFirst({ where: { addressHmac }, select: { id: true } });
  return chat?.id ?? '00000000-0000-0000-0000-000000000000';
}
