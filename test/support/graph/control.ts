// The controls of a fake Graph server in a process of its own: what tests in the same process do by calling it.
import { z } from 'zod';
import type { Fault } from './faults.js';
import type { FakeGraph } from './fake.js';
import { STATUSES } from './webhooks.js';

const fault = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('refuse'), code: z.int() }),
  z.object({ kind: z.literal('cutBefore') }),
  z.object({ kind: z.literal('cutAfter') }),
  z.object({ kind: z.literal('serverError'), isTaken: z.boolean(), status: z.int().default(500) }),
  z.object({ kind: z.literal('silence'), isTaken: z.boolean() }),
  z.object({ kind: z.literal('slow'), ms: z.int() }),
  z.object({ kind: z.literal('garbage') }),
]) satisfies z.ZodType<Fault>;

const random = z.object({ share: z.number().min(0).max(1), kinds: z.array(fault).min(1), seed: z.int() });

const plan = z.object({
  statuses: z.array(z.enum(STATUSES)),
  failedCode: z.int().default(131026),
  delayMs: z.union([z.number(), z.tuple([z.number(), z.number()])]).default(0),
  copies: z.int().min(1).max(10).default(1),
  isShuffled: z.boolean().default(false),
});

const writes = z.object({
  from: z.string().min(1),
  body: z.string().min(1),
  accountKey: z.string().default(''),
});

const report = z.object({ wamid: z.string(), status: z.enum(STATUSES), code: z.int().default(131026) });

/** `POST /control/<path>`; reading needs no body. */
export async function controlRequest(
  fake: FakeGraph,
  { path, body }: { path: string; body: Buffer },
): Promise<{ status: number; json: unknown }> {
  const read = <T>(form: z.ZodType<T>): T => form.parse(JSON.parse(body.toString('utf8') || 'null'));
  try {
    switch (path) {
      case 'sends':
        return { status: 200, json: { attempts: fake.attempts(), sends: fake.taken() } };
      case 'reads':
        return { status: 200, json: { reads: fake.reads() } };
      case 'faults/next':
        fake.faults.next(...read(z.array(fault)));
        break;
      case 'faults/random':
        fake.faults.random(read(random.nullable()) ?? undefined);
        break;
      case 'statuses':
        fake.report(read(plan.nullable()) ?? undefined);
        break;
      case 'report': {
        const { wamid, status, code } = read(report);
        const message = fake.taken().find((one) => one.wamid === wamid);
        if (!message) return { status: 404, json: { error: 'no such message was taken' } };
        return { status: 200, json: { answered: await fake.webhooks.reportNow(message, status, code) } };
      }
      case 'customer':
        return { status: 200, json: await fake.customerWrites(read(writes)) };
      case 'settled':
        await fake.webhooks.settled();
        break;
      case 'forget':
        fake.forget();
        break;
      default:
        return { status: 404, json: { error: 'no such control' } };
    }
    return { status: 200, json: { done: true } };
  } catch (error) {
    return { status: 400, json: { error: error instanceof Error ? error.message : 'not understood' } };
  }
}
