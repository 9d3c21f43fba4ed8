// What the model program was asked, for tests and for the count on the screen. Contents are kept only where a
// test asks for them (mode `scenario`); in the demo only numbers are.
import type { IncomingHttpHeaders } from 'node:http';
import { inputTokens, type ModelRequest } from './wire.js';

/** Enough for the largest test, few enough to stay small in memory. */
const KEPT_REQUESTS = 5000;

const SECRET_HEADERS = ['authorization', 'x-api-key', 'cookie', 'proxy-authorization'];

export interface RequestCounts {
  total: number;
  withTools: number;
  withoutTools: number;
  inputTokens: number;
}

export interface ReceivedRequest {
  requestId: string;
  /** ISO 8601, UTC. */
  at: string;
  answeredBy: 'scenario' | 'demo';
  headers: IncomingHttpHeaders;
  body: unknown;
}

export interface RequestLog {
  note(entry: Omit<ReceivedRequest, 'at'>, request: ModelRequest): void;
  counts(): RequestCounts;
  requests(): ReceivedRequest[];
  /** Forgets requests and starts counting at zero. */
  clear(): void;
}

export function createRequestLog(options: { keepContents: boolean }): RequestLog {
  let received: ReceivedRequest[] = [];
  let counts = noRequests();
  return {
    note(entry, request) {
      const offersTools = (request.tools ?? []).length > 0;
      counts.total += 1;
      counts[offersTools ? 'withTools' : 'withoutTools'] += 1;
      counts.inputTokens += inputTokens(request);
      if (!options.keepContents) return;
      received.push({ ...entry, headers: withoutSecrets(entry.headers), at: new Date().toISOString() });
      if (received.length > KEPT_REQUESTS) received.shift();
    },
    counts: () => ({ ...counts }),
    requests: () => [...received],
    clear() {
      received = [];
      counts = noRequests();
    },
  };
}

function noRequests(): RequestCounts {
  return { total: 0, withTools: 0, withoutTools: 0, inputTokens: 0 };
}

function withoutSecrets(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET_HEADERS.includes(name)));
}
