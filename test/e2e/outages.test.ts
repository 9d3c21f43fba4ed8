// Postgres and Temporal go away in the middle of traffic. What was accepted is answered once, each chat's in its order; what
// can't be kept is refused in words, and kept when it comes again; health says so meanwhile, and nobody has to do anything.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalProcess } from '../../local/processes.js';
import { type Api, eventually } from '../support/api-client.js';
import { type Installation, startInstallation } from '../support/installation.js';

const CHATS = 4;
const PAUSE_MS = 3_000;
const POSTGRES_MS = 20_000;
const TEMPORAL_MS = 30_000;

interface Accepted {
  chat: string;
  id: string;
  at: number;
  refusals: number;
}

interface Refusal {
  status: number;
  code: string;
  message: string;
}

interface Traffic {
  accepted: Accepted[];
  refusals: Refusal[];
  /** Ends it once the message that each chat is about to send has been accepted. */
  stop(): Promise<void>;
}

interface Health {
  live: number;
  ready: number;
  postgres: string;
  temporal: string;
}

interface Row {
  outage: string;
  away: string;
  accepted: number;
  meanwhile: number;
  refused: number;
  firstAccepted: string;
  firstAnswered: string;
  ready: string;
}

describe('an outage under traffic', function () {
  this.timeout(150_000);
  let installation: Installation;
  let api: Api;
  const rows: Row[] = [];

  before(async () => {
    installation = await startInstallation();
    ({ api } = installation);
  });

  after(() => console.log(asTable(rows)));

  it('of Postgres, which stands still for 20 s: refused meanwhile, accepted when it comes again', async () => {
    const row = await outage('Postgres stands still', {
      name: 'frozen',
      begin: async () => installation.freeze('postgres'),
      awayMs: POSTGRES_MS,
      end: async () => installation.thaw('postgres'),
      meanwhile: ({ gateway, worker }) => {
        assert.deepEqual([gateway.live, gateway.ready, gateway.postgres], [200, 503, 'unreachable']);
        assert.deepEqual([worker.live, worker.ready, worker.postgres], [200, 503, 'unreachable']);
      },
    });
    assert.equal(row.meanwhile, 0, 'nothing is accepted that can’t be kept');
    assert.ok(row.refused >= CHATS, `${row.refused} refusals`);
  });

  it('of Temporal, which is killed and away for 30 s: accepted all the while, answered afterwards', async () => {
    const row = await outage('Temporal is killed', {
      name: 'away',
      begin: async () => {
        // Else it would start it again at once.
        installation.freeze('launcher');
        signalProcess(installation.facts().pids.temporal, 'SIGKILL');
      },
      awayMs: TEMPORAL_MS,
      end: async () => installation.thaw('launcher'),
      meanwhile: ({ gateway, worker }) => {
        assert.deepEqual(
          [gateway.live, gateway.ready, gateway.postgres, gateway.temporal],
          [200, 503, 'reachable', 'unreachable'],
        );
        assert.deepEqual([worker.live, worker.ready, worker.temporal], [200, 503, 'unreachable']);
      },
    });
    assert.equal(row.refused, 0, 'nobody is refused: what is accepted is kept in Postgres');
    assert.ok(row.meanwhile >= CHATS, `${row.meanwhile} messages`);
  });

  it('of both, killed at the same moment: the launcher starts them again, and all goes on', async () => {
    const { postgres, temporal } = installation.facts().pids;
    await outage('both are killed', {
      name: 'both',
      begin: () => installation.kill9('postgres', 'temporal'),
      awayMs: 0,
      end: async () => {
        await eventually('both to be started again', () => {
          const { pids } = installation.facts();
          return pids.postgres === postgres || pids.temporal === temporal ? undefined : true;
        });
      },
    });
  });

  it('leaves no message open', async () => {
    assert.deepEqual(await api.get('/messages?state=open'), []);
  });

  async function outage(
    title: string,
    plan: {
      name: string;
      begin: () => Promise<void>;
      awayMs: number;
      end: () => Promise<void>;
      meanwhile?: (health: { gateway: Health; worker: Health }) => void;
    },
  ): Promise<Row> {
    const traffic = startTraffic(plan.name);
    await eventually('traffic', () => (traffic.accepted.length >= 2 * CHATS ? true : undefined));
    const beganAt = Date.now();
    await plan.begin();
    try {
      if (plan.meanwhile) {
        // The answer of a moment ago is kept for some seconds.
        await sleep(plan.awayMs / 2);
        const [gateway, worker] = await Promise.all([healthOf('gateway'), healthOf('worker')]);
        plan.meanwhile({ gateway, worker });
      }
      await sleep(Math.max(0, beganAt + plan.awayMs - Date.now()));
    } finally {
      await plan.end();
    }
    const endedAt = Date.now();
    const later = async (what: string, when: () => Promise<number | undefined> | number | undefined) =>
      (((await eventually(what, when, 60_000)) - endedAt) / 1000).toFixed(1);
    const [firstAccepted, firstAnswered, ready] = await Promise.all([
      later('a message to be accepted', () => traffic.accepted.find(({ at }) => at > endedAt)?.at),
      later('a message to be answered', async () => {
        const { chat, id } = traffic.accepted.find(({ at }) => at > beganAt) ?? {};
        if (chat === undefined || id === undefined) return undefined;
        return (await repliesIn(chat))?.includes(id) ? Date.now() : undefined;
      }),
      later('both to be ready', async () => {
        const all = await Promise.all([healthOf('gateway'), healthOf('worker')]);
        return all.every(({ ready }) => ready === 200) ? Date.now() : undefined;
      }),
    ]);
    await traffic.stop();
    await assertAnsweredOnceInOrder(traffic);
    const row = {
      outage: title,
      away: `${((endedAt - beganAt) / 1000).toFixed(1)} s`,
      accepted: traffic.accepted.length,
      meanwhile: traffic.accepted.filter(({ at }) => at > beganAt + 1_000 && at < endedAt).length,
      refused: traffic.refusals.length,
      firstAccepted,
      firstAnswered,
      ready,
    };
    rows.push(row);
    return row;
  }

  /** Each chat sends one message after the other, each under one id until it is accepted. */
  function startTraffic(name: string): Traffic {
    const accepted: Accepted[] = [];
    const refusals: Refusal[] = [];
    let isOver = false;
    const talk = async (chat: string): Promise<void> => {
      for (let count = 1; !isOver; count += 1) {
        const message = { id: randomUUID(), text: `Hello, number ${count}` };
        for (let refused = 0; ; refused += 1) {
          const { status, body } = await api.post(`/chats/${chat}/messages`, message);
          if (status === 202) {
            accepted.push({ chat, id: message.id, at: Date.now(), refusals: refused });
            break;
          }
          refusals.push({ status, ...problemIn(body) });
          await sleep(500);
        }
        await sleep(PAUSE_MS);
      }
    };
    const talks = Promise.all(Array.from({ length: CHATS }, (_, index) => talk(`${name}-${index}`)));
    // A talk that fails while nobody waits for it would end the run.
    talks.catch(() => undefined);
    return {
      accepted,
      refusals,
      async stop() {
        isOver = true;
        await talks;
      },
    };
  }

  async function assertAnsweredOnceInOrder({ accepted, refusals }: Traffic): Promise<void> {
    for (const { status, code, message } of refusals) {
      assert.deepEqual([status, code], [503, 'unavailable'], message);
      assert.match(message, /database/);
      assert.match(message, /again/);
    }
    for (const chat of new Set(accepted.map((one) => one.chat))) {
      const sent = accepted.filter((one) => one.chat === chat).map(({ id }) => id);
      await Promise.all(sent.map((id) => api.settled(chat, id, 60_000)));
      const messages = await api.messages(chat);
      const own = messages.filter(({ from }) => from === 'customer');
      assert.deepEqual(
        own.map(({ id }) => id),
        sent,
        'each is there once, in the order in which they were accepted',
      );
      assert.ok(
        own.every(({ state }) => ['answered', 'merged'].includes(state)),
        JSON.stringify(own.map(({ state }) => state)),
      );
      assert.deepEqual(
        messages.filter(({ from }) => from === 'assistant').map(({ answers }) => answers),
        own.filter(({ state }) => state === 'answered').map(({ id }) => id),
        'each is answered once, in that order',
      );
    }
  }

  /** Ids that have an answer. Nothing: the gateway can't say just now. */
  async function repliesIn(chat: string): Promise<string[] | undefined> {
    try {
      return (await api.messages(chat)).flatMap(({ answers }) => answers ?? []);
    } catch {
      return undefined;
    }
  }

  async function healthOf(part: 'gateway' | 'worker'): Promise<Health> {
    const { addresses } = installation.facts();
    const base = part === 'gateway' ? addresses.chat : (addresses.worker ?? '');
    const [live, ready] = await Promise.all(
      ['live', 'ready'].map((name) => fetch(new URL(`/health/${name}`, base))),
    );
    assert.ok(live && ready);
    const { postgres, temporal }: { postgres: string; temporal: string } = JSON.parse(await ready.text());
    return { live: live.status, ready: ready.status, postgres, temporal };
  }
});

function problemIn(body: unknown): { code: string; message: string } {
  const { error }: { error?: { code: string; message: string } } = JSON.parse(JSON.stringify(body));
  return { code: error?.code ?? '', message: error?.message ?? '' };
}

function asTable(rows: Row[]): string {
  const head = {
    outage: 'outage',
    away: 'away',
    accepted: 'accepted',
    meanwhile: 'meanwhile',
    refused: 'refused',
    firstAccepted: 's to accept',
    firstAnswered: 's to answer',
    ready: 's to ready',
  };
  const lines = [head, ...rows].map((row) => Object.values(row).map(String));
  const widths = Object.keys(head).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) => `      ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`)
    .join('\n');
}
