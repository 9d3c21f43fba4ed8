// The owner console: who may see it, and what it consists of.
import cookieCsrf from '@fastify/csrf-protection';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { logOut } from '../../../prisma/stores/sessions.js';
import { countWaiting } from '../../../prisma/stores/views/messages.js';
import type { RouteDeps } from '../../deps.js';
import { parsed } from '../../problems.js';
import { approvalRoutes } from './approval-routes.js';
import { controlRoutes } from './control-routes.js';
import { consoleEvents } from './events.js';
import { editRoutes } from './edit-routes.js';
import { loginRoutes } from './login-routes.js';
import { outcomeRoutes } from './outcome-routes.js';
import { ownChatRoutes } from './own-chat-routes.js';
import { createPages, type Pages } from './pages.js';
import { recordRoutes } from './record-routes.js';
import { clearSessionCookie, ownerOf, requireOwner } from './session.js';
import { Navigation } from './shell.js';

const place = z.object({
  at: z.enum(['approvals', 'conversations', 'runs', 'messages', 'controls', 'search']).default('approvals'),
});

export async function consoleRoutes(app: FastifyInstance, deps: RouteDeps): Promise<void> {
  await app.register(async (pages) => {
    await pages.register(formbody);
    await pages.register(cookieCsrf, {
      cookieKey: 'aroko_csrf',
      cookieOpts: { signed: true, httpOnly: true, sameSite: 'strict', path: '/console', secure: 'auto' },
      getToken: csrfTokenOf,
    });
    loginRoutes(pages, deps);
    await pages.register(async (inside) => {
      inside.addHook('onRequest', requireOwner(deps.database, deps.desk));
      const shared = createPages(deps);
      consoleEvents(inside, deps);
      frameRoutes(inside, deps, shared);
      approvalRoutes(inside, deps, shared);
      editRoutes(inside, deps, shared);
      outcomeRoutes(inside, deps, shared);
      controlRoutes(inside, deps, shared);
      ownChatRoutes(inside, deps, shared);
      recordRoutes(inside, deps, shared);
    });
  });
}

function csrfTokenOf(request: FastifyRequest): string | undefined {
  const header = request.headers['x-csrf-token'];
  if (typeof header === 'string') return header;
  const form = z.object({ _csrf: z.string() }).safeParse(request.body);
  return form.success ? form.data._csrf : undefined;
}

/** What stands around every page. */
function frameRoutes(app: FastifyInstance, deps: RouteDeps, { send }: Pages): void {
  app.get('/console', async (_request, reply) => reply.redirect('/console/approvals', 303));

  app.get('/console/navigation', async (request, reply) => {
    const { at } = parsed(place, request.query, 'The query');
    return send(reply, <Navigation at={at} counts={await deps.inDesk(countWaiting)} />);
  });

  app.post('/console/logout', { preHandler: app.csrfProtection }, async (request, reply) => {
    await logOut(deps.database, ownerOf(request));
    clearSessionCookie(reply);
    return reply.redirect('/console/login', 303);
  });
}
