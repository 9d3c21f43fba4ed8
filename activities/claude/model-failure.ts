// Every way in which a model provider fails, in one table: which failure it is to us, and when to ask again.
import { APIConnectionError, APIError, APIUserAbortError } from '@anthropic-ai/sdk';
import { ApplicationFailure } from '@temporalio/common';
import { FAILURE_TYPES } from '../../workflows/domain/failures.js';

/** Our request or our credentials: the same request gets the same answer. */
const REFUSED_STATUSES = [400, 401, 403, 404, 413, 422];
/** A provider that asks for more patience than a customer has gets the longest we wait. */
const LONGEST_DELAY_MS = 20_000;

/** Translates what the SDK throws. The message holds a status and nothing of the provider's text, which may quote ours. */
export function modelFailure(error: unknown): unknown {
  if (error instanceof APIUserAbortError) return error;
  if (error instanceof APIConnectionError) {
    return retryable('no connection to the model provider, or no answer in time');
  }
  if (error instanceof APIError) {
    const status = typeof error.status === 'number' ? error.status : 0;
    if (REFUSED_STATUSES.includes(status)) {
      return ApplicationFailure.create({
        type: FAILURE_TYPES.modelRefused,
        message: `the model provider refuses the request (${status})`,
        nonRetryable: true,
        details: [{ status }],
      });
    }
    return retryable(`the model provider answers ${status}`, retryAfterMs(error.headers));
  }
  // A reply that breaks off or is no JSON: whatever it was, it was not an answer.
  return retryable('the model provider sent something unreadable');
}

function retryable(message: string, delayMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAILURE_TYPES.modelUnavailable,
    message,
    ...(delayMs !== undefined && { nextRetryDelay: delayMs }),
  });
}

/** `retry-after` in seconds, or as a date; nothing where the provider names none. */
function retryAfterMs(headers: unknown): number | undefined {
  const named = headers instanceof Headers ? headers.get('retry-after') : undefined;
  if (!named) return undefined;
  const seconds = Number(named);
  const delay = Number.isNaN(seconds) ? Date.parse(named) - Date.now() : seconds * 1000;
  return Number.isFinite(delay) && delay > 0 ? Math.min(delay, LONGEST_DELAY_MS) : undefined;
}
