// JSON as it was written: bytes that are no UTF-8 are refused, because the usual way would put signs of its own in their place
// and store what nobody wrote.
import type { FastifyInstance } from 'fastify';
import { Problem } from './problems.js';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads JSON bodies with Fastify's own parser, which refuses keys that would reach a prototype. */
export function strictJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    let text: string;
    try {
      text = utf8.decode(body);
    } catch {
      done(new Problem(400, 'bad_request', 'The body is not valid UTF-8.'));
      return;
    }
    void parse(request, text, done);
  });
}
