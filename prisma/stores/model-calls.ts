// Every call of a model, counted: the cap, the cost and the audit read these rows.
import { randomUUID } from 'node:crypto';
import { auditCall } from '../functions.js';
import type { Scope } from './scope.js';

export interface ModelCall {
  chatId: string;
  turnId: string;
  purpose: 'answer' | 'plan' | 'summarize';
  model: string;
  /** `ok`, or the type of the failure. */
  outcome: string;
  inputTokens: number;
  outputTokens: number;
  latencyMs: number;
}

/** The row and its line in the audit, in one statement. */
export async function recordModelCall(scope: Scope, call: ModelCall): Promise<void> {
  const { chatId, turnId, purpose, model, outcome, inputTokens, outputTokens, latencyMs } = call;
  const line = auditCall({
    stream: chatId,
    event: 'model_called',
    subjectId: turnId,
    actor: 'assistant',
    facts: { purpose, model, outcome, inputTokens, outputTokens, latencyMs },
  });
  await scope.tx.$queryRaw`
    with call as (
      insert into model_calls (id, tenant_id, chat_id, turn_id, purpose, model, outcome, input_tokens, output_tokens, latency_ms)
      values (${randomUUID()}::uuid, ${scope.tenantId}::uuid, ${chatId}::uuid, ${turnId}::uuid, ${purpose}, ${model}, ${outcome},
        ${inputTokens}::int, ${outputTokens}::int, ${latencyMs}::int))
    select ${line} as number`;
}

/** Calls made for this chat since then, whatever came of them: a failed call costs too. */
export async function countModelCalls(
  scope: Scope,
  { chatId, since }: { chatId: string; since: Date },
): Promise<number> {
  return scope.tx.modelCall.count({ where: { chatId, calledAt: { gte: since } } });
}
