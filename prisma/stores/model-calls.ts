// Every call of a model, counted: the cap, the cost and the audit read these rows.
import { randomUUID } from 'node:crypto';
import { appendAudit } from '../functions.js';
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

export async function recordModelCall(scope: Scope, call: ModelCall): Promise<void> {
  const id = randomUUID();
  await scope.tx.modelCall.create({ data: { id, tenantId: scope.tenantId, ...call } });
  const { purpose, model, outcome, inputTokens, outputTokens, latencyMs } = call;
  await appendAudit(scope.tx, {
    stream: call.chatId,
    event: 'model_called',
    subjectId: call.turnId,
    actor: 'assistant',
    facts: { purpose, model, outcome, inputTokens, outputTokens, latencyMs },
  });
}

/** Calls made for this chat since then, whatever came of them: a failed call costs too. */
export async function countModelCalls(
  scope: Scope,
  { chatId, since }: { chatId: string; since: Date },
): Promise<number> {
  return scope.tx.modelCall.count({ where: { chatId, calledAt: { gte: since } } });
}
