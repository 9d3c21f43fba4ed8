// Runs on a real Temporal server and worker, whose activities answer what a test tells them to.
import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { bundledOnce, installQuietRuntime } from '../../bench/desk.js';
import type { Activities, ToolRunActivities } from '../../workflows/activity-ports.js';
import { TASK_QUEUE, toolRunWorkflowId } from '../../workflows/domain/ids.js';
import { TOOL_RUN_WORKFLOW } from '../../workflows/tool-run/contract.js';
import { freshNamespace } from '../support/temporal.js';

export interface RunKit {
  start(): Promise<WorkflowHandle>;
  stop(): Promise<void>;
}

/** What a run asks for before it executes: no candidates, these steps, each allowed. */
export function planOf(steps: readonly string[]): Pick<ToolRunActivities, 'detect' | 'plan' | 'validate'> {
  return {
    detect: async () => ({ candidates: [] }),
    plan: async () => ({
      kind: 'steps',
      proposed: steps.map((stepId) => ({ stepId, tool: 'ask', argumentsHash: 'hash' })),
    }),
    validate: async ({ stepId }) => ({
      kind: 'accepted',
      stepId,
      tool: 'ask',
      effect: 'reversible',
      rule: 'rule',
      requestKey: 'key',
      tainted: false,
    }),
  };
}

export async function startRunKit(activities: Partial<Activities>): Promise<RunKit> {
  installQuietRuntime();
  const { address, namespace } = await freshNamespace();
  const [connection, native] = await Promise.all([
    Connection.connect({ address }),
    NativeConnection.connect({ address }),
  ]);
  const client = new Client({ connection, namespace });
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue: TASK_QUEUE,
    activities,
    workflowBundle: await bundledOnce(),
  });
  const running = worker.run();
  return {
    start() {
      const turnId = randomUUID();
      return client.workflow.start(TOOL_RUN_WORKFLOW, {
        taskQueue: TASK_QUEUE,
        workflowId: toolRunWorkflowId({ turnId }),
        args: [{ tenantId: randomUUID(), chatId: randomUUID(), turnId }],
      });
    },
    async stop() {
      worker.shutdown();
      await running;
      await Promise.all([connection.close(), native.close()]);
    },
  };
}
