// What foreign errors said. They carry values, so they are kept encrypted here and go no further.
import { randomUUID } from 'node:crypto';
import type { Scope } from './scope.js';

export interface KeptFailure {
  activity: string;
  workflowId?: string | undefined;
  /** A failure type or an error code of ours. */
  type: string;
  /** Class and code of the foreign error. */
  code: string;
  error: unknown;
}

export async function keepFailure(scope: Scope, failure: KeptFailure): Promise<void> {
  const id = randomUUID();
  const key = await scope.content.tenantKey(scope.tx, scope.tenantId);
  const place = { table: 'failures', column: 'detail_cipher', rowId: id };
  await scope.tx.failure.create({
    data: {
      id,
      tenantId: scope.tenantId,
      activity: failure.activity,
      workflowId: failure.workflowId ?? null,
      type: failure.type,
      code: failure.code,
      detailCipher: scope.content.sealText(key, { ...place, text: inFull(failure.error) }),
      keyId: key.id,
    },
  });
}

/** With its causes: the outermost of them is often our own wording. */
function inFull(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by: ${inFull(error.cause)}`;
}
