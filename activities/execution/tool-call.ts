// The call itself: what a provider is given, and how long it may take.
import { Context } from '@temporalio/activity';
import { ToolCallError, type ToolCall } from '../tools/provider.js';
import type { Tenant } from '../tenants.js';
import type { Claimed } from './claim-step.js';
import { managedValues } from './managed-values.js';

/**
 * A tool that hasn't answered by its deadline has failed, whatever it does afterwards: its fence is gone. With no time left it
 * isn't called at all.
 */
export async function callInTime<Result>(
  callBy: Date,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const leftMs = callBy.getTime() - Date.now();
  if (leftMs <= 0) throw new ToolCallError('clean', { isTimeout: true });
  const deadline = new AbortController();
  const signal = AbortSignal.any([Context.current().cancellationSignal, deadline.signal]);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      deadline.abort();
      reject(new ToolCallError('unclear', { isTimeout: true }));
    }, leftMs);
  });
  try {
    return await Promise.race([call(signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

export function toCall(tenant: Tenant, { step, turn, tool, callBy }: Claimed, signal: AbortSignal): ToolCall {
  return {
    tenantId: tenant.tenantId,
    contactId: turn.contactId,
    chatId: turn.chatId,
    turnId: turn.turnId,
    stepId: step.stepId,
    configuration: tenant.configuration,
    arguments: { ...step.arguments, ...managedValues(tool, tenant, turn) },
    idempotencyKey: step.idempotencyKey,
    callBy,
    signal,
  };
}
