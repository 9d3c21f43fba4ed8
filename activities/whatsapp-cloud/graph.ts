// A thin client of the Graph API for one thing: messages and media of WhatsApp numbers. One call, one attempt, one time-out;
// what an error means is said by errors.ts, and trying again is the caller's. The token is read when it is needed, so a
// rotated one counts at once.
import { createHash } from 'node:crypto';
import type { Secrets } from '../../config/secrets.js';
import { answeredError, ownRefusal, unansweredError, type SendError } from './errors.js';
import { LARGEST_MEDIA_BYTES } from './media-limits.js';
import {
  errorAnswer,
  mediaAnswer,
  messageBody,
  sendAnswer,
  uploadAnswer,
  type Addressed,
  type GraphMessage,
} from './wire.js';

/** The platform's own address. */
export const GRAPH_URL = 'https://graph.facebook.com';

/** A send that hasn't been answered by then is one of which nothing is known. */
export const SEND_TIMEOUT_MS = 10_000;
const MEDIA_TIMEOUT_MS = 30_000;

/** What configuration says of a number, as far as it concerns a call. */
export interface GraphAccount {
  /** The platform's phone number id. */
  accountKey: string;
  graphVersion: string;
  /** The name of the secret. */
  accessToken: string;
}

export type SendOutcome = { kind: 'accepted'; externalId: string } | { kind: 'error'; error: SendError };

export type UploadOutcome = { kind: 'uploaded'; mediaId: string } | { kind: 'error'; error: SendError };

export type DownloadOutcome =
  | { kind: 'downloaded'; content: Uint8Array; mimeType: string; sha256: string }
  | { kind: 'error'; error: SendError };

export interface GraphClient {
  /** `attempt`: the how-manieth this is, from 1; delays grow with it. */
  send(
    account: GraphAccount,
    message: GraphMessage,
    to: Addressed & { attempt: number },
  ): Promise<SendOutcome>;
  upload(
    account: GraphAccount,
    media: { content: Uint8Array; mimeType: string; filename: string; attempt: number },
  ): Promise<UploadOutcome>;
  /** `sha256`: what the webhook said, hex or base64; media of another hash are refused. */
  download(
    account: GraphAccount,
    media: { mediaId: string; sha256?: string | undefined; attempt: number },
  ): Promise<DownloadOutcome>;
  /** Shows the customer that a message was read, and, for up to 25 s, that somebody types. Best effort. */
  markRead(
    account: GraphAccount,
    message: { externalId: string; isTyping: boolean },
  ): Promise<{ isShown: boolean }>;
}

export function createGraphClient(options: {
  secrets: Secrets;
  /** Absent: the platform's own. */
  baseUrl?: string | undefined;
  sendTimeoutMs?: number;
  largestMediaBytes?: number;
}): GraphClient {
  const {
    secrets,
    baseUrl = GRAPH_URL,
    sendTimeoutMs = SEND_TIMEOUT_MS,
    largestMediaBytes = LARGEST_MEDIA_BYTES,
  } = options;
  const root = baseUrl.replace(/\/+$/, '');

  /** One call. The answer's body is read here too: a connection may break in the middle of it. */
  async function call(
    account: GraphAccount,
    { path, attempt, timeoutMs, ...init }: CallInit,
  ): Promise<{ kind: 'json'; json: unknown } | { kind: 'error'; error: SendError }> {
    const token = secrets.get(account.accessToken);
    if (token === undefined) return { kind: 'error', error: ownRefusal('no_access_token', 'account') };
    try {
      const response = await fetch(`${root}/${account.graphVersion}/${path}`, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${token}` },
        // Our token goes nowhere else.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const json = jsonOf(await response.text());
      if (response.ok && json !== undefined) return { kind: 'json', json };
      const read = errorAnswer.safeParse(json);
      const { code, is_transient: isTransient } = read.data?.error ?? {};
      return { kind: 'error', error: answeredError({ status: response.status, code, isTransient, attempt }) };
    } catch (error) {
      return { kind: 'error', error: unansweredError(error, attempt) };
    }
  }

  return {
    async send(account, message, { attempt, ...to }) {
      const answer = await call(account, {
        path: `${account.accountKey}/messages`,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(messageBody(message, to)),
        attempt,
        timeoutMs: sendTimeoutMs,
      });
      if (answer.kind === 'error') return answer;
      const [taken] = sendAnswer.safeParse(answer.json).data?.messages ?? [];
      // Taken, but by a name that we can't read: its statuses will tell.
      if (!taken) return { kind: 'error', error: unreadable(attempt) };
      return { kind: 'accepted', externalId: taken.id };
    },

    async upload(account, { content, mimeType, filename, attempt }) {
      const form = new FormData();
      form.set('messaging_product', 'whatsapp');
      form.set('type', mimeType);
      form.set('file', new Blob([new Uint8Array(content)], { type: mimeType }), filename);
      const answer = await call(account, {
        path: `${account.accountKey}/media`,
        method: 'POST',
        body: form,
        attempt,
        timeoutMs: MEDIA_TIMEOUT_MS,
      });
      if (answer.kind === 'error') return answer;
      const { data } = uploadAnswer.safeParse(answer.json);
      if (!data) return { kind: 'error', error: unreadable(attempt) };
      return { kind: 'uploaded', mediaId: data.id };
    },

    async download(account, { mediaId, sha256, attempt }) {
      const answer = await call(account, {
        path: `${encodeURIComponent(mediaId)}?phone_number_id=${account.accountKey}`,
        method: 'GET',
        attempt,
        timeoutMs: MEDIA_TIMEOUT_MS,
      });
      if (answer.kind === 'error') return answer;
      const { data } = mediaAnswer.safeParse(answer.json);
      if (!data) return { kind: 'error', error: unreadable(attempt) };
      if (!isPlatformUrl(data.url, root)) return refused('media_elsewhere');
      if ((data.file_size ?? 0) > largestMediaBytes) return refused('media_too_large');
      const token = secrets.get(account.accessToken);
      if (token === undefined) return refused('no_access_token');
      try {
        const response = await fetch(data.url, {
          headers: { authorization: `Bearer ${token}` },
          redirect: 'error',
          signal: AbortSignal.timeout(MEDIA_TIMEOUT_MS),
        });
        if (!response.ok) {
          return {
            kind: 'error',
            error: answeredError({ status: response.status, code: undefined, attempt }),
          };
        }
        const content = await readUpTo(response, largestMediaBytes);
        if (!content) return refused('media_too_large');
        const digest = createHash('sha256').update(content).digest();
        const expected = [sha256, data.sha256].filter((one) => one !== undefined);
        if (!expected.every((one) => isDigest(one, digest))) return refused('media_hash_differs');
        const mimeType = data.mime_type ?? response.headers.get('content-type') ?? 'application/octet-stream';
        return { kind: 'downloaded', content, mimeType, sha256: digest.toString('hex') };
      } catch (error) {
        return { kind: 'error', error: unansweredError(error, attempt) };
      }
    },

    async markRead(account, { externalId, isTyping }) {
      const answer = await call(account, {
        path: `${account.accountKey}/messages`,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          messaging_product: 'whatsapp',
          status: 'read',
          message_id: externalId,
          ...(isTyping && { typing_indicator: { type: 'text' } }),
        }),
        attempt: 1,
        timeoutMs: sendTimeoutMs,
      });
      return { isShown: answer.kind === 'json' };
    },
  };
}

interface CallInit {
  path: string;
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | FormData;
  attempt: number;
  timeoutMs: number;
}

function unreadable(attempt: number): SendError {
  return answeredError({ status: 200, code: undefined, attempt });
}

function refused(code: string): { kind: 'error'; error: SendError } {
  return { kind: 'error', error: ownRefusal(code, 'platform') };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Media lie on hosts of the platform; our token is shown to no other. */
function isPlatformUrl(url: string, root: string): boolean {
  const { protocol, hostname, origin } = new URL(url);
  if (origin === new URL(root).origin) return true;
  return protocol === 'https:' && /(^|\.)(fbsbx|facebook|fbcdn|whatsapp)\.(com|net)$/.test(hostname);
}

/** Undefined: it is larger, whatever it said before. */
async function readUpTo(response: Response, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (!response.body) return new Uint8Array();
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** Webhooks say it in base64, the API in hex. */
function isDigest(said: string, digest: Buffer): boolean {
  return said.toLowerCase() === digest.toString('hex') || said === digest.toString('base64');
}
