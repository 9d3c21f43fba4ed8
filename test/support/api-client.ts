// The headless API as a program uses it: JSON over HTTP and a token, nothing of our own code in between.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ApiMessage {
  id: string;
  sequence: number;
  from: 'customer' | 'assistant' | 'human';
  text: string | null;
  state: string;
  answers?: string;
}

export interface ApiApproval {
  ref: string;
  tool: string;
  arguments: Record<string, unknown> | null;
  chat: string | null;
  state: string;
  runId: string;
}

export interface ApiRun {
  id: string;
  state: string;
  code: string | null;
  tool: string | null;
  chat: string | null;
  steps?: { state: string; tool: string; attempts: number }[];
}

export interface ApiOpenMessage {
  id: string;
  chat: string | null;
  state: string;
  reason: string | null;
}

export interface Api {
  /** Sends a message under a fresh id, or the given one; answers the id. */
  send(chat: string, text: string, id?: string): Promise<string>;
  /** The raw answer: for tests of refusals. */
  post(path: string, body: unknown): Promise<{ status: number; body: unknown }>;
  get<Result>(path: string): Promise<Result>;
  messages(chat: string): Promise<ApiMessage[]>;
  /** What the assistant said about one message, in order. */
  repliesTo(chat: string, id: string): Promise<ApiMessage[]>;
  /** Sends and waits for `count` replies to it. */
  ask(chat: string, text: string, count?: number): Promise<ApiMessage[]>;
  /** Waits until the message has a terminal state. */
  settled(chat: string, id: string, withinMs?: number): Promise<ApiMessage>;
  approvals(state?: string): Promise<ApiApproval[]>;
  /** Waits for the one open approval of a chat. */
  approvalOf(chat: string): Promise<ApiApproval>;
  decide(
    ref: string,
    decision: 'approve' | 'reject',
    reason?: string,
  ): Promise<{ status: number; body: unknown }>;
  runsOf(chat: string): Promise<ApiRun[]>;
}

export function createApi(where: () => { url: string; token: string }): Api {
  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const { url, token } = where();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return fetch(`${url}${path}`, { ...init, headers });
  }
  const api: Api = {
    async send(chat, text, id = randomBytes(8).toString('hex')) {
      const { status, body } = await api.post(`/chats/${chat}/messages`, { id, text });
      if (status !== 202) throw new Error(`the message was answered ${status}: ${JSON.stringify(body)}`);
      return id;
    },
    async post(path, body) {
      const response = await call(path, { method: 'POST', body: JSON.stringify(body) });
      return { status: response.status, body: await response.json() };
    },
    async get<Result>(path: string): Promise<Result> {
      const response = await call(path);
      if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
      return response.json() as Promise<Result>;
    },
    messages: (chat) => api.get(`/chats/${chat}/messages?after=0`),
    async repliesTo(chat, id) {
      return (await api.messages(chat)).filter((message) => message.answers === id);
    },
    async ask(chat, text, count = 1) {
      const id = await api.send(chat, text);
      return eventually(`${count} replies in ${chat}`, async () => {
        const replies = await api.repliesTo(chat, id);
        return replies.length >= count ? replies : undefined;
      });
    },
    settled: (chat, id, withinMs) =>
      eventually(
        `message ${id} of ${chat} to be settled`,
        async () => {
          const own = (await api.messages(chat)).find((message) => message.id === id);
          return own && own.state !== 'accepted' ? own : undefined;
        },
        withinMs,
      ),
    approvals: (state = 'open') => api.get(`/approvals?state=${state}&limit=500`),
    approvalOf: (chat) =>
      eventually(`an approval for ${chat}`, async () =>
        (await api.approvals()).find((approval) => approval.chat === chat),
      ),
    decide: (ref, decision, reason) =>
      api.post(`/approvals/${ref}`, { decision, ...(reason === undefined ? {} : { reason }) }),
    async runsOf(chat) {
      return (await api.get<ApiRun[]>('/runs?limit=500')).filter((run) => run.chat === chat);
    },
  };
  return api;
}

/** Looks again and again until there is something. A probe that throws ends the wait. */
export async function eventually<Found>(
  what: string,
  probe: () => Promise<Found | undefined> | Found | undefined,
  withinMs = 30_000,
): Promise<Found> {
  const began = Date.now();
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    const waited = Date.now() - began;
    if (waited > withinMs) throw new Error(`waited ${withinMs / 1000} s in vain for ${what}`);
    await sleep(Math.min(400, 40 + waited / 10));
  }
}
