// The headless JSON API below /api: the same channel for programs. Described in docs/api.md and docs/openapi.yaml; a test
// holds the three together.
import type { FastifyInstance } from 'fastify';
import type { RouteDeps } from '../deps.js';
import { Problem } from '../problems.js';
import { approvalRoutes } from './approvals.js';
import { chatRoutes } from './chats.js';
import { messageRoutes } from './messages.js';
import { runRoutes } from './runs.js';
import type { TokenCheck } from './token.js';

export async function apiRoutes(app: FastifyInstance, deps: RouteDeps, token: TokenCheck): Promise<void> {
  await app.register(
    async (api) => {
      // Before the body is read, and after the limit on requests has counted the stranger.
      api.addHook('preParsing', async (request, _reply, payload) => {
        await token.require(request);
        return payload;
      });
      api.setNotFoundHandler(() => {
        throw new Problem(404, 'not_found', 'The API has nothing here. See docs/api.md.');
      });
      chatRoutes(api, deps);
      approvalRoutes(api, deps);
      runRoutes(api, deps);
      messageRoutes(api, deps);
    },
    { prefix: '/api' },
  );
}
