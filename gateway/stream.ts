// Server-sent events on one response: the wire format, the heartbeat and the end, in one place.
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Keeps proxies and phones from taking a silent stream for a dead one. */
const HEARTBEAT_MS = 15_000;
/** What a browser waits before it comes back. */
const RETRY_MS = 1_500;

export interface EventStream {
  send(event: { event?: string; id?: string; data: string }): void;
  /** Called once, when either side has ended the stream. */
  onEnd(work: () => void): void;
  end(): void;
}

/** All streams that are open, so that a shutdown can end them: an open one would keep the server from closing. */
export type OpenStreams = Set<EventStream>;

/** Takes the response over; from here on only the stream writes to it. */
export function openStream(request: FastifyRequest, reply: FastifyReply, open: OpenStreams): EventStream {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    ...headersOf(reply),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    connection: 'keep-alive',
  });
  raw.write(`retry: ${RETRY_MS}\n\n`);

  const endings: (() => void)[] = [];
  let isOver = false;
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(heartbeat);
    open.delete(stream);
    for (const work of endings) work();
  };
  const heartbeat = setInterval(() => raw.write(': still here\n\n'), HEARTBEAT_MS);
  request.raw.once('close', over);
  raw.once('close', over);
  // A write to a socket that has just gone must not end the process.
  raw.on('error', over);

  const stream: EventStream = {
    send({ event, id, data }) {
      if (isOver) return;
      const lines = [
        ...(id === undefined ? [] : [`id: ${id}`]),
        ...(event === undefined ? [] : [`event: ${event}`]),
        ...data.split(/\r\n|\r|\n/).map((line) => `data: ${line}`),
      ];
      raw.write(`${lines.join('\n')}\n\n`);
    },
    onEnd(work) {
      if (isOver) work();
      else endings.push(work);
    },
    end() {
      raw.end();
      over();
    },
  };
  open.add(stream);
  return stream;
}

function headersOf(reply: FastifyReply): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value : String(value);
  }
  return headers;
}
