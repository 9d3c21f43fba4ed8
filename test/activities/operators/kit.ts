// The practice with a desk, a Graph server that takes what is sent, and a clock that is moved by hand.
import { randomUUID } from 'node:crypto';
import { createGraphClient } from '../../../activities/whatsapp-cloud/graph.js';
import type { TenantConfiguration } from '../../../config/configuration.js';
import { createOperatorClock } from '../../../gateway/operator-clock.js';
import type { Tx } from '../../../prisma/database.js';
import type { MessageDetails, Speaker } from '../../../workflows/domain/incoming.js';
import { startDesk, until, type Desk } from '../../support/desk.js';
import { startFakeGraph, type FakeGraph } from '../../support/graph/server.js';
import { ACCOUNT, practice, TOKEN, TOOL, type DoctorId } from './practice.js';

export const PATIENT = '15550107001';
export const PICTURE = new Uint8Array(Buffer.from('not really a picture, but bytes of one'));

type OperatorRequestRow = NonNullable<Awaited<ReturnType<Tx['operatorRequest']['findFirst']>>>;

export interface Practice {
  desk: Desk;
  graph: FakeGraph;
  /** One round of the operators' clock. */
  tick(): Promise<number>;
  write(from: string, text: string, how?: How): Promise<string>;
  /** What was sent to somebody, as it was put to the platform. */
  bodies(to: string): string[];
  hears(to: string, text: string | RegExp): Promise<string>;
  inDesk<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A patient asks something that goes to a doctor; answers the request as it was opened. */
  ask(doctor: DoctorId, question: string, patient?: string): Promise<OperatorRequestRow>;
  /** What the gateway's sweep does after a while: hands planned words over. */
  deliverPlanned(): Promise<void>;
  wamidOf(to: string, text: string): Promise<string>;
  stop(): Promise<void>;
}

interface How {
  speaker?: Speaker;
  quoted?: string;
  details?: MessageDetails;
  kind?: 'text' | 'image' | 'voice';
}

export async function startPractice(
  configure: (configuration: TenantConfiguration) => TenantConfiguration = practice,
  /** By tenant id, for the clock. Absent: all are the practice's. */
  configurationOf?: (tenantId: string, own: Desk) => TenantConfiguration | undefined,
): Promise<Practice> {
  const graph = await startFakeGraph({
    numbers: [{ accountKey: ACCOUNT, displayNumber: '+15550107000' }],
    token: TOKEN,
  });
  const desk = await startDesk({
    graph: createGraphClient({ secrets: { get: () => TOKEN }, baseUrl: graph.url }),
    configure,
  });
  const clock = createOperatorClock({
    database: desk.database,
    inScope: desk.inScope,
    conversations: desk.conversations,
    configurationOf: (tenantId) => (configurationOf ? configurationOf(tenantId, desk) : desk.configuration),
    logger: desk.log,
  });

  async function write(from: string, text: string, how: How = {}): Promise<string> {
    const { speaker = 'customer', quoted, details, kind = 'text' } = how;
    const externalId = `wamid.${randomUUID()}`;
    await desk.inbox.acceptMessage({
      channel: 'whatsapp-cloud',
      accountKey: ACCOUNT,
      chatAddress: from,
      externalId,
      kind,
      text,
      details,
      speaker,
      arrival: speaker === 'customer' ? 'turn' : 'operator_reply',
      quotedExternalId: quoted,
    });
    return externalId;
  }

  const bodies = (to: string): string[] =>
    graph.taken().flatMap(({ recipient, request }) => (recipient === to ? [JSON.stringify(request)] : []));
  const hears = (to: string, text: string | RegExp): Promise<string> =>
    until(
      async () =>
        bodies(to).find((body) => (typeof text === 'string' ? body.includes(text) : text.test(body))),
      60_000,
      `${to} to hear ${String(text)}`,
    );
  const inDesk = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => desk.database.inTenant(desk.tenantId, work);

  /** A patient asks something that goes to a doctor; answers the request as it was opened. */
  async function ask(doctor: DoctorId, question: string, patient = PATIENT) {
    await desk.model.script({
      match: question,
      withTools: true,
      toolUse: [{ name: TOOL, input: { question, operator: doctor } }],
    });
    const externalId = await write(patient, question);
    const row = await until(
      () =>
        inDesk(async (tx) => {
          const message = await tx.inbox.findFirstOrThrow({ where: { externalId }, select: { id: true } });
          return (await tx.operatorRequest.findFirst({ where: { turnId: message.id } })) ?? undefined;
        }),
      60_000,
      'a request to be opened',
    );
    await desk.settled(externalId);
    return row;
  }

  /** What the gateway's sweep does after a while: hands planned words over. */
  async function deliverPlanned(): Promise<void> {
    const rows = await inDesk((tx) =>
      tx.outbox.findMany({
        where: { state: 'planned', turnId: null },
        orderBy: [{ plannedAt: 'asc' }, { ordinal: 'asc' }],
        select: { id: true, chatId: true },
      }),
    );
    for (const { id, chatId } of rows) {
      await desk.conversations.say({
        tenantId: desk.tenantId,
        chatId,
        turnId: id,
        outboxId: id,
        kind: 'answer',
        final: true,
      });
    }
  }

  async function wamidOf(to: string, text: string): Promise<string> {
    await hears(to, text);
    const sent = graph
      .taken()
      .find((each) => each.recipient === to && JSON.stringify(each.request).includes(text));
    return sent?.wamid ?? '';
  }

  return {
    desk,
    graph,
    tick: () => clock.tick(),
    write,
    bodies,
    hears,
    inDesk,
    ask,
    deliverPlanned,
    wamidOf,
    async stop() {
      await desk.stop();
      await graph.close();
    },
  };
}
