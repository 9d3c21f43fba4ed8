// The gateway as a Fastify server: what every route shares (headers, limits, cookies, errors), then the routes.
import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyInstance } from 'fastify';
import { apiRoutes } from './api/routes.js';
import { createTokenCheck } from './api/token.js';
import { routeDeps, type GatewayDeps } from './deps.js';
import { answerBrokenRequest, answerMisdirected, errorAnswers } from './error-answers.js';
import { strictJson } from './json-body.js';
import { healthRoutes } from './health.js';
import { Problem } from './problems.js';
import { assetRoutes } from './web/assets.js';
import { chatPageRoutes } from './web/chat/routes.js';
import { consoleRoutes } from './web/console/routes.js';
import { whatsappCloudRoutes } from './whatsapp-cloud/routes.js';

const BODY_BYTES = 1024 * 1024;
/** Slow bodies are cut; event streams aren't requests any more once they are answered. */
const REQUEST_MS = 30_000;
/** For its head alone. */
const HEAD_MS = 10_000;
/** How often Node looks for requests that are too slow; its own half minute would double what they may take. */
const LOOK_FOR_SLOW_MS = 2_000;
/** Per address; several people may share one. Whoever has the API token is trusted and not counted. */
const REQUESTS_PER_MINUTE = 1_200;

/** Everything a page needs comes from this server; nothing inline, nothing evaluated, no frame around it. */
const CONTENT_SECURITY_POLICY = {
  useDefaults: false,
  directives: {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    // The style sheet of Pico carries its icons as data.
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'"],
    'form-action': ["'self'"],
    'frame-ancestors': ["'none'"],
    'base-uri': ["'none'"],
  },
};

export interface ServerLimits {
  /** For the whole of a request to arrive. */
  requestMs?: number;
}

/** The server, ready to listen. `close` ends open event streams and waits for calls to Temporal that are under way. */
export async function createServer(
  given: GatewayDeps,
  { requestMs = REQUEST_MS }: ServerLimits = {},
): Promise<FastifyInstance> {
  const deps = routeDeps(given);
  const token = createTokenCheck(deps.apiToken);
  const app = Fastify({
    bodyLimit: BODY_BYTES,
    requestTimeout: requestMs,
    http: {
      // Node takes the longer of the two for the whole request, whichever it is called.
      headersTimeout: Math.min(requestMs, HEAD_MS),
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(requestMs, LOOK_FOR_SLOW_MS),
    },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => void answerMisdirected(error, request, reply),
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 200 },
  });
  // Only JSON is taken, and forms in the console.
  app.removeContentTypeParser('text/plain');
  strictJson(app);
  errorAnswers(app, deps);
  deps.metrics?.observe(app);
  await app.register(helmet, {
    contentSecurityPolicy: CONTENT_SECURITY_POLICY,
    referrerPolicy: { policy: 'same-origin' },
    // Says nothing over http, and whoever puts TLS in front decides about it there.
    strictTransportSecurity: false,
  });
  await app.register(rateLimit, {
    max: REQUESTS_PER_MINUTE,
    timeWindow: '1 minute',
    allowList: (request) => token.has(request),
    errorResponseBuilder: (_request, { after }) =>
      new Problem(429, 'too_many_requests', `That was more than we take at once. Try again in ${after}.`),
  });
  await app.register(cookie, {
    secret: Buffer.from(deps.content.keyring.derive('gateway cookies')).toString('base64'),
  });

  healthRoutes(app, deps);
  await assetRoutes(app);
  chatPageRoutes(app, deps);
  await consoleRoutes(app, deps);
  await apiRoutes(app, deps, token);
  await whatsappCloudRoutes(app, deps);

  app.addHook('preClose', async () => {
    for (const stream of deps.streams) stream.end();
  });
  app.addHook('onClose', async () => deps.conversations.settled());
  await app.ready();
  return app;
}
