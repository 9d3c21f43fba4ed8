// The door of the Cloud API: the platform's question whether the address is ours, and its webhooks. One address for the whole
// app, and one for each number, because the platform can be told either.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { RouteDeps } from '../deps.js';
import { parsed, Problem } from '../problems.js';
import { createAccountBook } from './accounts.js';
import { createIntake } from './intake.js';
import { readSignature } from './signature.js';
import { updatesOf } from './updates.js';

const PATH = '/webhooks/whatsapp';
/** The platform's own limit of a webhook. */
const BODY_BYTES = 3 * 1024 * 1024;

const verification = z.object({
  'hub.mode': z.literal('subscribe'),
  'hub.verify_token': z.string().min(1),
  'hub.challenge': z.string().min(1).max(1_000),
});

const params = z.object({ phoneNumberId: z.string().min(1).max(100).optional() });

const utf8 = new TextDecoder('utf-8', { fatal: true });

export async function whatsappCloudRoutes(app: FastifyInstance, deps: RouteDeps): Promise<void> {
  const { webhooks, database, content, inbox, logger } = deps;
  if (!webhooks) return;
  const book = createAccountBook(webhooks);
  const intake = createIntake({ database, content, inbox });

  function accountKeyOf(request: FastifyRequest): string | undefined {
    const { phoneNumberId } = parsed(params, request.params, 'The address');
    if (phoneNumberId === undefined || book.isOurs(phoneNumberId)) return phoneNumberId;
    throw new Problem(404, 'not_found', 'No number with this id is configured here.');
  }

  await app.register(async (door) => {
    // The signature is over the bytes as they came: nothing may read them first.
    door.removeContentTypeParser('application/json');
    door.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );

    for (const path of [PATH, `${PATH}/:phoneNumberId`]) {
      door.get(path, async (request, reply) => {
        const accountKey = accountKeyOf(request);
        const asked = verification.safeParse(request.query);
        if (!asked.success || !book.isVerifyToken(asked.data['hub.verify_token'], accountKey)) {
          logger.warn('webhook.not_verified', { accountKey });
          throw new Problem(403, 'forbidden', 'This is not the verify token that is configured here.');
        }
        return reply.type('text/plain; charset=utf-8').send(asked.data['hub.challenge']);
      });

      door.post(
        path,
        {
          bodyLimit: BODY_BYTES,
          // Whoever has a secret of ours is trusted; strangers are refused before their body is read, or by one hash.
          config: { rateLimit: false },
          onRequest: async (request) => {
            if (!readSignature(request.headers['x-hub-signature-256'])) throw unsigned();
          },
        },
        async (request) => {
          const accountKey = accountKeyOf(request);
          const signature = readSignature(request.headers['x-hub-signature-256']);
          const { body } = request;
          if (!signature || !(body instanceof Uint8Array)) throw unsigned();
          const signedFor = book.signedFor({ body, signature }, accountKey);
          if (!signedFor) {
            logger.warn('webhook.refused', { accountKey, code: 'signature', bytes: body.length });
            throw unsigned();
          }
          const updates = updatesOf(jsonOf(body));
          const foreign = updates.find(
            ({ phoneNumberId: id }) => id !== undefined && !signedFor.has(id) && book.isOurs(id),
          );
          if (foreign) {
            logger.warn('webhook.refused', { accountKey, code: 'other_app', bytes: body.length });
            throw new Problem(
              403,
              'forbidden',
              'This secret does not speak for a number that is named here.',
            );
          }
          const { refused, ...taken } = await intake.take(updates, signedFor);
          logger.event('webhook.taken', { ...taken, refusedMessages: sum(refused) });
          if (taken.unattributed > 0) {
            // Not acknowledged: the platform keeps it for some days, and the configuration may be mended by then.
            throw new Problem(404, 'not_found', 'Nobody here has a number that is named here.');
          }
          return { ...taken, refused };
        },
      );
    }
  });
}

function unsigned(): Problem {
  return new Problem(401, 'unauthorized', 'The signature is missing or does not fit the body.');
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    throw new Problem(400, 'bad_request', 'The body is not valid JSON.');
  }
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
