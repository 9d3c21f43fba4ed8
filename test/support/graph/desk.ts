// A desk whose WhatsApp number is answered by the fake Graph server: real Postgres, Temporal, worker and HTTP. Statuses go back
// the way they do from the gateway.
import { randomBytes } from 'node:crypto';
import { createGraphClient } from '../../../activities/whatsapp-cloud/graph.js';
import type { WhatsappAccount } from '../../../config/configuration.js';
import type { DeskOptions } from '../../../bench/desk.js';
import { startDesk, type Desk } from '../desk.js';
import { startFakeGraph, type FakeGraph, type FakeGraphOptions } from './server.js';

const TOKEN = 'fake-token';

export interface WhatsAppDesk {
  desk: Desk;
  fake: FakeGraph;
  account: WhatsappAccount;
  /** A customer writes; answers the id of the message. */
  write(from: string, body: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startWhatsAppDesk(
  account: WhatsappAccount,
  { graph = {}, ...options }: Omit<DeskOptions, 'graph'> & { graph?: Omit<FakeGraphOptions, 'numbers'> } = {},
): Promise<WhatsAppDesk> {
  const { accountKey, displayNumber } = account;
  const fake = await startFakeGraph({
    ...graph,
    numbers: [{ accountKey, displayNumber: displayNumber.slice(1) }],
    token: TOKEN,
  });
  const { configure = (same) => same } = options;
  const desk = await startDesk({
    ...options,
    configure: (shipped) => {
      const configured = configure(shipped);
      return { ...configured, channels: { ...configured.channels, whatsapp: [account] } };
    },
    graph: createGraphClient({ secrets: { get: () => TOKEN }, baseUrl: fake.url, sendTimeoutMs: 2_000 }),
  });
  return {
    desk,
    fake,
    account,
    async write(from, body) {
      const externalId = `wamid.${randomBytes(12).toString('hex')}`;
      await desk.inbox.acceptMessage({
        channel: 'whatsapp-cloud',
        accountKey,
        chatAddress: from,
        externalId,
        kind: 'text',
        text: body,
        sentAt: new Date(),
      });
      return externalId;
    },
    async stop() {
      await desk.stop();
      await fake.close();
    },
  };
}
