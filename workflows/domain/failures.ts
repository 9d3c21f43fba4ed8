// The documented failure types and error codes (spec A7). Failures are thrown; outcomes are values.

/** Never retried, or retried within bounds by Temporal. */
export type RetryClass = 'never' | 'bounded';

const RETRY_CLASS_BY_CODE = {
  TOOL_UNKNOWN: 'never',
  TOOL_DISABLED: 'never',
  TOOL_NOT_ALLOWED_FOR_ACTOR: 'never',
  TOOL_SCHEMA_INVALID: 'never',
  TOOL_POLICY_DENIED: 'never',
  TOOL_TIMEOUT: 'bounded',
  TOOL_PROVIDER_ERROR: 'bounded',
  TOOL_RESULT_INVALID: 'never',
  ASYNC_ENQUEUE_FAILED: 'never',
  MCP_SERVER_UNAVAILABLE: 'bounded',
  CONNECTOR_UNSUPPORTED_URL: 'never',
  FOLLOWUP_AMBIGUOUS: 'never',
  FOLLOWUP_CONTEXT_EXPIRED: 'never',
} as const satisfies Record<string, RetryClass>;

export type ErrorCode = keyof typeof RETRY_CLASS_BY_CODE;
export const ERROR_CODES = Object.keys(RETRY_CLASS_BY_CODE) as ErrorCode[];

export function retryClass(code: ErrorCode): RetryClass {
  return RETRY_CLASS_BY_CODE[code];
}

/**
 * Types of `ApplicationFailure` that cross from activities to workflows. The message holds the type and a code only:
 * whatever the foreign error said is kept, encrypted, in the table `failures`.
 */
export const FAILURE_TYPES = {
  /** The model provider said no, or nothing; Temporal retries, with the provider's own delay where it named one. */
  modelUnavailable: 'MODEL_UNAVAILABLE',
  /** The model provider refuses this request or these credentials; retrying can't help. */
  modelRefused: 'MODEL_REQUEST_REFUSED',
  /** Postgres is away, or a transaction lost a race. */
  database: 'DATABASE_UNAVAILABLE',
  /** Something of ours is broken: a bug, or a row that can't be read. */
  internal: 'INTERNAL',
  /** The worker ended in the middle; the next one goes on. */
  interrupted: 'INTERRUPTED',
  /** A channel takes no more messages for now; asked again when it does. */
  channelBusy: 'CHANNEL_BUSY',
  /** An effect may or may not have happened; asked again after its deadline. */
  effectUnsettled: 'EFFECT_UNSETTLED',
} as const;

export type FailureType = (typeof FAILURE_TYPES)[keyof typeof FAILURE_TYPES];

/** What the customer hears when a turn can't be finished; the sentences lie in the phrase files under these names. */
export type ApologyReason = 'assistant_unavailable' | 'could_not_start';
