// The bearer token of the API: read from a file, compared in constant time.
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../problems.js';

const MIN_TOKEN_LENGTH = 24;

/** The token file can't be used; the message says which, and what to do. */
export class TokenFileError extends Error {
  override readonly name = 'TokenFileError';
}

export async function readApiToken(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new TokenFileError(`AROKO_API_TOKEN_FILE: ${path} can't be read`);
  });
  const token = text.trim();
  if (token.length < MIN_TOKEN_LENGTH || /\s/.test(token)) {
    throw new TokenFileError(
      `AROKO_API_TOKEN_FILE: ${path} has to hold one token of at least ${MIN_TOKEN_LENGTH} characters`,
    );
  }
  return token;
}

export interface TokenCheck {
  /** Whether the request carries the token. */
  has(request: FastifyRequest): boolean;
  /** A hook that lets in only who has it. */
  require(request: FastifyRequest): Promise<void>;
}

export function createTokenCheck(token: string): TokenCheck {
  const expected = digest(token);
  const given = (request: FastifyRequest): string | undefined =>
    /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const has = (request: FastifyRequest): boolean => {
    const candidate = given(request);
    return candidate !== undefined && timingSafeEqual(digest(candidate), expected);
  };
  return {
    has,
    async require(request) {
      if (has(request)) return;
      const message =
        given(request) === undefined
          ? 'Send the API token: authorization: Bearer <token>.'
          : 'The API token is not the right one.';
      throw new Problem(401, 'unauthorized', message);
    },
  };
}

/** Equal lengths, whatever was sent. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}
