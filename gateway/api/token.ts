// The bearer token of the API.
import type { FastifyRequest } from 'fastify';
import { bearerOf, isSameToken, readToken } from '../../config/bearer.js';
import { Problem } from '../problems.js';

export { TokenFileError } from '../../config/bearer.js';

export async function readApiToken(path: string): Promise<string> {
  return readToken({ path, variable: 'AROKO_API_TOKEN_FILE' });
}

export interface TokenCheck {
  /** Whether the request carries the token. */
  has(request: FastifyRequest): boolean;
  /** A hook that lets in only who has it. */
  require(request: FastifyRequest): Promise<void>;
}

/** Any one of the tokens is enough. */
export function createTokenCheck(...tokens: string[]): TokenCheck {
  const given = (request: FastifyRequest): string | undefined => bearerOf(request.headers.authorization);
  const has = (request: FastifyRequest): boolean => {
    const candidate = given(request);
    return candidate !== undefined && tokens.some((token) => isSameToken(candidate, token));
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
