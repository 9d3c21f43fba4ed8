// Posts webhooks as the platform does: signed, over connections that are kept open.
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { z } from 'zod';

/** What the gateway says became of it. */
export const answerShape = z.object({
  accepted: z.number(),
  stored: z.number(),
  duplicates: z.number(),
  echoes: z.number(),
  refused: z.record(z.string(), z.number()),
  statuses: z.number(),
  statusesUnmatched: z.number(),
  events: z.number(),
});
export type Answer = z.infer<typeof answerShape>;

export interface Posted {
  /** 0: no answer came. */
  status: number;
  /** Absent where it was not taken. */
  answer?: Answer | undefined;
  /** Why not, in the gateway's words. */
  problem?: string | undefined;
}

export interface Poster {
  /** Bytes are posted as they are, anything else as JSON. */
  post(body: unknown): Promise<Posted>;
  close(): void;
}

const CONNECTIONS = 64;
const problemShape = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export function createPoster(to: { gatewayUrl: string; appSecret: string }): Poster {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const url = new URL('/webhooks/whatsapp', to.gatewayUrl);

  return {
    post(body) {
      const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
      const signature = createHmac('sha256', to.appSecret).update(bytes).digest('hex');
      return new Promise<Posted>((resolve) => {
        const call = request(
          url,
          {
            method: 'POST',
            agent,
            headers: {
              'content-type': 'application/json',
              'content-length': bytes.length,
              'x-hub-signature-256': `sha256=${signature}`,
            },
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('error', () => resolve({ status: 0 }));
            response.on('end', () =>
              resolve(read(response.statusCode ?? 0, Buffer.concat(chunks).toString())),
            );
          },
        );
        call.on('error', () => resolve({ status: 0 }));
        call.end(bytes);
      });
    },
    close: () => agent.destroy(),
  };
}

function read(status: number, text: string): Posted {
  const json = parseJson(text);
  return {
    status,
    answer: answerShape.safeParse(json).data,
    problem: problemShape.safeParse(json).data?.error.message,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
