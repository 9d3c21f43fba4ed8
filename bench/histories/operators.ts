// Golden histories of a question to an operator: its messages leave with the run that asks it.
import { createHash, randomUUID } from 'node:crypto';
import { createGraphClient } from '../../activities/whatsapp-cloud/graph.js';
import { ACCOUNT, DOCTORS, practice, TOKEN, TOOL } from '../../test/activities/operators/practice.js';
import { startFakeGraph, type FakeGraph } from '../../test/support/graph/server.js';
import type { MessageDetails, Speaker } from '../../workflows/domain/incoming.js';
import { until, type Desk } from '../desk.js';
import type { SceneGroup } from './scene.js';

const PICTURE = new Uint8Array(Buffer.from('not really a picture, but bytes of one'));
const QUESTION = 'Please ask the doctor whether this is dangerous';

interface Written {
  text: string;
  speaker?: Speaker;
  details?: MessageDetails;
}

async function write(desk: Desk, chat: string, { text, speaker = 'customer', details }: Written) {
  const externalId = `wamid.${randomUUID()}`;
  await desk.inbox.acceptMessage({
    channel: 'whatsapp-cloud',
    accountKey: ACCOUNT,
    chatAddress: chat,
    externalId,
    kind: details ? 'image' : 'text',
    text,
    details,
    speaker,
    arrival: speaker === 'customer' ? 'turn' : 'operator_reply',
  });
  return externalId;
}

let graph: FakeGraph | undefined;

/** Both doctors and their patients write on WhatsApp. */
export const askingOperators: SceneGroup = {
  desk: { configure: practice },
  async beside() {
    const server = await startFakeGraph({
      numbers: [{ accountKey: ACCOUNT, displayNumber: '+15550107000' }],
      token: TOKEN,
    });
    graph = server;
    return {
      desk: { graph: createGraphClient({ secrets: { get: () => TOKEN }, baseUrl: server.url }) },
      stop: () => server.close(),
    };
  },
  scenes: {
    async 'operator-asked'(desk, chat) {
      const speaker = 'operator:ayla';
      await desk.settled(await write(desk, DOCTORS.ayla, { text: 'Good morning', speaker }), 60_000);
      const media = {
        id: graph?.addMedia({ content: PICTURE, mimeType: 'image/jpeg' }) ?? '',
        mimeType: 'image/jpeg',
        sha256: createHash('sha256').update(PICTURE).digest('base64'),
      };
      await desk.settled(await write(desk, chat, { text: '[photo]', details: { media } }), 60_000);
      const toolUse = [{ name: TOOL, input: { question: QUESTION, operator: 'ayla' } }];
      await desk.model.script({ match: QUESTION, withTools: true, toolUse });
      await desk.settled(await write(desk, chat, { text: QUESTION }), 60_000);
      const ref = await until(
        async () => {
          const [request] = await desk.observer.inTenant(desk.tenantId, (tx) =>
            tx.operatorRequest.findMany({ where: { state: 'open' }, select: { ref: true } }),
          );
          return request?.ref;
        },
        60_000,
        'the question',
      );
      await write(desk, DOCTORS.ayla, { text: `${ref} it is harmless`, speaker });
      await until(
        async () =>
          graph?.taken().find(({ recipient, request }) => {
            return recipient === chat && JSON.stringify(request).includes('it is harmless');
          }),
        60_000,
        'the patient to hear the answer',
      );
    },
  },
};
