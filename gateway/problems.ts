// What goes wrong at the door, in words that say whose fault it is. Programs get `{ error: { code, message } }`, people
// a page; neither ever gets what a library said, because that may carry values.
import type { FastifyError } from 'fastify';
import type { z } from 'zod';

export type ProblemCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'gone'
  | 'too_large'
  | 'unsupported_media_type'
  | 'too_many_requests'
  | 'unavailable'
  | 'internal';

/** A request that gets no for an answer. `message` is meant for whoever sent it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  constructor(
    readonly statusCode: number,
    readonly code: ProblemCode,
    message: string,
  ) {
    super(message);
  }
}

const CODE_OF_STATUS: Record<number, ProblemCode> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  408: 'bad_request',
  409: 'conflict',
  410: 'gone',
  413: 'too_large',
  414: 'too_large',
  415: 'unsupported_media_type',
  429: 'too_many_requests',
};

const MESSAGE_OF_FASTIFY: Record<string, string> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is larger than is taken here.',
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty, although its type says JSON.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The body has to be JSON: content-type application/json.',
  FST_ERR_BAD_URL: 'The address is no address.',
  FST_ERR_MAX_PARAM_LENGTH: 'The address is too long.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as the request says.',
  FST_CSRF_INVALID_TOKEN: 'This page is too old to act from. Reload it and try again.',
  FST_CSRF_MISSING_SECRET: 'This page is too old to act from. Reload it and try again.',
};

/** Turns whatever was thrown into what the sender is told. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isDatabaseAway(error)) {
    return new Problem(
      503,
      'unavailable',
      'Our database can’t be reached just now. Nothing was stored; try again.',
    );
  }
  if (isFastifyError(error) && error.statusCode !== undefined && error.statusCode < 500) {
    const code = CODE_OF_STATUS[error.statusCode] ?? 'bad_request';
    const message =
      MESSAGE_OF_FASTIFY[error.code] ?? (code === 'too_many_requests' ? error.message : undefined);
    return new Problem(error.statusCode, code, message ?? 'The request could not be understood.');
  }
  return new Problem(500, 'internal', 'Something went wrong on our side. It has been logged.');
}

/** Parses what came from outside, or says in one sentence what is wrong with it. */
export function parsed<Shape extends z.ZodType>(shape: Shape, value: unknown, what: string): z.output<Shape> {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  throw new Problem(
    400,
    'bad_request',
    `${what}${path ? `: "${path}"` : ''}: ${issue?.message ?? 'is not valid'}.`,
  );
}

/** Codes of Prisma and of the driver that mean "nobody there", at any depth of the cause. */
const AWAY = new Set([
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2028',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P03',
]);

export function isDatabaseAway(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 4) return false;
  if ('code' in error && typeof error.code === 'string' && AWAY.has(error.code)) return true;
  if (error instanceof Error && error.name === 'PrismaClientInitializationError') return true;
  if ('kind' in error && (error.kind === 'DatabaseNotReachable' || error.kind === 'ConnectionClosed'))
    return true;
  // Of a raw query Prisma says only that it failed; the driver's own error lies deeper.
  const inside = [
    'cause' in error ? error.cause : undefined,
    'meta' in error ? error.meta : undefined,
    'driverAdapterError' in error ? error.driverAdapterError : undefined,
  ];
  return inside.some((part) => isDatabaseAway(part, depth + 1));
}

/** The SQLSTATE that Postgres gave, at any depth of what Prisma made of it. */
export function sqlStateOf(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 6) return undefined;
  const inside = [
    'cause' in error ? error.cause : undefined,
    'meta' in error ? error.meta : undefined,
    'driverAdapterError' in error ? error.driverAdapterError : undefined,
  ];
  for (const part of inside) {
    const found = sqlStateOf(part, depth + 1);
    if (found !== undefined) return found;
  }
  const codes = [
    'originalCode' in error ? error.originalCode : undefined,
    'code' in error ? error.code : undefined,
  ];
  return codes.find((code): code is string => typeof code === 'string' && SQLSTATE.test(code));
}

/** Five letters and digits; Prisma's own codes look alike and begin with P1 to P6. */
const SQLSTATE = /^(?!P[1-6]\d{3}$)[0-9A-Z]{5}$/;

/** Postgres can't take this as data: it would not the next time either (classes 22 data, 23 integrity, 54 limits). */
export function isDataRefused(error: unknown): boolean {
  return /^(?:22|23|54)/.test(sqlStateOf(error) ?? '');
}

/** Two transactions were in each other's way, and this one had to give way. */
export function isLostRace(error: unknown): boolean {
  return ['40001', '40P01', '55P03'].includes(sqlStateOf(error) ?? '');
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}
