// Who is at the console: a cookie that only this server reads, good for twelve hours.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../../prisma/database.js';
import { findSession, type OwnerSession } from '../../../prisma/stores/sessions.js';
import type { Desk } from '../../deps.js';
import { Problem } from '../../problems.js';

const COOKIE = 'aroko_session';
export const SESSION_HOURS = 12;

export interface LoggedIn extends OwnerSession {
  sessionToken: string;
}

const owners = new WeakMap<FastifyRequest, LoggedIn>();

/** The owner that `requireOwner` has let in. */
export function ownerOf(request: FastifyRequest): LoggedIn {
  const owner = owners.get(request);
  if (!owner) throw new Error('a console route without requireOwner');
  return owner;
}

/** Whether this is an owner by the configuration of now. A session outlives a reload, and being an owner doesn't. */
export function isOwnerNow(desk: Desk, ownerId: string): boolean {
  return desk.configuration.owners.some(({ id }) => id === ownerId);
}

/** A hook: people without a session are shown where to log in; scripts of a page get a 401. */
export function requireOwner(
  database: Database,
  desk: Desk,
): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  return async (request, reply) => {
    const sessionToken = request.cookies[COOKIE];
    const session = sessionToken ? await findSession(database, sessionToken) : undefined;
    if (sessionToken && session?.tenantId === desk.tenantId && isOwnerNow(desk, session.ownerId)) {
      owners.set(request, { ...session, sessionToken });
      return undefined;
    }
    const isPage = request.method === 'GET' && request.headers.accept?.includes('text/html');
    if (!isPage || request.headers['hx-request'] === 'true') {
      throw new Problem(401, 'unauthorized', 'You are not logged in, or no longer. Open a fresh login link.');
    }
    return reply.redirect('/console/login', 303);
  };
}

export function setSessionCookie(reply: FastifyReply, { sessionToken }: { sessionToken: string }): void {
  reply.setCookie(COOKIE, sessionToken, {
    path: '/console',
    httpOnly: true,
    sameSite: 'strict',
    secure: 'auto',
    maxAge: SESSION_HOURS * 3600,
  });
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(COOKIE, { path: '/console' });
}
