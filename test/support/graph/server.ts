// A Graph server that isn't Meta's: real HTTP, the same wire format, answers as recorded exchanges show them, and faults on
// demand. It knows what it has really taken, whoever has heard of it: that is how tests count what was sent twice.
import { createHash, randomInt } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { controlRequest } from './control.js';
import type { FakeNumber, FakeGraphOptions, TakenSend, FakeMedia, FakeGraph } from './fake.js';
import { noSuchObject, refusal, type GraphRefusal } from './errors.js';
import { readMultipart } from './multipart.js';
import { createFaults, type Fault } from './faults.js';
import {
  messageRequest,
  readRequest,
  recipientOf,
  templateRefusal,
  type MessageRequest,
} from './requests.js';
import { createWebhooks, newWamid } from './webhooks.js';

export type { FakeNumber, FakeGraphOptions, TakenSend, FakeMedia, FakeGraph } from './fake.js';

const WINDOW_MS = 24 * 60 * 60 * 1000;
const PAIR_MS = 6_000;

/** Starts it on a free port of the loopback, or on the one that is wanted. */
export async function startFakeGraph(options: FakeGraphOptions, port = 0): Promise<FakeGraph> {
  const faults = createFaults();
  const webhooks = createWebhooks(options.webhook);
  const taken: TakenSend[] = [];
  const reads: { messageId: string; isTyping: boolean }[] = [];
  const media = new Map<string, FakeMedia>();
  const wroteAt = new Map<string, number>();
  let attempts = 0;
  let plan = options.statuses;

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      // A fault of the fake itself must not pass for one that was asked for.
      process.emitWarning(error instanceof Error ? error : String(error));
      request.socket.destroy();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://fake');
    const body = await bodyOf(request);
    if (pathname.startsWith('/control/')) {
      const { status, json } = await controlRequest(fake, { path: pathname.slice('/control/'.length), body });
      return send(response, status, json);
    }
    const refused = checkToken(request);
    if (refused) return send(response, refused.status, refused.body);
    const [version = '', object = '', edge] = pathname.split('/').filter(Boolean);
    if (version === 'files') return sendFile(response, object);
    if (!/^v\d+\.\d+$/.test(version)) return send(response, 404, noSuchObject(version, 'get').body);
    const number = options.numbers.find(({ accountKey }) => accountKey === object);
    const method = request.method ?? 'GET';
    if (method === 'POST' && number && edge === 'messages') {
      return takeMessage({ number, json: jsonOf(body), request, response });
    }
    if (method === 'POST' && number && edge === 'media') return takeMedia({ request, body, response });
    const file = media.get(object);
    if (file && edge === undefined && method === 'GET') return send(response, 200, describeMedia(file));
    if (file && edge === undefined && method === 'DELETE') {
      media.delete(object);
      return send(response, 200, { success: true });
    }
    const missing = noSuchObject(object, method);
    return send(response, missing.status, missing.body);
  }

  function checkToken(request: IncomingMessage): GraphRefusal | undefined {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const isGood = options.token === undefined ? token !== undefined : token === options.token;
    return isGood ? undefined : refusal(190);
  }

  async function takeMessage(send_: {
    number: FakeNumber;
    json: unknown;
    request: IncomingMessage;
    response: ServerResponse;
  }): Promise<void> {
    const { number, json, request, response } = send_;
    const read = readRequest.safeParse(json);
    if (read.success) return takeRead(read.data, response);
    attempts += 1;
    const to: unknown = Reflect.get(Object(json), 'to');
    const fault = faults.take(typeof to === 'string' ? to : undefined);
    if (fault?.kind === 'slow') await sleep(fault.ms);
    if (fault?.kind === 'refuse') {
      const { status, body } = refusal(fault.code);
      return send(response, status, body);
    }
    const parsed = messageRequest.safeParse(json);
    if (!parsed.success) {
      const { status, body } = refusal(100, parsed.error.issues.map(({ path }) => path.join('.')).join(', '));
      return send(response, status, body);
    }
    const refused = refusalOf(number, parsed.data);
    if (refused) return send(response, refused.status, refused.body);
    const wamid = isTakenDespite(fault) ? take(number, parsed.data) : undefined;
    switch (fault?.kind) {
      case 'cutBefore':
      case 'cutAfter':
        return void request.socket.destroy();
      case 'silence':
        return;
      case 'serverError':
        return send(response, fault.status ?? 500, refusal(fault.status === 503 ? 2 : 131000).body);
      case 'garbage':
        return send(response, 200, '{"messaging_product":"whatsapp","con');
      case 'slow':
      case undefined: {
        const recipient = recipientOf(parsed.data);
        const named = parsed.data.to === undefined ? { user_id: recipient } : { wa_id: recipient };
        return send(response, 200, {
          messaging_product: 'whatsapp',
          contacts: [{ input: recipient, ...named }],
          messages: [{ id: wamid, ...(parsed.data.type === 'template' && { message_status: 'accepted' }) }],
        });
      }
    }
  }

  function take(number: FakeNumber, request: MessageRequest): string {
    const send_: TakenSend = {
      ...number,
      wamid: newWamid(),
      recipient: recipientOf(request),
      callbackData: request.biz_opaque_callback_data,
      request,
      at: Date.now(),
    };
    taken.push(send_);
    if (plan) webhooks.report(send_, plan);
    return send_.wamid;
  }

  function refusalOf(number: FakeNumber, request: MessageRequest): GraphRefusal | undefined {
    const { accountKey } = number;
    const recipient = recipientOf(request);
    const since = (ms: number): TakenSend[] =>
      taken.filter((one) => one.accountKey === accountKey && one.at > Date.now() - ms);
    const { pairBurst, perSecond } = options.limits ?? {};
    if (perSecond !== undefined && since(1_000).length >= perSecond) return refusal(130429);
    if (pairBurst !== undefined) {
      const pair = since(pairBurst * PAIR_MS).filter((one) => one.recipient === recipient);
      if (pair.length >= pairBurst) return refusal(131056);
    }
    if (request.type === 'template') return templateRefusal(request, options.templates);
    const lastWrote = wroteAt.get(`${accountKey} ${recipient}`) ?? 0;
    if (options.keepsWindow && lastWrote < Date.now() - WINDOW_MS) return refusal(131047);
    const file = 'image' in request ? request.image : 'document' in request ? request.document : undefined;
    return file?.id !== undefined && !media.has(file.id) ? refusal(131053) : undefined;
  }

  function takeRead(
    { message_id: messageId, typing_indicator }: { message_id: string; typing_indicator?: unknown },
    response: ServerResponse,
  ): void {
    if (!messageId.startsWith('wamid.')) {
      const { status, body } = refusal(100, 'Please check the message ID you have provided.');
      return send(response, status, body);
    }
    if (taken.some(({ wamid }) => wamid === messageId)) {
      const { status, body } = refusal(100, 'The message is outgoing. Please use an incoming message ID.');
      return send(response, status, body);
    }
    reads.push({ messageId, isTyping: typing_indicator !== undefined });
    return send(response, 200, { success: true });
  }

  function takeMedia({
    request,
    body,
    response,
  }: {
    request: IncomingMessage;
    body: Buffer;
    response: ServerResponse;
  }): void {
    const form = readMultipart(request.headers['content-type'] ?? '', body);
    const file = form.get('file');
    if (form.get('messaging_product')?.content.toString() !== 'whatsapp' || !file) {
      const { status, body: error } = refusal(100);
      return send(response, status, error);
    }
    const mimeType = form.get('type')?.content.toString() ?? file.contentType ?? '';
    const id = addMedia({ content: new Uint8Array(file.content), mimeType });
    return send(response, 200, { id });
  }

  function addMedia(file: Omit<FakeMedia, 'id'>): string {
    const id = String(randomInt(1e12, 9e12));
    media.set(id, { ...file, id });
    return id;
  }

  function describeMedia({
    id,
    content,
    mimeType,
    saidSha256,
    saidUrl,
    saidBytes,
  }: FakeMedia): Record<string, unknown> {
    return {
      url: saidUrl ?? `${fake.url}/files/${id}`,
      mime_type: mimeType,
      sha256: saidSha256 ?? createHash('sha256').update(content).digest('hex'),
      file_size: saidBytes ?? content.byteLength,
      id,
      messaging_product: 'whatsapp',
    };
  }

  function sendFile(response: ServerResponse, id: string): void {
    const file = media.get(id);
    if (!file) return send(response, 404, '');
    response.writeHead(200, { 'content-type': file.mimeType });
    response.end(file.content);
  }

  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const fake: FakeGraph = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    webhooks,
    taken: () => [...taken],
    attempts: () => attempts,
    reads: () => [...reads],
    report: (next) => void (plan = next),
    async customerWrites({ accountKey, ...message }) {
      const number = options.numbers.find((one) => one.accountKey === accountKey) ?? options.numbers[0];
      if (!number) throw new Error('the fake has no number');
      wroteAt.set(`${number.accountKey} ${message.from}`, Date.now());
      return webhooks.text({ ...number, ...message });
    },
    addMedia,
    media: (id) => media.get(id),
    forget() {
      taken.length = 0;
      reads.length = 0;
      attempts = 0;
    },
    async close() {
      webhooks.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

function isTakenDespite(fault: Fault | undefined): boolean {
  switch (fault?.kind) {
    case 'serverError':
    case 'silence':
      return fault.isTaken;
    case 'cutBefore':
    case 'refuse':
      return false;
    case 'cutAfter':
    case 'slow':
    case 'garbage':
    case undefined:
      return true;
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
