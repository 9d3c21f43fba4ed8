// The platform's refusals on the wire, as recorded exchanges show them.
import { randomBytes } from 'node:crypto';

export interface GraphRefusal {
  status: number;
  body: { error: Record<string, unknown> };
}

/** Status and message by code; only codes that a fake has a reason to give. */
const KNOWN: Record<number, { status: number; message: string; type?: string }> = {
  1: { status: 500, message: 'An unknown error occurred' },
  2: { status: 503, message: 'Service temporarily unavailable' },
  4: { status: 400, message: 'Application request limit reached' },
  10: { status: 403, message: 'Application does not have permission for this action' },
  100: { status: 400, message: '(#100) Invalid parameter' },
  190: { status: 401, message: 'Error validating access token' },
  200: { status: 403, message: 'Permissions error' },
  368: { status: 403, message: 'Temporarily blocked for policies violations' },
  80007: { status: 400, message: 'Rate limit issues' },
  130429: { status: 400, message: '(#130429) Rate limit hit' },
  131000: { status: 500, message: '(#131000) Something went wrong' },
  131008: { status: 400, message: '(#131008) Required parameter is missing' },
  131009: { status: 400, message: '(#131009) Parameter value is not valid' },
  131016: { status: 500, message: '(#131016) Service unavailable' },
  131026: { status: 400, message: '(#131026) Message undeliverable' },
  131031: { status: 403, message: '(#131031) Business account locked' },
  131047: { status: 400, message: '(#131047) Re-engagement message' },
  131049: { status: 400, message: '(#131049) Not delivered to maintain healthy ecosystem engagement' },
  131051: { status: 400, message: '(#131051) Unsupported message type' },
  131052: { status: 400, message: '(#131052) Media download error' },
  131053: { status: 400, message: '(#131053) Media upload error' },
  131056: { status: 400, message: '(#131056) Business account and consumer account pair rate limit hit' },
  131057: { status: 500, message: '(#131057) Account in maintenance mode' },
  132000: { status: 400, message: '(#132000) Number of parameters does not match' },
  132001: { status: 404, message: '(#132001) Template name does not exist in the translation' },
  132015: { status: 400, message: '(#132015) Template is paused' },
};

export function refusal(code: number, details?: string): GraphRefusal {
  const { status, message, type = 'OAuthException' } = KNOWN[code] ?? { status: 400, message: `(#${code})` };
  const error_data = details === undefined ? {} : { error_data: { messaging_product: 'whatsapp', details } };
  return { status, body: { error: { message, type, code, ...error_data, fbtrace_id: traceId() } } };
}

/** Of an object that isn't there, or isn't ours to see. */
export function noSuchObject(id: string, method: string): GraphRefusal {
  const message = `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation`;
  const error = {
    message,
    type: 'GraphMethodException',
    code: 100,
    error_subcode: 33,
    fbtrace_id: traceId(),
  };
  return { status: 400, body: { error } };
}

function traceId(): string {
  return `A${randomBytes(16).toString('base64url')}`;
}
