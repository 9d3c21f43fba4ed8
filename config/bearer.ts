// Bearer tokens: read from a file, compared in constant time.
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';

const MIN_TOKEN_LENGTH = 24;

/** The token file can't be used; the message says which, and what to do. */
export class TokenFileError extends Error {
  override readonly name = 'TokenFileError';
}

/**
 * The one token that the file holds; `variable` is what named the file.
 *
 * @throws {TokenFileError}
 */
export async function readToken({ path, variable }: { path: string; variable: string }): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new TokenFileError(`${variable}: ${path} can't be read`);
  });
  const token = text.trim();
  if (token.length < MIN_TOKEN_LENGTH || /\s/.test(token)) {
    throw new TokenFileError(
      `${variable}: ${path} has to hold one token of at least ${MIN_TOKEN_LENGTH} characters`,
    );
  }
  return token;
}

/** The token of an `authorization` header; undefined where it holds none. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

export function isSameToken(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

/** Equal lengths, whatever was sent. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}
