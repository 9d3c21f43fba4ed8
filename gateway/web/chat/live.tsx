// A chat as its page follows it: each message as the bubble that the page shows.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { errorFacts } from '../../../config/logger.js';
import type { RouteDeps } from '../../deps.js';
import { followChat, parseCursor } from '../../follow-chat.js';
import { openStream } from '../../stream.js';
import { dayInWords, type Clock } from '../components/time.js';
import { Bubble } from './bubble.js';

const from = z.object({ after: z.string() });

/** Answers with an event stream, from where the page has asked, until one of both goes away. */
export function followInBrowser(
  deps: RouteDeps,
  page: { address: string; clock: () => Clock; request: FastifyRequest; reply: FastifyReply },
): void {
  const { desk, streams, logger } = deps;
  const { address, clock, request, reply } = page;
  const asked = from.safeParse(request.query);
  const resumed = request.headers['last-event-id'];
  const stream = openStream(request, reply, streams);
  const { accountKey } = desk.configuration.channels.web;
  const stop = followChat(
    deps,
    { tenantId: desk.tenantId, channel: 'web', accountKey, address },
    parseCursor(resumed === undefined ? asked.data?.after : String(resumed)),
    {
      message(message, cursor) {
        const data = {
          id: message.id,
          sequence: message.sequence,
          own: message.from === 'customer',
          day: dayInWords(message.at, clock()),
          html: inOnePiece(<Bubble message={message} clock={clock()} />),
        };
        stream.send({ event: 'message', id: cursor, data: JSON.stringify(data) });
      },
      progress(progress) {
        stream.send({ event: 'progress', data: progress });
      },
      failed(error) {
        logger.warn('stream.failed', errorFacts(error));
        stream.end();
      },
    },
  );
  stream.onEnd(stop);
}

/** Components that wait for nothing are text already. */
function inOnePiece(element: JSX.Element): string {
  if (typeof element !== 'string') throw new Error('a bubble waits for something');
  return element;
}
