// Hears what other connections commit: one connection listens, all open pages and streams are told. A notification is a
// hint to look again, never the news itself, so a missed one costs only time: after a gap everybody is told to look.
import pg from 'pg';
import { z } from 'zod';
import { errorFacts, type Logger } from '../config/logger.js';

const CHANNEL = 'aroko_changes';
const RECONNECT_MS = 1_000;
/** A connection that a firewall has dropped looks open; a question every half minute finds out. */
const PROBE_MS = 30_000;
const ANSWER_MS = 10_000;

const payloadShape = z.object({
  tenant: z.uuid(),
  chat: z.uuid().nullish(),
  what: z.enum(['inbox', 'outbox', 'approval', 'run', 'message']),
});

export interface Change {
  tenantId: string;
  /** Absent: the change is not about one chat, or changes may have been missed in any. */
  chatId?: string;
  /** `gap`: the connection was away, anything may have changed. */
  what: z.infer<typeof payloadShape>['what'] | 'gap';
}

export interface Changes {
  /** Calls back for every change of the tenant (and of this chat, where one is named) until the returned function is called. */
  subscribe(topic: { tenantId: string; chatId?: string }, hear: (change: Change) => void): () => void;
  close(): Promise<void>;
}

/** Reads one notification; undefined where it isn't ours. */
export function parseChange(payload: string | undefined): Change | undefined {
  let json: unknown;
  try {
    json = JSON.parse(payload ?? '');
  } catch {
    return undefined;
  }
  const parsed = payloadShape.safeParse(json);
  if (!parsed.success) return undefined;
  const { tenant, chat, what } = parsed.data;
  return { tenantId: tenant, what, ...(chat ? { chatId: chat } : {}) };
}

export function createChanges(deps: { databaseUrl: string; logger: Logger }): Changes {
  const { databaseUrl, logger } = deps;
  const subscriptions = new Set<{ tenantId: string; chatId?: string; hear: (change: Change) => void }>();
  let connection: { client: pg.Client; probe: NodeJS.Timeout } | undefined;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  function tell(change: Change): void {
    for (const subscription of subscriptions) {
      if (subscription.tenantId !== change.tenantId) continue;
      if (subscription.chatId && change.chatId && subscription.chatId !== change.chatId) continue;
      subscription.hear(change);
    }
  }

  async function connect(isFirst: boolean): Promise<void> {
    const client = new pg.Client({
      connectionString: databaseUrl,
      keepAlive: true,
      application_name: 'aroko changes',
      // Of a server that says nothing any more, neither the start nor the probe would ever end.
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
    });
    const lost = () => {
      if (connection && connection.client !== client) return;
      connection = undefined;
      clearInterval(probe);
      client.removeAllListeners('end');
      client.end().catch(() => undefined);
      if (closed || retry) return;
      retry = setTimeout(() => {
        retry = undefined;
        void connect(false);
      }, RECONNECT_MS);
    };
    const probe = setInterval(() => void client.query('select 1').catch(lost), PROBE_MS);
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload }) => {
      const change = parseChange(payload);
      if (change) tell(change);
    });
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
    } catch (error) {
      logger.warn('changes.unreachable', errorFacts(error));
      lost();
      return;
    }
    if (closed) {
      clearInterval(probe);
      await client.end().catch(() => undefined);
      return;
    }
    connection = { client, probe };
    logger.event('changes.listening');
    if (isFirst) return;
    for (const subscription of subscriptions)
      subscription.hear({ tenantId: subscription.tenantId, what: 'gap' });
  }

  const first = connect(true);

  return {
    subscribe(topic, hear) {
      const subscription = { ...topic, hear };
      subscriptions.add(subscription);
      return () => void subscriptions.delete(subscription);
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      subscriptions.clear();
      await first;
      const last = connection;
      connection = undefined;
      if (!last) return;
      clearInterval(last.probe);
      last.client.removeAllListeners('end');
      last.client.removeAllListeners('error');
      // The socket may still fail while it closes; nobody needs to know.
      last.client.on('error', () => undefined);
      await last.client.end().catch(() => undefined);
    },
  };
}
