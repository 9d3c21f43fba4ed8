import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { logIn, stateOfLoginLink, type LinkState } from '../../../prisma/stores/sessions.js';
import type { RouteDeps } from '../../deps.js';
import { parsed } from '../../problems.js';
import { LoggedOutPage, LoginPage } from './login.js';
import { isOwnerNow, SESSION_HOURS, setSessionCookie } from './session.js';

const params = z.object({
  token: z.string().regex(/^[A-Za-z0-9_-]{20,80}$/, { error: 'is not a login link' }),
});

const WHY: Record<Exclude<LinkState, 'usable'>, string> = {
  used: 'This link has been used. Each link logs in once.',
  expired: 'This link is too old.',
  unknown: 'This login link isn’t known here.',
};

const attempts = { config: { rateLimit: { max: 30, timeWindow: '1 minute' } } };

/** What can be opened without a session. */
export function loginRoutes(app: FastifyInstance, { database, desk, logger }: RouteDeps): void {
  app.get('/console/login', async (_request, reply) => {
    const page = <LoggedOutPage because="You are not logged in, or no longer." />;
    return reply.type('text/html; charset=utf-8').send(await page);
  });

  app.get('/console/login/:token', attempts, async (request, reply) => {
    const { token } = parsed(params, request.params, 'The link');
    const state = await stateOfLoginLink(database, token);
    reply.type('text/html; charset=utf-8').header('referrer-policy', 'no-referrer');
    if (state !== 'usable') return reply.code(410).send(await (<LoggedOutPage because={WHY[state]} />));
    const csrfToken = reply.generateCsrf();
    const page = (
      <LoginPage business={desk.configuration.business.name} token={token} csrfToken={csrfToken} />
    );
    return reply.send(await page);
  });

  const guarded = { ...attempts, preHandler: app.csrfProtection };
  app.post('/console/login/:token', guarded, async (request, reply) => {
    const { token } = parsed(params, request.params, 'The link');
    const session = await logIn(database, {
      token,
      sessionHours: SESSION_HOURS,
      isOwner: (ownerId) => isOwnerNow(desk, ownerId),
    });
    if (!session) {
      const state = await stateOfLoginLink(database, token);
      const page = <LoggedOutPage because={WHY[state === 'usable' ? 'unknown' : state]} />;
      return reply
        .code(410)
        .type('text/html; charset=utf-8')
        .send(await page);
    }
    setSessionCookie(reply, session);
    logger.event('console.logged_in', { tenantId: session.tenantId, ownerId: session.ownerId });
    return reply.redirect('/console/approvals', 303);
  });
}
