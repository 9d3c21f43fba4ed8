// Answers to what went wrong: JSON for programs and scripts, a page for people.
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorFacts, type Logger } from '../config/logger.js';
import { Problem, problemOf } from './problems.js';
import { PlainPage } from './web/console/login.js';

export function errorAnswers(app: FastifyInstance, { logger }: { logger: Logger }): void {
  app.setErrorHandler(async (error, request, reply) => {
    const problem = problemOf(error);
    if (problem.statusCode >= 500) {
      logger.error('request.failed', {
        method: request.method,
        route: request.routeOptions.url,
        status: problem.statusCode,
        ...errorFacts(error),
      });
    }
    return answer(request, reply, problem);
  });
  app.setNotFoundHandler(async (request, reply) =>
    answer(request, reply, new Problem(404, 'not_found', 'There is nothing at this address.')),
  );
}

/** For an address that no route is looked for. */
export async function answerMisdirected(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  await answer(request, reply, problemOf(error));
}

/** For what isn't even a request: too slow, too long a head, no HTTP. The same form as every other refusal, and then the end. */
export function answerBrokenRequest(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const { statusCode, code, message } = brokenRequest(error.code);
  const body = JSON.stringify({ error: { code, message } });
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}

function brokenRequest(code: string): Problem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem(408, 'bad_request', 'The request took too long to arrive.');
    case 'HPE_HEADER_OVERFLOW':
      return new Problem(431, 'too_large', 'The head of the request is too long.');
    default:
      return new Problem(400, 'bad_request', 'The request could not be understood.');
  }
}

async function answer(request: FastifyRequest, reply: FastifyReply, problem: Problem): Promise<FastifyReply> {
  reply.code(problem.statusCode).header('cache-control', 'no-store');
  if (!wantsPage(request)) return reply.send({ error: { code: problem.code, message: problem.message } });
  const page = (
    <PlainPage title={TITLES[problem.statusCode] ?? 'That didn’t work'} icon="alert">
      <p safe>{problem.message}</p>
      <p>
        <a href={request.url.startsWith('/console') ? '/console' : '/'}>Back to the start</a>
      </p>
    </PlainPage>
  );
  return reply.type('text/html; charset=utf-8').send(await page);
}

const TITLES: Record<number, string> = {
  403: 'Not from here',
  404: 'Nothing here',
  410: 'Too late',
  429: 'A little too fast',
  500: 'Our fault',
  503: 'Not just now',
};

function wantsPage(request: FastifyRequest): boolean {
  if (request.url.startsWith('/api/') || request.headers['hx-request'] === 'true') return false;
  return request.headers.accept?.includes('text/html') ?? false;
}
