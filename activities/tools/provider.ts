// The port behind which tools act. A provider knows its own system and nothing of chats, approvals or models.
import type { TenantConfiguration } from '../../config/configuration.js';
import type { JsonObject } from '../../workflows/domain/tool.js';

/** One call of an operation. Who asks is given by id; what they are called is nobody's business here. */
export interface ToolCall {
  tenantId: string;
  contactId: string;
  /** Where it was asked for, by id: only what acts inside this product needs it. */
  chatId: string;
  turnId: string;
  stepId: string;
  configuration: TenantConfiguration;
  /** Checked against the tool's input schema, managed fields filled. */
  arguments: JsonObject;
  /** The same step always carries the same key: what has happened under it must not happen again. */
  idempotencyKey: string;
  /** After this instant the call must not take effect any more. */
  callBy: Date;
  signal: AbortSignal;
}

export interface ToolOperation {
  /** Does it. A domain answer ("that time is taken") is a result; `ToolCallError` says what went wrong. */
  call(call: ToolCall): Promise<JsonObject>;
  /**
   * Whether a call under this key took effect, asked after its deadline: its result, or `false` for certainly not.
   * Absent: nobody can tell, and a person has to settle it.
   */
  didItHappen?(call: ToolCall): Promise<JsonObject | false>;
  /**
   * Words to somebody else than the customer that the call has planned and nobody has sent, by outbox id, in their order.
   * Absent: there never are any.
   */
  wordsOf?(call: Pick<ToolCall, 'tenantId' | 'stepId'>): Promise<string[]>;
}

export interface ToolProvider {
  /** Whether what comes back was written by outsiders: it taints every turn that reads it (spec G9). */
  resultsAreUntrusted: boolean;
  operations: Record<string, ToolOperation>;
}

export type ProviderRegistry = Record<string, ToolProvider>;

/**
 * `clean`: certainly nothing happened (refused before anything was sent, or a 4xx). `unclear`: it may have happened
 * (no answer, a cut connection, a 5xx). The difference decides what may follow an effect.
 */
export class ToolCallError extends Error {
  constructor(
    readonly outcome: 'clean' | 'unclear',
    options: { isTimeout?: boolean; cause?: unknown } = {},
  ) {
    super(
      `the provider failed, ${outcome === 'clean' ? 'and nothing happened' : 'and it may have happened'}`,
      {
        cause: options.cause,
      },
    );
    this.name = 'ToolCallError';
    this.isTimeout = options.isTimeout ?? false;
  }

  readonly isTimeout: boolean;
}
