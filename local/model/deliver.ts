// How an answer leaves the program: whole, as a stream, or broken on purpose.
import type { FastifyReply } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScriptedAnswer } from './scenario.js';
import { toEvents } from './streaming.js';
import { errorBody, type WireMessage } from './wire.js';

const HALF = 0.5;

interface Delivery {
  reply: FastifyReply;
  requestId: string;
  stream: boolean;
  /** Absent: a plain answer, nothing broken. */
  script?: ScriptedAnswer | undefined;
  /** Built only when it is needed: a scripted error needs no answer. */
  message: () => WireMessage;
}

/** Sends one answer. After a scripted silence the connection stays open until the client or the server ends. */
export async function deliver({ reply, requestId, stream, script, message }: Delivery): Promise<unknown> {
  if (script?.silence) {
    reply.hijack();
    return undefined;
  }
  const gone = disconnection(reply);
  if (script?.delayMs !== undefined && !(await slept(script.delayMs, gone))) {
    reply.hijack();
    return undefined;
  }
  if (script?.status !== undefined) {
    if (script.retryAfter !== undefined) void reply.header('retry-after', String(script.retryAfter));
    const sentence = script.message ?? `The scenario answers with status ${script.status}.`;
    return reply.code(script.status).send(errorBody(script.status, sentence, requestId, script.errorType));
  }
  if (script?.raw !== undefined) return sendWhole(reply, JSON.stringify(script.raw), script);
  if (!stream) return sendWhole(reply, JSON.stringify(message()), script);
  return sendStream({ reply, events: toEvents(message()), script, gone });
}

function sendWhole(reply: FastifyReply, body: string, script: ScriptedAnswer | undefined): unknown {
  if (script?.cutAfterBytes !== undefined) {
    const bytes = Buffer.from(body);
    const headers = { 'content-type': 'application/json', 'content-length': bytes.length };
    cut(reply, headers, bytes.subarray(0, script.cutAfterBytes));
    return undefined;
  }
  const text = script?.halfJson ? body.slice(0, Math.floor(body.length * HALF)) : body;
  return reply.header('content-type', 'application/json').send(text);
}

async function sendStream(options: {
  reply: FastifyReply;
  events: string[];
  script: ScriptedAnswer | undefined;
  gone: AbortSignal;
}): Promise<unknown> {
  const { reply, events, script, gone } = options;
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  if (script?.cutAfterBytes !== undefined) {
    cut(reply, headers, Buffer.from(events.join('')).subarray(0, script.cutAfterBytes));
    return undefined;
  }
  const sent = script?.halfJson ? events.slice(0, Math.floor(events.length * HALF)) : events;
  reply.hijack();
  reply.raw.writeHead(200, { 'request-id': reply.request.id, ...headers });
  reply.raw.flushHeaders();
  for (const event of sent) {
    if (!(await slept(script?.eventDelayMs ?? 0, gone))) return undefined;
    reply.raw.write(event);
  }
  reply.raw.end();
  return undefined;
}

function cut(reply: FastifyReply, headers: Record<string, string | number>, bytes: Buffer): void {
  reply.hijack();
  if (bytes.length === 0) {
    reply.raw.destroy();
    return;
  }
  reply.raw.writeHead(200, { 'request-id': reply.request.id, ...headers });
  reply.raw.write(bytes, () => {
    reply.raw.destroy();
  });
}

function disconnection(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    controller.abort();
  });
  return controller.signal;
}

/** False when the client has gone meanwhile. */
async function slept(milliseconds: number, gone: AbortSignal): Promise<boolean> {
  if (milliseconds === 0) return !gone.aborted;
  try {
    await sleep(milliseconds, undefined, { signal: gone });
    return true;
  } catch {
    return false;
  }
}
