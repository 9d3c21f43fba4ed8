// The platform's calls to the other side: statuses of what it has taken, and messages of customers; signed, repeated until they
// are answered with 200, and, where a test wants it so, late, doubled or out of order.
import { createHmac, randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { mulberry32 } from './faults.js';

export const STATUSES = ['sent', 'delivered', 'read', 'played', 'failed'] as const;
export type Status = (typeof STATUSES)[number];

export interface WebhookTarget {
  /** `{account}` stands for the number's id. */
  url: string;
  appSecret: string;
}

export interface StatusPlan {
  /** Reported of each message, in this order. */
  statuses: readonly Status[];
  /** Code of a `failed`. */
  failedCode?: number;
  /** Each report leaves this much after the message was taken; a range is drawn from. */
  delayMs?: number | readonly [number, number];
  /** How often each report is made. */
  copies?: number;
  isShuffled?: boolean;
}

interface Account {
  accountKey: string;
  displayNumber: string;
}

export interface TakenMessage extends Account {
  wamid: string;
  recipient: string;
  callbackData: string | undefined;
}

export interface Webhooks {
  /** Reports on a message as the plan says. */
  report(message: TakenMessage, plan: StatusPlan): void;
  reportNow(message: TakenMessage, status: Status, code?: number): Promise<number>;
  /** Anything else that is told of a number; answers the status that came back. */
  tell(account: Account, value: Record<string, unknown>, field?: string): Promise<number>;
  /** A customer writes. */
  text(message: {
    accountKey: string;
    displayNumber: string;
    from: string;
    name?: string;
    body: string;
    /** The message that it quotes. */
    quoted?: string;
  }): Promise<{ wamid: string; status: number }>;
  /** Resolves when every report has been taken or given up. */
  settled(): Promise<void>;
  close(): void;
}

const TRIES = 5;

export function createWebhooks(target: WebhookTarget | undefined): Webhooks {
  const open = new Set<Promise<unknown>>();
  const closing = new AbortController();
  // Every report under way listens.
  setMaxListeners(0, closing.signal);
  const draws = mulberry32(1);

  async function post(accountKey: string, payload: unknown): Promise<number> {
    if (!target) return 0;
    const body = Buffer.from(JSON.stringify(payload), 'utf8');
    const signature = createHmac('sha256', target.appSecret).update(body).digest('hex');
    for (let tries = 1; ; tries += 1) {
      const status = await fetch(target.url.replace('{account}', accountKey), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
        body,
        signal: closing.signal,
      }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        () => 0,
      );
      if (status === 200 || tries === TRIES || closing.signal.aborted) return status;
      await sleep(50 * tries);
    }
  }

  const statusOf = (message: TakenMessage, status: Status, code?: number): unknown => ({
    id: message.wamid,
    status,
    timestamp: seconds(),
    recipient_id: message.recipient,
    ...(message.callbackData !== undefined && { biz_opaque_callback_data: message.callbackData }),
    ...(status === 'failed' && {
      errors: [{ code: code ?? 131026, title: 'Message undeliverable', message: 'Message undeliverable' }],
    }),
  });

  function keep(work: Promise<unknown>): void {
    open.add(work);
    void work.finally(() => open.delete(work));
  }

  return {
    report(message, { statuses, failedCode, delayMs = 0, copies = 1, isShuffled = false }) {
      const reports = statuses.flatMap((status) => Array.from({ length: copies }, () => status));
      if (isShuffled) shuffle(reports, draws);
      for (const [index, status] of reports.entries()) {
        const [from, to] = typeof delayMs === 'number' ? [delayMs, delayMs] : delayMs;
        const delay = from + draws() * (to - from) + index;
        keep(
          sleep(delay, undefined, { signal: closing.signal })
            .then(() =>
              post(
                message.accountKey,
                change(message, { statuses: [statusOf(message, status, failedCode)] }),
              ),
            )
            .catch(() => undefined),
        );
      }
    },
    reportNow: (message, status, code) =>
      post(message.accountKey, change(message, { statuses: [statusOf(message, status, code)] })),
    tell: (account, value, field) => post(account.accountKey, change(account, value, field)),
    async text({ from, name = 'A Customer', body, quoted, ...account }) {
      const wamid = newWamid();
      const status = await post(
        account.accountKey,
        change(account, {
          contacts: [{ profile: { name }, wa_id: from }],
          messages: [
            {
              from,
              id: wamid,
              timestamp: seconds(),
              type: 'text',
              text: { body },
              ...(quoted !== undefined && { context: { from: account.displayNumber, id: quoted } }),
            },
          ],
        }),
      );
      return { wamid, status };
    },
    async settled() {
      while (open.size > 0) await Promise.all(open);
    },
    close: () => closing.abort(),
  };
}

function change(
  { accountKey, displayNumber }: Account,
  value: Record<string, unknown>,
  field = 'messages',
): unknown {
  const metadata = { display_phone_number: displayNumber, phone_number_id: accountKey };
  return {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '100000000000001',
        changes: [{ field, value: { messaging_product: 'whatsapp', metadata, ...value } }],
      },
    ],
  };
}

export function newWamid(): string {
  return `wamid.HBgL${randomBytes(30).toString('base64')}`;
}

function seconds(): string {
  return String(Math.floor(Date.now() / 1000));
}

function shuffle(items: Status[], draw: () => number): void {
  for (let index = items.length - 1; index > 0; index -= 1) {
    const other = Math.floor(draw() * (index + 1));
    const [one, two] = [items[index], items[other]];
    if (one === undefined || two === undefined) return;
    items[index] = two;
    items[other] = one;
  }
}
