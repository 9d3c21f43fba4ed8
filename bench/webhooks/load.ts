// Messages at a steady rate, whatever the gateway does: each has its moment, and its latency counts from then, so that a slow
// answer isn't hidden by the ones that had to wait for it.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../prisma/database.js';
import type { Poster } from './post.js';

export interface Load {
  posted: number;
  answered: number;
  crashes: number;
  sent_per_s: number;
  p50_ms: number;
  p99_ms: number;
  max_ms: number;
}

export interface LoadPlan {
  rate: number;
  seconds: number;
  chats: number;
  /** The number that they write to. */
  accountKey: string;
  /** What the ids of the messages begin with. */
  mark: string;
}

const WORDS = [
  'Merhaba',
  'is anything free on Saturday?',
  'teşekkürler 🙏',
  'and what would that cost me?',
  'ok',
];

export async function runLoad(poster: Poster, plan: LoadPlan): Promise<Load> {
  const { rate, seconds } = plan;
  const total = Math.round(rate * seconds);
  const latencies: number[] = [];
  let answered = 0;
  let crashes = 0;
  const started = performance.now();
  const posted = await atRate({ rate, total }, async (due, place) => {
    const { status } = await poster.post(messageOf(plan, place));
    latencies.push(performance.now() - due);
    if (status === 200) answered += 1;
    else crashes += 1;
  });
  const tookMs = performance.now() - started;
  return {
    posted,
    answered,
    crashes,
    sent_per_s: round(posted / (tookMs / 1000)),
    p50_ms: round(percentile(latencies, 50)),
    p99_ms: round(percentile(latencies, 99)),
    max_ms: round(percentile(latencies, 100)),
  };
}

/** What this Postgres takes for one row and its commit, at the same rate and through the same driver. */
export async function rawInsertP99(bare: Database, plan: { rate: number; seconds: number }): Promise<number> {
  const { prisma } = bare;
  await prisma.$executeRaw`create table if not exists raw_insert (id uuid primary key, body bytea not null, at timestamptz not null default now())`;
  const body = new Uint8Array(600);
  const latencies: number[] = [];
  await atRate({ rate: plan.rate, total: Math.round(plan.rate * plan.seconds) }, async (due) => {
    await prisma.$executeRaw`insert into raw_insert (id, body) values (${randomUUID()}::uuid, ${body})`;
    latencies.push(performance.now() - due);
  });
  return round(percentile(latencies, 99));
}

async function atRate(
  { rate, total }: { rate: number; total: number },
  work: (due: number, place: number) => Promise<void>,
): Promise<number> {
  const started = performance.now();
  const underWay: Promise<void>[] = [];
  for (let place = 0; place < total; place += 1) {
    const due = started + (place * 1000) / rate;
    const wait = due - performance.now();
    if (wait > 1) await sleep(wait);
    underWay.push(work(due, place));
  }
  await Promise.all(underWay);
  return total;
}

function messageOf({ accountKey, chats, mark }: LoadPlan, place: number): unknown {
  const from = `90555${String(place % chats).padStart(7, '0')}`;
  const body = WORDS[place % WORDS.length] ?? '';
  return {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '1',
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: accountKey, phone_number_id: accountKey },
              contacts: [{ profile: { name: 'A customer' }, wa_id: from }],
              messages: [
                {
                  from,
                  id: `${mark}${place}`,
                  timestamp: String(Math.floor(Date.now() / 1000)),
                  type: 'text',
                  text: { body },
                },
              ],
            },
          },
        ],
      },
    ],
  };
}

function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
