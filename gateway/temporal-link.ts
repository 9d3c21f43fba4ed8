import { toolRunWorkflowId } from '../workflows/domain/ids.js';

/** Where the history of a run can be read in the Temporal UI; undefined where no UI is known. */
export function temporalLink(
  ui: { url: string; namespace: string } | undefined,
  runId: string,
): string | undefined {
  if (!ui) return undefined;
  const workflow = encodeURIComponent(toolRunWorkflowId({ turnId: runId }));
  return `${ui.url.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(ui.namespace)}/workflows/${workflow}`;
}
