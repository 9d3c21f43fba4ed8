// Answers to what went wrong: JSON for programs and scripts, a page for people.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
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
