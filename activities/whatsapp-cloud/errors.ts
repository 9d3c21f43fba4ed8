// Every way in which a send can go wrong, in one table: what it means for the message, and when to try again. The codes are
// the platform's (Cloud API error codes); its texts and titles are for people and change, so nothing depends on them.
//
// The line that matters runs between a clean refusal and not knowing. A clean refusal says that nothing was sent: it may be
// tried again, or has failed. No answer, a connection that breaks off, and a fault of the platform's own say nothing: such a
// message is never sent again by itself.

/**
 * `busy`: refused, try again after a while. `window`: refused, because only templates may be sent now. `failed`: refused, and
 * the same again would be too. `unknown`: it may have been sent.
 */
export type SendMeaning = 'busy' | 'window' | 'failed' | 'unknown';

/** Whose it is to mend: what we sent, the business account, the person it goes to, the platform. */
export type Fault = 'request' | 'account' | 'recipient' | 'platform';

/** Milliseconds to wait before the next attempt; `attempt` counts those made, from 1. */
type Delay = (attempt: number) => number;

interface Entry {
  name: string;
  meaning: SendMeaning;
  fault: Fault;
  delay?: Delay;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const growing =
  (base: number, first: number, longest: number): Delay =>
  (attempt) =>
    Math.min(longest, first * base ** Math.max(0, attempt - 1));

/** Too fast to one person: the platform asks for 4^n seconds, n from 0. */
const pairDelay = growing(4, SECOND, 256 * SECOND);
/** Too fast altogether: a moment is enough. */
const throughputDelay = growing(2, SECOND, MINUTE);
/** Too many calls in an hour. */
const quotaDelay = growing(2, MINUTE, 15 * MINUTE);
/** Moved to a higher throughput, or not reachable: about a minute. */
const pauseDelay = growing(1.5, 30 * SECOND, 5 * MINUTE);
const connectDelay = growing(2, SECOND, 30 * SECOND);

const busy = (name: string, fault: Fault, delay: Delay): Entry => ({ name, meaning: 'busy', fault, delay });
const failed = (name: string, fault: Fault): Entry => ({ name, meaning: 'failed', fault });
const unknown = (name: string): Entry => ({ name, meaning: 'unknown', fault: 'platform' });

export const GRAPH_ERRORS: Readonly<Record<number, Entry>> = {
  // Credentials and permissions.
  0: failed('not_authenticated', 'account'),
  3: failed('no_capability', 'account'),
  10: failed('permission_denied', 'account'),
  190: failed('access_token_expired', 'account'),
  200: failed('permission_missing', 'account'),
  131005: failed('access_denied', 'account'),
  // Limits.
  4: busy('app_call_limit', 'account', quotaDelay),
  613: busy('call_limit', 'account', quotaDelay),
  80007: busy('account_call_limit', 'account', quotaDelay),
  130429: busy('throughput_limit', 'account', throughputDelay),
  131056: busy('pair_limit', 'recipient', pairDelay),
  131057: busy('number_in_maintenance', 'platform', pauseDelay),
  131048: failed('spam_limit', 'account'),
  133016: failed('registration_limit', 'account'),
  // The account.
  33: failed('number_deleted', 'account'),
  368: failed('blocked_for_policy', 'account'),
  130497: failed('country_restricted', 'account'),
  131031: failed('account_locked', 'account'),
  131037: failed('display_name_not_approved', 'account'),
  131042: failed('payment_problem', 'account'),
  131045: failed('number_not_registered', 'account'),
  133010: failed('number_not_registered', 'account'),
  134011: failed('payment_terms_not_accepted', 'account'),
  // The person it goes to.
  131047: { name: 'window_closed', meaning: 'window', fault: 'recipient' },
  130472: failed('recipient_in_experiment', 'recipient'),
  131021: failed('recipient_is_sender', 'request'),
  131026: failed('undeliverable', 'recipient'),
  131030: failed('recipient_not_allowed', 'account'),
  131043: failed('expired', 'recipient'),
  131049: failed('held_back_by_platform', 'recipient'),
  131050: failed('recipient_opted_out', 'recipient'),
  131062: failed('needs_phone_number', 'request'),
  // What we sent.
  100: failed('invalid_parameter', 'request'),
  131008: failed('parameter_missing', 'request'),
  131009: failed('parameter_invalid', 'request'),
  131051: failed('type_unsupported', 'request'),
  131052: failed('media_not_loaded', 'request'),
  131053: failed('media_not_uploaded', 'request'),
  135000: failed('refused_without_reason', 'request'),
  132000: failed('template_parameter_count', 'request'),
  132001: failed('template_missing', 'account'),
  132005: failed('template_text_too_long', 'request'),
  132007: failed('template_against_policy', 'account'),
  132012: failed('template_parameter_format', 'request'),
  132015: failed('template_paused', 'account'),
  132016: failed('template_disabled', 'account'),
  132068: failed('flow_blocked', 'account'),
  132069: failed('flow_throttled', 'account'),
  // Faults of the platform, after which nobody knows.
  1: unknown('platform_error'),
  2: unknown('platform_unavailable'),
  131000: unknown('platform_error'),
  131016: unknown('platform_overloaded'),
  133004: unknown('platform_unavailable'),
};

/** Codes that are a whole range: permissions. */
const PERMISSIONS = { from: 200, to: 299, entry: GRAPH_ERRORS[200] };

export interface SendError {
  meaning: SendMeaning;
  /** The platform's code, or a word of ours; kept with the message. */
  code: string;
  name: string;
  fault: Fault;
  /** Only with `busy`. */
  delayMs?: number;
}

/** What the platform's own answer means. `code`: of its error object; undefined: it had none that could be read. */
export function answeredError(answer: {
  status: number;
  code: number | undefined;
  isTransient?: boolean | undefined;
  attempt: number;
}): SendError {
  const { status, code, attempt } = answer;
  const entry = (code === undefined ? undefined : entryOf(code)) ?? entryOfStatus(answer);
  return toError(entry, code === undefined ? `http_${status}` : String(code), attempt);
}

function entryOf(code: number): Entry | undefined {
  if (code >= PERMISSIONS.from && code <= PERMISSIONS.to) return PERMISSIONS.entry;
  return GRAPH_ERRORS[code];
}

/** Codes that the table doesn't know yet, and answers without one. */
function entryOfStatus({
  status,
  isTransient,
}: {
  status: number;
  isTransient?: boolean | undefined;
}): Entry {
  if (status === 429) return busy('too_many_requests', 'account', throughputDelay);
  // The server has waited in vain for the rest, or has itself been waited for: either way it may have acted.
  if (status === 408 || status >= 500) return unknown('platform_error');
  if (status >= 200 && status < 300) return unknown('unreadable_answer');
  return isTransient ? busy('transient', 'platform', pauseDelay) : failed('refused', 'request');
}

/** Errors of a connection that never came to be: nothing was sent. */
const NOT_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|CERT_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+)$/;

/** What a call without an answer means. */
export function unansweredError(error: unknown, attempt: number): SendError {
  if (isTimeout(error)) return toError(unknown('no_answer'), 'no_answer', attempt);
  const isNotSent = causeCodes(error).some((code) => NOT_CONNECTED.test(code));
  return isNotSent
    ? toError(busy('no_connection', 'platform', connectDelay), 'no_connection', attempt)
    : toError(unknown('connection_cut'), 'connection_cut', attempt);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
}

/** `fetch` wraps what really happened, and several addresses make several errors. */
function causeCodes(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  const parts = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return [...own, ...parts.flatMap(causeCodes), ...causeCodes(error.cause)];
}

/** Refusals of our own, before anything is sent. */
export function ownRefusal(code: string, fault: Fault): SendError {
  return { meaning: 'failed', code, name: code, fault };
}

function toError({ name, meaning, fault, delay }: Entry, code: string, attempt: number): SendError {
  return { meaning, code, name, fault, ...(delay && { delayMs: Math.round(delay(attempt)) }) };
}
