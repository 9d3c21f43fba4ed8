// Login links and sessions of the owner console. Only hashes of tokens are stored: whoever reads the database can't log in.
import { createHash, randomBytes } from 'node:crypto';
import { appendAudit, tenantOfLoginLink, tenantOfSession } from '../functions.js';
import type { Database } from '../database.js';

export interface OwnerSession {
  tenantId: string;
  ownerId: string;
  expiresAt: Date;
}

/** 256 bits: not to be guessed, so that its hash needs no salt. */
const TOKEN_BYTES = 32;

function hashOf(token: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(token, 'utf8').digest());
}

/** Makes a link that logs this owner in, once. The token is in nobody's hands but the caller's. */
export async function createLoginLink(
  database: Database,
  { tenantId, ownerId, validMinutes }: { tenantId: string; ownerId: string; validMinutes: number },
): Promise<{ token: string; expiresAt: Date }> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const expiresAt = new Date(Date.now() + validMinutes * 60_000);
  await database.inTenant(tenantId, async (tx) => {
    await tx.loginLink.create({ data: { tokenHash: hashOf(token), tenantId, ownerId, expiresAt } });
    await appendAudit(tx, {
      stream: 'tenant',
      event: 'login.link_created',
      actor: 'gateway',
      facts: { ownerId },
    });
  });
  return { token, expiresAt };
}

export type LinkState = 'usable' | 'used' | 'expired' | 'unknown';

/** Looks at a link without using it up. */
export async function stateOfLoginLink(database: Database, token: string): Promise<LinkState> {
  const tenantId = await tenantOfLoginLink(database.prisma, hashOf(token));
  if (tenantId === undefined) return 'unknown';
  return database.inTenant(tenantId, async (tx) => {
    const link = await tx.loginLink.findUnique({ where: { tokenHash: hashOf(token) } });
    if (!link) return 'unknown';
    if (link.usedAt) return 'used';
    return link.expiresAt.getTime() > Date.now() ? 'usable' : 'expired';
  });
}

/**
 * Uses the link up and opens a session. Undefined: it was used before, is too old, never was, or is of somebody who is no
 * owner any more; theirs is left unused.
 */
export async function logIn(
  database: Database,
  {
    token,
    sessionHours,
    isOwner,
  }: { token: string; sessionHours: number; isOwner: (ownerId: string) => boolean },
): Promise<(OwnerSession & { sessionToken: string }) | undefined> {
  const tenantId = await tenantOfLoginLink(database.prisma, hashOf(token));
  if (tenantId === undefined) return undefined;
  return database.inTenant(tenantId, async (tx) => {
    const link = await tx.loginLink.findUnique({ where: { tokenHash: hashOf(token) } });
    if (!link || !isOwner(link.ownerId)) return undefined;
    // Compare and set: of two clicks one gets in.
    const [used] = await tx.$queryRaw<{ ownerId: string }[]>`
      update login_links set used_at = now()
      where token_hash = ${hashOf(token)} and used_at is null and expires_at > now() returning owner_id as "ownerId"`;
    if (!used) return undefined;
    const sessionToken = randomBytes(TOKEN_BYTES).toString('base64url');
    const expiresAt = new Date(Date.now() + sessionHours * 3_600_000);
    await tx.session.create({
      data: { tokenHash: hashOf(sessionToken), tenantId, ownerId: used.ownerId, expiresAt },
    });
    await appendAudit(tx, { stream: 'tenant', event: 'console.logged_in', actor: used.ownerId, facts: {} });
    return { tenantId, ownerId: used.ownerId, expiresAt, sessionToken };
  });
}

/** The session of a cookie, if it is open now. */
export async function findSession(
  database: Database,
  sessionToken: string,
): Promise<OwnerSession | undefined> {
  const tokenHash = hashOf(sessionToken);
  const tenantId = await tenantOfSession(database.prisma, tokenHash);
  if (tenantId === undefined) return undefined;
  return database.inTenant(tenantId, async (tx) => {
    const row = await tx.session.findUnique({ where: { tokenHash } });
    if (!row || row.endedAt || row.expiresAt.getTime() <= Date.now()) return undefined;
    return { tenantId, ownerId: row.ownerId, expiresAt: row.expiresAt };
  });
}

export async function logOut(
  database: Database,
  { tenantId, ownerId, sessionToken }: { tenantId: string; ownerId: string; sessionToken: string },
): Promise<void> {
  await database.inTenant(tenantId, async (tx) => {
    await tx.session.updateMany({
      where: { tokenHash: hashOf(sessionToken), endedAt: null },
      data: { endedAt: new Date() },
    });
    await appendAudit(tx, { stream: 'tenant', event: 'console.logged_out', actor: ownerId, facts: {} });
  });
}
